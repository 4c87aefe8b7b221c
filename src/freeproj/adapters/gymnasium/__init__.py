"""Gymnasium: our tasks in its interface, the projection around its environments.

Importing this registers every task as `freeproj/NAME-v0` (levels as in
`freeproj/HigherLowerHard-v0`) and the meta-environment as `freeproj/MetaEnv-v0`. The
tasks need JAX and are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from freeproj.adapters.gymnasium.actions import MapAction
from freeproj.adapters.gymnasium.observation import (
    ProjectObservation,
    ProjectVectorObservation,
)
from freeproj.adapters.gymnasium.trials import TrialsWrapper
from freeproj.adapters.gymnasium_ids import register_all

__all__ = [
    "MapAction",
    "MetaTaskEnv",
    "MetaTaskVectorEnv",
    "ProjectObservation",
    "ProjectVectorObservation",
    "TaskEnv",
    "TaskVectorEnv",
    "TrialsWrapper",
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
