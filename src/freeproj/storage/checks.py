"""Checks of arguments, for every folder: `at_least(1, n_trials=n_trials)`."""

from collections.abc import Iterable
from typing import Any

from freeproj.storage.names import suggestion

__all__ = ["at_least", "one_of", "within"]


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


def within(interval: str, **given: Any) -> None:
    """Refuse an argument outside an interval such as "[0, 1)" or "(0, ∞)", or nan."""
    low, high = map(float, interval[1:-1].replace("∞", "inf").split(","))
    for name, value in given.items():
        above = value > low or (value == low and interval[0] == "[")
        below = value < high or (value == high and interval[-1] == "]")
        if not (above and below):
            raise ValueError(f"`{name}` must lie in {interval}, got {value!r}.")
