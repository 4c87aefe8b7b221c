"""The ids under which Gymnasium finds our tasks: one for each name of the registry.

Every task is `freeproj/NAME-v0`, with levels as in `freeproj/HigherLowerHard-v0`.
POPGym's own ids behind `freeproj/`, as in `freeproj/popgym-HigherLowerHard-v0`, mean
exactly POPGym's tasks. The meta-environment is `freeproj/MetaEnv-v0`.
"""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

from freeproj.envs import REGISTRY

__all__ = ["register_all", "task_ids"]

_HOME = "freeproj.adapters.gymnasium"


def task_ids() -> dict[str, str]:
    """Return the id of every task, with the name that `freeproj.envs.make` takes."""
    names = [name for family in REGISTRY.values() for name in family.names()]
    return {f"freeproj/{name.removesuffix('-v0')}-v0": name for name in names}


def register_all() -> None:
    """Register every id, single and vectorized, unless it is registered already.

    Call it again after `freeproj.register`, to add the ids of your own tasks.
    """
    kinds = {env_id: ("Task", {"task": task}) for env_id, task in task_ids().items()}
    kinds["freeproj/MetaEnv-v0"] = "MetaTask", {}
    for env_id, (kind, settings) in kinds.items():
        if env_id in registry:
            continue
        register(
            id=env_id,
            entry_point=f"{_HOME}.tasks:{kind}Env",
            vector_entry_point=f"{_HOME}.vector_tasks:{kind}VectorEnv",
            kwargs=settings,
            # The environments check order and actions themselves; see the tests.
            order_enforce=False,
            disable_env_checker=True,
        )
