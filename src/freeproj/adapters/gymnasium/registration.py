"""The ids under which Gymnasium finds our tasks.

The names are written out, so that registering them does not load JAX; a test holds them
against the registry of tasks.
"""

from __future__ import annotations

import gymnasium as gym

__all__ = ["ENV_IDS", "register_all"]

_FAMILIES = (
    "HigherLower",
    "Minesweeper",
    "NoisyStatelessCartPole",
    "NoisyStatelessPendulum",
    "RepeatFirst",
    "RepeatPrevious",
    "StatelessCartPole",
    "StatelessPendulum",
)
_LEVELS = ("", "Easy", "Medium", "Hard")
_TASKS = tuple(family + level for family in _FAMILIES for level in _LEVELS)
_HOME = "freeproj.adapters.gymnasium"

ENV_IDS = (*(f"freeproj/{task}-v0" for task in _TASKS), "freeproj/MetaEnv-v0")


def register_all() -> None:
    """Registers every id, single and vectorized; ids that are there already stay."""
    for task in _TASKS:
        _register(f"freeproj/{task}-v0", "Task", {"task": task})
    _register("freeproj/MetaEnv-v0", "MetaTask", {})


def _register(env_id: str, kind: str, settings: dict) -> None:
    if env_id in gym.registry:
        return
    gym.register(
        id=env_id,
        entry_point=f"{_HOME}.tasks:{kind}Env",
        vector_entry_point=f"{_HOME}.vector_tasks:{kind}VectorEnv",
        kwargs=settings,
    )
