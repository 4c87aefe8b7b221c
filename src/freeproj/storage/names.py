"""Names in settings: a known name, or `module:attribute` for your own object.

A `Registry` holds the things of one kind (tasks, memories, families, maps, figures,
claims) by name. Every name in a setting goes through `resolve`, so that a user's own
object works in TOML, on the command line, in workers and in reports without any change
in the package. For a misspelt name the error suggests the nearest known one.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

__all__ = [
    "Registry",
    "as_name",
    "import_name",
    "import_own",
    "is_import_name",
    "name_of",
    "printable",
    "suggestion",
]

_T = TypeVar("_T")


class Registry(Generic[_T]):
    """Things of one kind by name, in the order in which they were added."""

    def __init__(self, kind: str):
        self.kind = kind
        self._things: dict[str, _T] = {}

    def add(self, name: str, thing: _T) -> _T:
        """Add a thing under a new name, which may become part of a path."""
        if not name or name.startswith(".") or set(name) & set("/\\:\0\n"):
            raise ValueError(
                f"The {self.kind} {name!r} needs a name without /, \\ and : that does "
                "not begin with a dot."
            )
        if name in self._things:
            raise ValueError(
                f"There is already a {self.kind} {name!r}; choose another name."
            )
        self._things[name] = thing
        return thing

    def resolve(self, name: str) -> _T:
        """Return the thing of a known name or of `module:attribute`."""
        if name in self._things:
            return self._things[name]
        if is_import_name(name):
            return import_name(name, self.kind)
        raise ValueError(
            f"No {self.kind} {name!r}.{suggestion(name, self._things)} Known: "
            f"{', '.join(self._things)}; or your own as module:attribute."
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def __len__(self) -> int:
        return len(self._things)


def is_import_name(name: str) -> bool:
    """Whether a name has the form `module:attribute`."""
    module, colon, attribute = name.partition(":")
    parts = (*module.split("."), *attribute.split("."))
    return bool(colon) and all(part.isidentifier() for part in parts)


def import_name(name: str, kind: str = "object") -> Any:
    """Import `module:attribute`; modules of the working directory are found too."""
    module, _, attribute = name.partition(":")
    thing: Any = import_own(module, f"{kind} {name!r}")
    for part in attribute.split("."):
        if not hasattr(thing, part):
            near = suggestion(part, (each for each in dir(thing) if each[0] != "_"))
            raise ValueError(f"The {kind} {name!r}: {module} has no {part!r}.{near}")
        thing = getattr(thing, part)
    return thing


def import_own(module: str, what: str = "module") -> Any:
    """Import a module; those of the working directory are found too."""
    # Unlike `python -m`, an installed command does not search the working directory.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ValueError(
            f"The {what} cannot be imported: {error}. Run from the folder of "
            f"{module.split('.')[0]}.py, or install it."
        ) from error


def name_of(thing: Any) -> str:
    """Return the `module:attribute` under which a class or function can be imported."""
    name = f"{thing.__module__}:{thing.__qualname__}"
    if not is_import_name(name) or thing.__module__ == "__main__":
        raise ValueError(
            f"{thing!r} has no name that another process could import; move it to the "
            "top level of a module."
        )
    return name


def as_name(thing: Any) -> str:
    """Return a name as it is, and the `module:attribute` of anything else."""
    return thing if isinstance(thing, str) else name_of(thing)


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean `x`?" for the nearest known name, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean `{near[0]}`?" if near else ""


def printable(text: str, keep: str = "") -> str:
    r"""Escape what a terminal would act on instead of showing, such as `\x1b`."""
    return "".join(
        each.encode("unicode_escape").decode()
        if unicodedata.category(each) in _UNSEEN and each not in keep
        else each
        for each in text
    )


# Control and format characters (also those that turn the direction of a text), lone
# surrogates, separators of lines and paragraphs.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
