"""One step of a task in plain Python, for loops that step one environment.

A compiled program pays off for batches; called for one small step it spends most of its
time on the call itself. So a task may have its rules a second time, as a method

    observation, state, reward, terminated, truncated = plain_step(state, action, luck)

on the same states, with NumPy arrays and Python numbers as leaves. `luck` is what
`draw_luck` draws for the step, as Python numbers. While the trial runs, results equal
those of `step`, floats up to rounding; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float32

from freeproj.envs.base import Environment

__all__ = [
    "Numbers",
    "PlainStep",
    "PlainTask",
    "answer",
    "marked",
    "one_hot",
    "plain_task",
]

# observation, state, reward, terminated, truncated
PlainStep = tuple[Any, ...]


class Numbers:
    """A task's attributes, each read once: those of an Equinox module are slow."""

    def __init__(self, env: Environment):
        self._env = env

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked for by copy and pickle, before there is a task
            raise AttributeError(name)
        value = getattr(self._env, name)
        setattr(self, name, value)
        return value


class PlainTask(NamedTuple):
    """A task's rules in plain Python, `step(numbers, state, action, luck)`."""

    step: Callable[[Any, Any, Any, Any], PlainStep]
    numbers: Numbers


def plain_task(env: Environment) -> PlainTask | None:
    """Return the plain rules of a task whose own class has them, or None.

    Rules are not inherited, since a subclass may have changed the compiled ones.
    """
    if "plain_step" not in vars(type(env)):
        return None
    step: Any = type(env)
    return PlainTask(step.plain_step, Numbers(env))


def one_hot(size: int, *places: Any) -> Float32[np.ndarray, " size"]:
    """Return a row with ones at some places."""
    row = np.zeros(size, np.float32)
    for place in places:
        row[place] = 1.0
    return row


def answer(right: Any, scale: int) -> float:
    """Return the reward of an answer, 1/scale or -1/scale."""
    return 1 / scale if right else -1 / scale


def marked(cells: np.ndarray, place: Any) -> np.ndarray:
    """Return a copy of a board with one cell marked."""
    cells = cells.copy()
    cells[place] = True
    return cells
