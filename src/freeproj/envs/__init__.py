"""The tasks, by name: `make("HigherLower")`, and `REGISTRY` of all families."""

from __future__ import annotations

from freeproj.envs.base import Box, Discrete, Environment, Step
from freeproj.envs.cartpole import NoisyStatelessCartPole, StatelessCartPole
from freeproj.envs.higher_lower import HigherLower
from freeproj.envs.minesweeper import Minesweeper
from freeproj.envs.pendulum import NoisyStatelessPendulum, StatelessPendulum
from freeproj.envs.registry import REGISTRY, Family, make, register
from freeproj.envs.repeat_first import RepeatFirst
from freeproj.envs.repeat_previous import RepeatPrevious

__all__ = [
    "REGISTRY",
    "Box",
    "Discrete",
    "Environment",
    "Family",
    "HigherLower",
    "Minesweeper",
    "NoisyStatelessCartPole",
    "NoisyStatelessPendulum",
    "RepeatFirst",
    "RepeatPrevious",
    "StatelessCartPole",
    "StatelessPendulum",
    "Step",
    "make",
    "register",
]

# class, POPGym's name, what a player does
_TASKS = (
    (StatelessCartPole, "PositionOnlyCartPole", "balance a pole; velocities unseen"),
    (HigherLower, "HigherLower", "guess whether the next card is higher or lower"),
    (Minesweeper, "MineSweeper", "click all safe cells; only the last count is seen"),
    (RepeatFirst, "RepeatFirst", "answer with the first card's suit"),
    (RepeatPrevious, "RepeatPrevious", "answer with the suit seen k steps before"),
    (StatelessPendulum, "PositionOnlyPendulum", "swing up and hold; speed unseen"),
    (
        NoisyStatelessCartPole,
        "NoisyPositionOnlyCartPole",
        "balance a pole; positions seen with noise",
    ),
    (
        NoisyStatelessPendulum,
        "NoisyPositionOnlyPendulum",
        "swing up and hold; position seen with noise",
    ),
)

for _task, _popgym_name, _summary in _TASKS:
    register(
        _task.__name__,
        _task,
        _task.levels,
        summary=_summary,
        popgym_name=_popgym_name,
    )
