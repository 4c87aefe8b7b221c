"""Tasks by name.

A name is a family with an optional level, `HigherLower` or `HigherLowerHard`; without
one the first level is meant, for the tasks of this package Easy, the paper's. POPGym's
ids, `popgym-HigherLowerHard-v0`, are understood too, and mean exactly POPGym's task:
that differs for RepeatPrevious, whose delay is the paper's under the plain name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from freeproj.envs.base import Environment
from freeproj.names import suggestion

__all__ = ["REGISTRY", "Family", "find", "make", "register"]


@dataclass(frozen=True)
class Family:
    """A task and its levels: each level is a set of arguments for `factory`."""

    name: str
    factory: Callable[..., Environment]
    levels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    summary: str = ""
    popgym_name: str | None = None
    popgym_factory: Callable[..., Environment] | None = None

    def make(self, level: str = "") -> Environment:
        """Returns the task at a level, by default the first one."""
        if not level:
            level = next(iter(self.levels), "")
        return self.factory(**self.levels.get(level, {}))

    def make_popgym(self, level: str = "") -> Environment:
        """Return POPGym's own version of the task, where the two differ."""
        if self.popgym_factory is None:
            return self.make(level)
        levels = self.popgym_factory.levels
        return self.popgym_factory(**levels[level or next(iter(levels))])

    def names(self) -> dict[str, str]:
        """Returns all names of the family, each with the level that it means."""
        names = {self.name + level: level for level in ("", *self.levels)}
        if self.popgym_name:
            ids = ("", *self.levels)
            names |= {f"popgym-{self.popgym_name}{level}-v0": level for level in ids}
        return names


REGISTRY: dict[str, Family] = {}


def register(
    name: str,
    factory: Callable[..., Environment],
    levels: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    summary: str = "",
    popgym_name: str | None = None,
    popgym_factory: Callable[..., Environment] | None = None,
) -> Family:
    """Adds a family of tasks under a new name; the first level is the default."""
    family = Family(
        name, factory, dict(levels or {}), summary, popgym_name, popgym_factory
    )
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
    """Returns the task of a name: a family, a family with a level, a POPGym id."""
    family, level = find(name)
    return (family.make_popgym if name.startswith("popgym-") else family.make)(level)


def find(name: str) -> tuple[Family, str]:
    """Returns the family and the level that a name means."""
    for family in REGISTRY.values():
        names = family.names()
        if name in names:
            return family, names[name] or next(iter(family.levels), "")
    every = (known for family in REGISTRY.values() for known in family.names())
    raise ValueError(
        f"No environment {name!r}.{suggestion(name, every)} Known: "
        f"{', '.join(sorted(REGISTRY))}; each may be followed by its level, as in "
        "HigherLowerHard (Easy, Medium or Hard)."
    )
