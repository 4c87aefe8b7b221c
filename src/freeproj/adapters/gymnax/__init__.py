"""gymnax: our tasks for its callers, its environments as tasks, the meta-environment.

    env, params = make("HigherLowerEasy")            # for loops written for gymnax
    env = GymnaxMetaEnv(meta, jax.random.key(0))      # our meta-environment for gymnax
    task = GymnaxTask("CartPole-v1")                  # or gymnax.make(...); a task here

In settings a gymnax environment is the task "gymnax/CartPole-v1". Only `GymnaxTask`
needs gymnax, and loads it on first use. Both generations are understood: steps of six
values (1.0) and of five (0.0.x, where one flag means terminated or out of time).
"""

from typing import TYPE_CHECKING, Any

from freeproj.adapters.gymnax.own import GymnaxEnv, GymnaxMetaEnv, GymnaxParams, make

__all__ = ["GymnaxEnv", "GymnaxMetaEnv", "GymnaxParams", "GymnaxTask", "make"]

if TYPE_CHECKING:
    from freeproj.adapters.gymnax.theirs import GymnaxTask


def __getattr__(name: str) -> Any:
    if name == "GymnaxTask":
        from freeproj.adapters.gymnax.theirs import GymnaxTask

        return GymnaxTask
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
