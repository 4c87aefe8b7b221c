"""Names in settings: a known name, or `module:attribute` for your own object.

A `Registry` holds the things of one kind (tasks, memories, families, maps, figures,
claims) by name. Every name in a setting goes through `resolve`, so that a user's own
object works in TOML, on the command line, in workers and in reports.

To import a module is to run it. So a name is imported only by what must have the thing
itself, never while reading (`without_imports`); the command line says what is imported,
from which file and named by what (`announcing`, `named_by`); and modules of Python, or
of the libraries that this package stands on, are refused.
"""

import contextlib
import difflib
import importlib
import importlib.machinery
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import ModuleType
from typing import Any, TypeVar

__all__ = ["Registry", "announcing", "as_name", "import_name", "import_own"]
__all__ += ["is_import_name", "is_own_name", "name_of", "named_by", "printable"]
__all__ += ["suggestion", "unknown_name", "without_imports"]

_T = TypeVar("_T")
# Control and format characters (also those that turn the direction of a text), lone
# surrogates, separators of lines and paragraphs.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_LIBRARIES = ("click", "equinox", "jax", "jaxlib", "jaxtyping", "jinja2", "matplotlib")
_LIBRARIES += ("numpy", "optax", "PIL", "pip", "ray", "rich", "safetensors")
_LIBRARIES += ("scipy", "setuptools", "tensorboardX", "threadpoolctl", "torch", "wandb")
# What names the modules to import; None: nothing may be imported.
_SOURCE: ContextVar[str | None] = ContextVar("source", default="")
_TELL: ContextVar[Callable[[str], None] | None] = ContextVar("tell", default=None)
_told: set[str] = set()  # each module is announced once


class Registry(dict[str, _T]):
    """Things of one kind by name, in the order in which they were added."""

    def __init__(self, kind: str):
        super().__init__()
        self.kind = kind

    def add(self, name: str, thing: _T) -> _T:
        """Add a thing under a new name, which may become part of a path."""
        if not name or name.startswith(".") or set(name) & set("/\\:\0\n"):
            rule = "needs a name without /, \\ and : that does not begin with a dot"
            raise ValueError(f"The {self.kind} {name!r} {rule}.")
        if name in self:
            raise ValueError(f"There is already a {self.kind} {name!r}.")
        self[name] = thing
        return thing

    def resolve(self, name: str) -> _T:
        """Return the thing of a known name or of `module:attribute`."""
        if name in self:
            return self[name]
        if is_import_name(name):
            return import_name(name, self.kind)
        raise unknown_name(self.kind, name, self)


def is_import_name(name: str) -> bool:
    """Whether a name has the form `module:attribute`."""
    module, colon, attribute = name.partition(":")
    parts = (*module.split("."), *attribute.split("."))
    return bool(colon) and all(part.isidentifier() for part in parts)


def is_own_name(name: str) -> bool:
    """Whether a name, without numbers in brackets, is `module:attribute` of a user."""
    plain = name.partition("(")[0]
    return is_import_name(plain) and _top(plain) != "freeproj"


def named_by(source: object) -> AbstractContextManager[None]:
    """Say what names the modules that are imported in this block: a file, a run."""
    forbidden = _SOURCE.get() is None  # and stays so
    return _set(_SOURCE, None if forbidden else str(source))


def without_imports() -> AbstractContextManager[None]:
    """Refuse to import modules of a user in this block: it only reads."""
    return _set(_SOURCE, None)


def announcing(tell: Callable[[str], None]) -> AbstractContextManager[None]:
    """Call `tell` with a line for every module of a user before it is imported."""
    return _set(_TELL, tell)


@contextlib.contextmanager
def _set(variable: ContextVar, value: Any) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def import_name(name: str, kind: str = "object") -> Any:
    """Import `module:attribute`; modules of the working directory are found too."""
    module, _, attribute = name.partition(":")
    _refuse_libraries(name, kind, module)
    if _SOURCE.get() is None and is_own_name(name):
        raise ValueError(f"The {kind} {name!r} is not imported while reading.")
    _find_working_directory()
    _announce(name, module)
    thing: Any = import_own(module, f"{kind} {name!r}")
    for part in attribute.split("."):
        if isinstance(thing, ModuleType):
            _refuse_libraries(name, kind, thing.__name__)
        if not hasattr(thing, part):
            near = suggestion(part, (each for each in dir(thing) if each[0] != "_"))
            raise ValueError(f"The {kind} {name!r}: {module} has no {part!r}.{near}")
        thing = getattr(thing, part)
    return thing


def import_own(module: str, what: str = "module") -> Any:
    """Import a module; those of the working directory are found too."""
    _find_working_directory()
    try:
        return importlib.import_module(module)
    except ImportError as error:
        text = f"The {what} cannot be imported: {error}. Run from the folder of"
        raise ValueError(f"{text} {_top(module)}.py, or install it.") from error


def _find_working_directory() -> None:
    # Unlike `python -m`, an installed command does not search the working directory.
    # It comes last: a module there cannot stand in for one that is installed.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())


def _refuse_libraries(name: str, kind: str, module: str) -> None:
    top = _top(module)
    if top in sys.stdlib_module_names or top in _LIBRARIES:
        owner = "Python" if top in sys.stdlib_module_names else "a library"
        why = f"{top} is a module of {owner}, not a {kind} of yours"
        raise ValueError(f"The {kind} {name!r} cannot be made: {why}.")


def _announce(name: str, module: str) -> None:
    """Tell once what is imported, from which file, and what names it."""
    tell, top = _TELL.get(), _top(module)
    if tell is None or top in (*_told, "freeproj"):
        return
    _told.add(top)
    spec = importlib.machinery.PathFinder.find_spec(top)  # looks, and imports nothing
    if spec is not None:
        place = spec.origin or ", ".join(spec.submodule_search_locations or ())
        source = _SOURCE.get() or "the command line"
        tell(f"Importing {name} from {place}, named by {source}.")


def _top(module: str) -> str:
    return module.partition(":")[0].partition(".")[0]


def name_of(thing: Any) -> str:
    """Return the `module:attribute` under which a class or function can be imported."""
    name = f"{thing.__module__}:{thing.__qualname__}"
    if not is_import_name(name) or thing.__module__ == "__main__":
        way_out = "move it to the top level of a module"
        raise ValueError(f"Another process could not import {thing!r}: {way_out}.")
    return name


def as_name(thing: Any) -> str:
    """Return a name as it is, and the `module:attribute` of anything else."""
    return thing if isinstance(thing, str) else name_of(thing)


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean `x`?" for the nearest known name, or nothing.

    Of dotted names the last parts count most: `discount` is near `ppo.discount`.
    """

    def likeness(other: str) -> float:
        pairs = (name.rpartition(".")[2], other.rpartition(".")[2]), (name, other)
        last, whole = (difflib.SequenceMatcher(None, *pair).ratio() for pair in pairs)
        return 0.8 * last + 0.2 * whole

    best = max(known, key=likeness, default="")
    return f" Did you mean `{best}`?" if likeness(best) > 0.6 else ""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> ValueError:
    """Return the error of a name that neither is known nor can be imported."""
    choices = f"Known: {', '.join(known)}; or your own as module:attribute."
    return ValueError(f"No {kind} {name!r}.{suggestion(name, known)} {choices}")


def printable(text: str, keep: str = "") -> str:
    r"""Escape what a terminal would act on instead of showing, such as `\x1b`."""
    unseen = {x for x in text if unicodedata.category(x) in _UNSEEN} - {*keep}
    escaped = {ord(x): x.encode("unicode_escape").decode() for x in unseen}
    return text.translate(escaped)
