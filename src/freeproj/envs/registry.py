"""Tasks by name.

A name is a family with an optional level, `HigherLower` or `HigherLowerHard`. Without a
level the first one is meant: for the tasks of this package Easy, the paper's. POPGym's
ids, `popgym-HigherLowerHard-v0`, are understood too, and mean exactly POPGym's task.
The two differ for RepeatPrevious, whose delay is the paper's under the plain name. Any
other numbers stand in brackets, `RepeatPrevious(delay=2)`; those left out are the first
level's. Your own task is `module:attribute`: a class, a function that makes one, or an
instance; `gymnax/CartPole-v1` is an environment of gymnax, where that is installed.
"""

import ast
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx

from freeproj.envs.base import Environment
from freeproj.storage.names import import_name, is_import_name, name_of, suggestion

__all__ = ["REGISTRY", "Family", "find", "make", "register", "task_name"]


@dataclass(frozen=True)
class Family:
    """A task and its levels: each level is a set of arguments for `factory`.

    If that is a class of a task, it says of itself all the rest: see `Environment`.
    """

    name: str
    factory: Callable[..., Environment]
    levels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The task in one line."""
        return getattr(self.factory, "summary", "")

    @property
    def popgym_name(self) -> str | None:
        """What POPGym calls the family, if this is the class's own, and no other."""
        made: Any = self.factory
        own = isinstance(made, type) and made.__name__ == self.name
        return vars(made).get("popgym_name") if own else None

    def make(self, level: str = "", **numbers: Any) -> Environment:
        """Return the task at a level, by default the first, with its numbers or own."""
        if not level:
            level = next(iter(self.levels), "")
        return self.factory(**{**self.levels.get(level, {}), **numbers})

    def make_popgym(self, level: str = "") -> Environment:
        """Return POPGym's own version of the task, where the two differ."""
        own = getattr(self.factory, "popgym_version", None)
        if own is None:
            return self.make(level)
        return own(**own.levels[level or next(iter(own.levels))])

    def names(self) -> dict[str, str]:
        """Return all names of the family, each with the level that it means."""
        levels, popgym = ("", *self.levels), self.popgym_name
        names = {self.name + level: level for level in levels}
        ids = {f"popgym-{popgym}{level}-v0": level for level in levels}
        return names | ids if popgym else names


REGISTRY: dict[str, Family] = {}


def register(
    name: str,
    factory: Callable[..., Environment],
    levels: Mapping[str, Mapping[str, Any]] | None = None,
) -> Family:
    """Add a family of tasks under a new name; the first level is the default."""
    family = Family(name, factory, dict(levels or {}))
    taken = {known for each in REGISTRY.values() for known in each.names()}
    clash = taken & set(family.names())
    if clash:
        raise ValueError(
            f"`name` must be new, but {', '.join(sorted(clash))} is taken; choose "
            "another, or remove the old family from `REGISTRY` first."
        )
    REGISTRY[name] = family
    return family


def make(name: str) -> Environment:
    """Return the task of a name: a family, one with a level, or `module:attribute`."""
    plain, numbers = _numbers(name)
    family, level = find(plain)
    popgym = name.startswith("popgym-")
    try:
        task = (family.make_popgym if popgym else family.make)(level, **numbers)
    except TypeError as error:
        raise ValueError(f"The task {name!r} cannot be made: {error}") from error
    if not isinstance(task, Environment):
        raise ValueError(f"{name!r} is not a task: it gives {task!r}.")
    return task


def find(name: str) -> tuple[Family, str]:
    """Return the family and the level that a name means."""
    known = {each: family for family in REGISTRY.values() for each in family.names()}
    if name in known:
        family = known[name]
        return family, family.names()[name] or next(iter(family.levels), "")
    if is_import_name(name):
        return Family(name, _factory(import_name(name, "task"), name)), ""
    if name.startswith("gymnax/"):
        return Family(name, functools.partial(_gymnax, name[len("gymnax/") :])), ""
    raise ValueError(
        f"No task {name!r}.{suggestion(name, known)} Known: "
        f"{', '.join(sorted(REGISTRY))}; each may be followed by its level, as in "
        "HigherLowerHard (Easy, Medium or Hard); or your own as module:attribute."
    )


@functools.cache  # so that two tasks of one name are equal
def _gymnax(name: str, **numbers: Any) -> Environment:
    """Return an environment of gymnax as a task."""
    try:
        return import_name("freeproj.adapters.gymnax:GymnaxTask")(name, **numbers)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"The task gymnax/{name} needs gymnax: pip install 'freeproj[gymnax]'."
        ) from error


def task_name(task: Any) -> str:
    """Return the name from which `make` makes a task, given as such or by its maker."""
    if isinstance(task, str):
        return task
    if not isinstance(task, Environment):
        _factory(task, repr(task))
        known = {family.factory: family.name for family in REGISTRY.values()}
        return known.get(task) or name_of(task)
    for name in (task.name, f"{type(task).__module__}:{type(task).__qualname__}"):
        try:
            same = eqx.tree_equal(make(name), task)
        except (ValueError, TypeError):  # unknown, or it must be given arguments
            continue
        if same is True:
            return name
    raise ValueError(
        f"{task!r} differs from what its class makes without arguments, so a name "
        "cannot stand for it; write a function that returns it, and pass that."
    )


def _numbers(name: str) -> tuple[str, dict[str, int | float]]:
    """Split `Name(key=1, other=2.5)` into the name and its numbers."""
    plain, bracket, inside = name.partition("(")
    if not bracket:
        return name, {}
    pattern = r"\s*(\w+)\s*=\s*(-?[\d.]+(?:e-?\d+)?)\s*"
    parts = inside.removesuffix(")").split(",")
    pairs = [re.fullmatch(pattern, part) for part in parts]
    if not name.endswith(")") or not all(pairs):
        raise ValueError(
            f"No task {name!r}: numbers in brackets are written as in "
            "RepeatPrevious(delay=2)."
        )
    return plain, {pair[1]: ast.literal_eval(pair[2]) for pair in pairs if pair}


def _factory(thing: Any, name: str) -> Callable[..., Environment]:
    if isinstance(thing, Environment):
        return lambda: thing
    # A class must be one of a task before it is called.
    other_class = isinstance(thing, type) and not issubclass(thing, Environment)
    if not callable(thing) or other_class:
        raise ValueError(f"{name} is not a task, nor a class or function of one.")
    made: Any = thing
    return made
