"""Gymnasium: our tasks in its interface, the projection around its environments.

The wrappers compute in NumPy. The tasks run in JAX and are loaded on first use, or by
their ids. Importing this registers the ids, as `import freeproj.gymnasium` does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from freeproj.adapters.gymnasium.actions import ActionsByUse, MapAction
from freeproj.adapters.gymnasium.ids import register_all, task_ids
from freeproj.adapters.gymnasium.observation import (
    FrameObservation,
    FrameVectorObservation,
    ProjectObservation,
    ProjectVectorObservation,
)
from freeproj.adapters.gymnasium.trials import TrialsWrapper

__all__ = [
    "ActionsByUse",
    "FrameObservation",
    "FrameVectorObservation",
    "MapAction",
    "MetaTaskEnv",
    "MetaTaskVectorEnv",
    "ProjectObservation",
    "ProjectVectorObservation",
    "TaskEnv",
    "TaskVectorEnv",
    "TrialsWrapper",
    "register_all",
    "task_ids",
]

# Modules that need JAX, and the names that they hold.
_HOMES = {
    "tasks": ("MetaTaskEnv", "TaskEnv"),
    "vector_tasks": ("MetaTaskVectorEnv", "TaskVectorEnv"),
}

if TYPE_CHECKING:
    from freeproj.adapters.gymnasium.tasks import MetaTaskEnv, TaskEnv
    from freeproj.adapters.gymnasium.vector_tasks import (
        MetaTaskVectorEnv,
        TaskVectorEnv,
    )

register_all()


def __getattr__(name: str):
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
