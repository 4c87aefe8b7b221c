"""Free random projections for in-context reinforcement learning.

A word of a free group becomes a random orthogonal matrix (`words`, `matrices`). The
matrix projects observations (`projection`), and the projection makes a task a
meta-environment (`metaenv`).
Names are imported on first use, so that `import freeproj` stays light.
"""

import importlib
from typing import TYPE_CHECKING

__version__ = "0.3.0"

__all__ = ["EvaluationConfig", "FreeProjection", "MetaEnv", "NetworkConfig"]
__all__ += ["PPOConfig", "Study", "TrainConfig", "__version__", "action_maps"]
__all__ += ["certify", "envs", "evaluate", "geometry", "load_agent", "lsmdp"]
__all__ += ["matrices", "metaenv", "projection", "read_config", "read_dataset"]
__all__ += ["register", "spectra", "stats", "train", "words"]

# Where a name that is not itself a module lives.
_HOMES = {
    "EvaluationConfig": "learning.config",
    "FreeProjection": "projection.projection",
    "MetaEnv": "meta.episodes",
    "NetworkConfig": "learning.config",
    "PPOConfig": "learning.config",
    "Study": "report.notebook",
    "TrainConfig": "learning.config",
    "certify": "adapters.certify",
    "evaluate": "learning.evaluate",
    "load_agent": "experiments.agents",
    "read_config": "experiments.settings",
    "read_dataset": "experiments.dataset",
    "register": "envs.registry",
    "train": "report.training",
}

# Where a module lives whose name is not its place.
_MODULES = {
    "action_maps": "projection.actions",
    "geometry": "projection.cayley",
    "matrices": "projection.matrices",
    "metaenv": "meta.episodes",
    "words": "projection.words",
}

if TYPE_CHECKING:
    from freeproj import envs, lsmdp, projection, spectra, stats
    from freeproj.adapters.certify import certify
    from freeproj.envs.registry import register
    from freeproj.experiments.agents import load_agent
    from freeproj.experiments.dataset import read_dataset
    from freeproj.experiments.settings import read_config
    from freeproj.learning.config import (
        EvaluationConfig,
        NetworkConfig,
        PPOConfig,
        TrainConfig,
    )
    from freeproj.learning.evaluate import evaluate
    from freeproj.meta import episodes as metaenv
    from freeproj.meta.episodes import MetaEnv
    from freeproj.projection import actions as action_maps
    from freeproj.projection import cayley as geometry
    from freeproj.projection import matrices, words
    from freeproj.projection.projection import FreeProjection
    from freeproj.report.notebook import Study
    from freeproj.report.training import train


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(f"freeproj.{_HOMES[name]}"), name)
    if name in __all__:
        return importlib.import_module(f"freeproj.{_MODULES.get(name, name)}")
    raise AttributeError(f"module 'freeproj' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
