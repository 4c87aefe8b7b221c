"""Our tasks and meta-environment in gymnax's interface, with or without gymnax.

    env, params = make("HigherLowerEasy")
    obs, state = env.reset(key, params)
    obs, state, reward, *ends, info = env.step(key, state, action, params)

As in gymnax, a step that ends a trial returns the first observation of the next one.
"""

import functools
import importlib.metadata
import importlib.util
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Bool, PRNGKeyArray, PyTree

from freeproj.envs import REGISTRY, Box, Discrete, Environment
from freeproj.envs import make as make_task
from freeproj.meta.episodes import MetaEnv
from freeproj.meta.inputs import MetaParams
from freeproj.storage.checks import one_of

__all__ = ["GymnaxEnv", "GymnaxMetaEnv", "GymnaxParams", "make"]


class GymnaxParams(NamedTuple):
    """The params of gymnax's callers: the longest trial, and the task's numbers."""

    max_steps_in_episode: int
    task: PyTree


class GymnaxEnv:
    """A task with the methods of a gymnax environment.

    Steps have six values in the `generation` "1.0" and five in "0.0": one flag, and
    `info["discount"]`.
    """

    task: Any

    def __init__(self, task: Environment, generation: str = "1.0"):
        one_of(("1.0", "0.0"), generation=generation)
        self.task, self.generation = task, generation

    @property
    def name(self) -> str:
        """The task's name."""
        return self.task.name

    @property
    def default_params(self) -> Any:
        """The task's own numbers."""
        return GymnaxParams(self.task.max_steps, self.task.default_params)

    @property
    def num_actions(self) -> int:
        """The number of actions, or of entries of one."""
        space = self.task.action_space
        return space.n if isinstance(space, Discrete) else space.size

    @functools.partial(jax.jit, static_argnums=0)
    def reset(self, key: PRNGKeyArray, params: Any = None) -> tuple[Array, PyTree]:
        """Begin a trial."""
        return self.reset_env(key, params or self.default_params)

    @functools.partial(jax.jit, static_argnums=0)
    def step(
        self, key: PRNGKeyArray, state: PyTree, action: ArrayLike, params: Any = None
    ) -> tuple[Any, ...]:
        """Step, and begin the next trial where this one ends."""
        params = params or self.default_params
        key_step, key_reset = jax.random.split(key)
        moved = self._move(key_step, state, action, params)
        seen, after, reward, terminated, truncated, info = moved
        done = terminated | truncated
        begin, go_on = lambda: self.reset_env(key_reset, params), lambda: (seen, after)
        obs, state = jax.lax.cond(done, begin, go_on)
        if self.generation == "0.0":
            return obs, state, reward, done, info | {"discount": 1.0 - terminated}
        ends = {"terminated": terminated, "truncated": truncated}
        info = info | ends | {"final_observation": seen}
        return obs, state, reward, terminated, truncated, info

    def reset_env(self, key: PRNGKeyArray, params: Any) -> tuple[Array, PyTree]:
        """Begin a trial; not compiled."""
        return self.task.reset(key, params.task)

    def step_env(
        self, key: PRNGKeyArray, state: PyTree, action: ArrayLike, params: Any
    ) -> tuple[Array, PyTree, Array, Bool[Array, ""], dict[str, Any]]:
        """Step within a trial; its one flag is `terminated`, or any end in "0.0"."""
        moved = self._move(key, state, action, params)
        obs, state, reward, terminated, truncated, info = moved
        done = terminated | truncated if self.generation == "0.0" else terminated
        return obs, state, reward, done, info

    def action_space(self, params: Any = None) -> Any:
        """The actions, in gymnax's classes where gymnax is installed."""
        return _gymnax_space(self.task.action_space)

    def observation_space(self, params: Any = None) -> Any:
        """The observations, in gymnax's classes where gymnax is installed."""
        return _gymnax_space(self.task.observation_space)

    def _move(
        self, key: PRNGKeyArray, state: PyTree, action: ArrayLike, params: Any
    ) -> tuple[Any, ...]:
        space = self.task.action_space
        if isinstance(space, Box):  # gymnax's callers may pass a number
            action = jnp.reshape(jnp.asarray(action), (space.size,))
        return self.task.step(key, state, action, params.task)


class GymnaxMetaEnv(GymnaxEnv):
    """A `MetaEnv` as a gymnax environment, for its trainers and wrappers.

    The base matrices are the environment's params: `default_params` has those drawn
    from `key`, `env.meta.redraw` draws new ones to pass to `reset` and `step`.
    """

    def __init__(self, meta: MetaEnv, key: PRNGKeyArray, generation: str | None = None):
        self.task = self.meta = meta
        self.generation = generation or _installed()
        self._params = meta.draw_params(key)

    @property
    def default_params(self) -> MetaParams:
        return self._params

    @property
    def name(self) -> str:
        return f"MetaEnv({', '.join(task.name for task in self.meta.tasks)})"

    def reset_env(self, key: PRNGKeyArray, params: Any) -> tuple[Array, PyTree]:
        return self.meta.reset(key, params)

    def observation_space(self, params: Any = None) -> Any:
        """What the agent sees, laid out as in `MetaEnv.layout`."""
        size = self.meta.input_size
        return _gymnax_space(Box((-math.inf,) * size, (math.inf,) * size))

    def _move(
        self, key: PRNGKeyArray, state: PyTree, action: ArrayLike, params: Any
    ) -> tuple[Any, ...]:
        *moved, info = self.meta.advance(key, state, jnp.asarray(action), params)
        # gymnax uses this name for the agent's own last input.
        kept = {name: info[name] for name in info if name != "final_observation"}
        return *moved, kept


def make(name: str, generation: str | None = None) -> tuple[GymnaxEnv, GymnaxParams]:
    """Return a task and its numbers, as `gymnax.make` does.

    Args:
        name: any name of `freeproj.envs.make`, in any capitals (popjym writes
            MineSweeperEasy where we write MinesweeperEasy).
        generation: "1.0" or "0.0" (see `GymnaxEnv`); by default that of the installed
            gymnax, or "1.0".
    """
    names = (known for family in REGISTRY.values() for known in family.names())
    known = {each.lower(): each for each in names}.get(name.lower(), name)
    env = GymnaxEnv(make_task(known), generation or _installed())
    return env, env.default_params


def _installed() -> str:
    try:
        version = importlib.metadata.version("gymnax")
    except importlib.metadata.PackageNotFoundError:
        return "1.0"
    return "0.0" if version.startswith("0.") else "1.0"


def _gymnax_space(space: Box | Discrete) -> Any:
    if not importlib.util.find_spec("gymnax"):
        return space  # ours has the same names
    from gymnax.environments import spaces

    if isinstance(space, Discrete):
        return spaces.Discrete(space.n)
    low, high = (jnp.array(side, jnp.float32) for side in (space.low, space.high))
    return spaces.Box(low, high, (space.size,))
