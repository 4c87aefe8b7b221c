"""The tasks, by name: `make("HigherLower")`, and `REGISTRY` of all families.

A task is one file of this folder and one line of the list below. Its class is a name of
this package, `freeproj.envs.HigherLower`.
"""

import importlib
from typing import TYPE_CHECKING, Any

from freeproj.envs.base import Environment, Step
from freeproj.envs.registry import REGISTRY, Family, make, register, task_name
from freeproj.projection.spaces import Box, Discrete

__all__ = ["REGISTRY", "Box", "Discrete", "Environment", "Family", "Step", "make"]
__all__ += ["register", "task_name"]

# Module and class, in the order in which they are listed; the paper's five tasks first.
_TASKS = (
    "cartpole:StatelessCartPole",
    "higher_lower:HigherLower",
    "minesweeper:Minesweeper",
    "repeat_first:RepeatFirst",
    "repeat_previous:RepeatPrevious",
    "pendulum:StatelessPendulum",
    "cartpole:NoisyStatelessCartPole",
    "pendulum:NoisyStatelessPendulum",
    "cartpole:VelocityOnlyCartPole",
    "autoencode:Autoencode",
    "count_recall:CountRecall",
    "concentration:Concentration",
    "battleship:Battleship",
    "bandit:MultiarmedBandit",
    "labyrinth:LabyrinthEscape",
    "labyrinth:LabyrinthExplore",
    "flash_cards:FlashCards",
)

for _task in _TASKS:
    _module, _name = _task.split(":")
    _class = getattr(importlib.import_module(f"{__name__}.{_module}"), _name)
    globals()[register(_name, _class, _class.levels).name] = _class

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # the classes of the tasks
