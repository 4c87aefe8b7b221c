"""Gymnasium: our tasks in its interface, the projection around its environments.

The wrappers compute in NumPy and the tasks in JAX, which nothing here starts before a
task is made. Importing this registers the ids, as `import freeproj.gymnasium` does:

    freeproj/HigherLower-v0, freeproj/HigherLowerHard-v0    every task, and its levels
    freeproj/popgym-HigherLowerHard-v0                      exactly POPGym's task
    freeproj/MetaEnv-v0                                     the meta-environment
"""

from gymnasium.envs.registration import register, registry

from freeproj.adapters.gymnasium.actions import ActionsByUse, MapAction
from freeproj.adapters.gymnasium.observation import (
    FrameObservation,
    FrameVectorObservation,
    ProjectObservation,
    ProjectVectorObservation,
)
from freeproj.adapters.gymnasium.tasks import MetaTaskEnv, TaskEnv
from freeproj.adapters.gymnasium.trials import TrialsWrapper
from freeproj.adapters.gymnasium.vector_tasks import MetaTaskVectorEnv, TaskVectorEnv
from freeproj.envs import REGISTRY

__all__ = ["ActionsByUse", "FrameObservation", "FrameVectorObservation", "MapAction"]
__all__ += ["MetaTaskEnv", "MetaTaskVectorEnv", "ProjectObservation"]
__all__ += ["ProjectVectorObservation", "TaskEnv", "TaskVectorEnv", "TrialsWrapper"]
__all__ += ["register_all", "task_ids"]


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
            entry_point=f"{__name__}.tasks:{kind}Env",
            vector_entry_point=f"{__name__}.vector_tasks:{kind}VectorEnv",
            kwargs=settings,
            # The environments check order and actions themselves; see the tests.
            order_enforce=False,
            disable_env_checker=True,
        )


register_all()
