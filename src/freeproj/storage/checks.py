"""Checks of arguments, for every folder: `at_least(1, n_trials=n_trials)`."""

from collections.abc import Iterable
from typing import Any

from freeproj.storage.names import suggestion

__all__ = ["at_least", "one_of"]


def at_least(least: float | int, **given: Any) -> None:
    """Refuse an argument that is below a bound, or nan."""
    for name, value in given.items():
        if not value >= least:
            raise ValueError(f"`{name}` must be at least {least}, got {value}.")


def one_of(choices: Iterable[Any], **given: Any) -> None:
    """Refuse an argument that is none of the choices."""
    known = list(choices)
    for name, value in given.items():
        if value not in known:
            names = [str(each) for each in known]
            rule, near = f"one of {', '.join(names)}", suggestion(str(value), names)
            raise ValueError(f"`{name}` must be {rule}, got {value!r}.{near}")
