"""gymnax: our tasks for its callers, its environments as tasks, the meta-environment.

    env, params = make("HigherLowerEasy")            # for loops written for gymnax
    task = GymnaxTask("CartPole-v1")  # or gymnax.make(...); a task here
    env = GymnaxMetaEnv(meta, jax.random.key(0))      # our meta-environment for gymnax

In settings a gymnax environment is the task "gymnax/CartPole-v1".
`make` needs no gymnax; the other two do, and load it on first use. Both generations are
understood: steps of six values (1.0) and of five (0.0.x, where one flag means
terminated or out of time).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from freeproj.adapters.gymnax.own import GymnaxEnv, GymnaxParams, make

__all__ = ["GymnaxEnv", "GymnaxMetaEnv", "GymnaxParams", "GymnaxTask", "make"]

if TYPE_CHECKING:
    from freeproj.adapters.gymnax.theirs import GymnaxMetaEnv, GymnaxTask


def __getattr__(name: str):
    if name in ("GymnaxMetaEnv", "GymnaxTask"):
        return getattr(importlib.import_module(f"{__name__}.theirs"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
