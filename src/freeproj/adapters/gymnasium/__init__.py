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

# Names that need JAX, and where they live.
_HOMES = {
    "MetaTaskEnv": "tasks",
    "MetaTaskVectorEnv": "vector_tasks",
    "TaskEnv": "tasks",
    "TaskVectorEnv": "vector_tasks",
}

if TYPE_CHECKING:
    from freeproj.adapters.gymnasium.tasks import MetaTaskEnv, TaskEnv
    from freeproj.adapters.gymnasium.vector_tasks import (
        MetaTaskVectorEnv,
        TaskVectorEnv,
    )

register_all()


def __getattr__(name: str):
    if name in _HOMES:
        home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
        return getattr(home, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
