"""The ids under which Gymnasium finds our tasks.

Every task is `freeproj/NAME-v0`, with levels as in `freeproj/HigherLowerHard-v0`.
POPGym's own ids behind `freeproj/`, as in `freeproj/popgym-HigherLowerHard-v0`, mean
exactly POPGym's tasks. The meta-environment is `freeproj/MetaEnv-v0`.

`register_all` runs while Gymnasium is being imported (see `freeproj_gymnasium.py`
beside this package). So this module must not import JAX, nor any of Gymnasium but its
registry, which is loaded by then. For that reason the names are listed here once more;
a test compares them with the registry of tasks.
"""

from __future__ import annotations

__all__ = ["ENV_IDS", "register_all"]

# Our name and POPGym's.
_FAMILIES = {
    "Autoencode": "Autoencode",
    "Battleship": "Battleship",
    "Concentration": "Concentration",
    "CountRecall": "CountRecall",
    "HigherLower": "HigherLower",
    "LabyrinthEscape": "LabyrinthEscape",
    "LabyrinthExplore": "LabyrinthExplore",
    "Minesweeper": "MineSweeper",
    "MultiarmedBandit": "MultiarmedBandit",
    "NoisyStatelessCartPole": "NoisyPositionOnlyCartPole",
    "NoisyStatelessPendulum": "NoisyPositionOnlyPendulum",
    "RepeatFirst": "RepeatFirst",
    "RepeatPrevious": "RepeatPrevious",
    "StatelessCartPole": "PositionOnlyCartPole",
    "StatelessPendulum": "PositionOnlyPendulum",
    "VelocityOnlyCartPole": "VelocityOnlyCartpole",
}
_LEVELS = ("Easy", "Medium", "Hard")
_HOME = "freeproj.adapters.gymnasium"

# Each id with the name that `freeproj.envs.make` understands.
_TASKS = {
    f"freeproj/{family}{level}-v0": family + level
    for family in _FAMILIES
    for level in ("", *_LEVELS)
} | {
    f"freeproj/popgym-{name}{level}-v0": f"popgym-{name}{level}-v0"
    for name in _FAMILIES.values()
    for level in _LEVELS
}

ENV_IDS = (*_TASKS, "freeproj/MetaEnv-v0")


def register_all() -> None:
    """Register every id, single and vectorized, unless it is registered already."""
    for env_id, task in _TASKS.items():
        _register(env_id, "Task", {"task": task})
    _register("freeproj/MetaEnv-v0", "MetaTask", {})


def _register(env_id: str, kind: str, settings: dict) -> None:
    from gymnasium.envs.registration import register, registry

    if env_id in registry:
        return
    register(
        id=env_id,
        entry_point=f"{_HOME}.tasks:{kind}Env",
        vector_entry_point=f"{_HOME}.vector_tasks:{kind}VectorEnv",
        kwargs=settings,
        # The environments check order and actions themselves; see the tests.
        order_enforce=False,
        disable_env_checker=True,
    )
