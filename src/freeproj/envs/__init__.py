"""The tasks, by name: `make("HigherLower")`, and `REGISTRY` of all families."""

from __future__ import annotations

from freeproj.envs.autoencode import Autoencode
from freeproj.envs.bandit import MultiarmedBandit
from freeproj.envs.base import Environment, Step
from freeproj.envs.battleship import Battleship
from freeproj.envs.cartpole import (
    NoisyStatelessCartPole,
    StatelessCartPole,
    VelocityOnlyCartPole,
)
from freeproj.envs.concentration import Concentration
from freeproj.envs.count_recall import CountRecall
from freeproj.envs.higher_lower import HigherLower
from freeproj.envs.labyrinth import LabyrinthEscape, LabyrinthExplore
from freeproj.envs.minesweeper import Minesweeper
from freeproj.envs.pendulum import NoisyStatelessPendulum, StatelessPendulum
from freeproj.envs.registry import REGISTRY, Family, make, register, task_name
from freeproj.envs.repeat_first import RepeatFirst
from freeproj.envs.repeat_previous import PopgymRepeatPrevious, RepeatPrevious
from freeproj.projection.spaces import Box, Discrete

__all__ = [
    "REGISTRY",
    "Autoencode",
    "Battleship",
    "Box",
    "Concentration",
    "CountRecall",
    "Discrete",
    "Environment",
    "Family",
    "HigherLower",
    "LabyrinthEscape",
    "LabyrinthExplore",
    "Minesweeper",
    "MultiarmedBandit",
    "NoisyStatelessCartPole",
    "NoisyStatelessPendulum",
    "PopgymRepeatPrevious",
    "RepeatFirst",
    "RepeatPrevious",
    "StatelessCartPole",
    "StatelessPendulum",
    "Step",
    "VelocityOnlyCartPole",
    "make",
    "register",
    "task_name",
]

# class, POPGym's name, what a player does; the paper's five tasks first
_TASKS = (
    (StatelessCartPole, "PositionOnlyCartPole", "balance a pole; velocities unseen"),
    (HigherLower, "HigherLower", "guess whether the next card is higher or lower"),
    (Minesweeper, "MineSweeper", "click all safe cells; only the last count is seen"),
    (RepeatFirst, "RepeatFirst", "answer with the first card's suit"),
    (RepeatPrevious, "RepeatPrevious", "answer with the suit seen k steps earlier"),
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
    (VelocityOnlyCartPole, "VelocityOnlyCartpole", "balance a pole; positions unseen"),
    (Autoencode, "Autoencode", "watch all cards, then name their suits backwards"),
    (CountRecall, "CountRecall", "say how many cards of a kind have been dealt"),
    (Concentration, "Concentration", "flip two cards at a time to find pairs"),
    (Battleship, "Battleship", "sink hidden ships; a shot reveals only hit or miss"),
    (MultiarmedBandit, "MultiarmedBandit", "find the arm that pays best"),
    (LabyrinthEscape, "LabyrinthEscape", "find the way out of a maze"),
    (LabyrinthExplore, "LabyrinthExplore", "visit every free cell of a maze"),
)

for _task, _popgym_name, _summary in _TASKS:
    register(
        _task.__name__,
        _task,
        _task.levels,
        summary=_summary,
        popgym_name=_popgym_name,
        # If the paper's task and POPGym's differ, a POPGym id means POPGym's task.
        popgym_factory=PopgymRepeatPrevious if _task is RepeatPrevious else None,
    )
