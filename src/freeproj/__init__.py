"""Free random projections for in-context reinforcement learning.

A word of a free group becomes a random orthogonal matrix (`words`, `matrices`). The
matrix projects observations (`projection`), and the projection makes a task a
meta-environment (`metaenv`).
Names are imported on first use, so that `import freeproj` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.2.0"

__all__ = [
    "EvaluationConfig",
    "FreeProjection",
    "MetaEnv",
    "NetworkConfig",
    "PPOConfig",
    "Study",
    "TrainConfig",
    "__version__",
    "action_maps",
    "envs",
    "evaluate",
    "geometry",
    "load_agent",
    "lsmdp",
    "matrices",
    "metaenv",
    "projection",
    "read_config",
    "read_dataset",
    "register",
    "spectra",
    "stats",
    "train",
    "words",
]

# Where a name that is not itself a module lives.
_HOMES = {
    "EvaluationConfig": "config",
    "FreeProjection": "projection",
    "MetaEnv": "metaenv",
    "NetworkConfig": "config",
    "PPOConfig": "config",
    "Study": "notebook",
    "TrainConfig": "config",
    "evaluate": "evaluation",
    "load_agent": "experiments.agents",
    "read_config": "experiments.settings",
    "read_dataset": "experiments.dataset",
    "register": "envs.registry",
    "train": "training",
}

if TYPE_CHECKING:
    from freeproj import (
        action_maps,
        envs,
        geometry,
        lsmdp,
        matrices,
        metaenv,
        projection,
        spectra,
        stats,
        words,
    )
    from freeproj.config import EvaluationConfig, NetworkConfig, PPOConfig, TrainConfig
    from freeproj.envs.registry import register
    from freeproj.evaluation import evaluate
    from freeproj.experiments.agents import load_agent
    from freeproj.experiments.dataset import read_dataset
    from freeproj.experiments.settings import read_config
    from freeproj.metaenv import MetaEnv
    from freeproj.notebook import Study
    from freeproj.projection import FreeProjection
    from freeproj.training import train


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(f"freeproj.{_HOMES[name]}"), name)
    if name in __all__:
        return importlib.import_module(f"freeproj.{name}")
    raise AttributeError(f"module 'freeproj' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
