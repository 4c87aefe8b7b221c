"""Many copies of one task, stepped together: where an agent is certified.

A task of this package is stepped by one compiled function, and needs no Gymnasium.
Anything else is a Gymnasium environment, stepped copy by copy. In both

    observations = arena.begin(starts, noises, where)

starts a trial in the copies where it is asked to, from seeds of the initial states and
of what is random later (where the two can be told apart), and

    observations, rewards, ended = arena.step(actions, where)

steps the copies that are being played. Both return what every copy shows.
"""

import copy
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from freeproj.envs import Box, Discrete, Environment, make
from freeproj.envs.registry import find
from freeproj.meta.episodes import choose

__all__ = ["Arena", "GymArena", "TaskArena", "open_arena", "space_of"]

_chosen = jax.jit(choose)
_MOST_STEPS = 5_000  # of a trial whose environment sets no limit

_Seeds = Int[np.ndarray, " copies"]
_Mask = Bool[np.ndarray, " copies"]
_Shown = Float[np.ndarray, "copies d_obs"]


class TaskArena:
    """Copies of a task of this package, in one compiled step."""

    def __init__(self, task: Environment, n_copies: int):
        self.name, self.n_copies = task.name, n_copies
        self.obs_dim = task.observation_space.size
        self.action_space = task.action_space
        self._params = task.default_params
        self._reset = jax.jit(jax.vmap(task.reset, in_axes=(0, None)))
        self._step = jax.jit(jax.vmap(task.step, in_axes=(0, 0, 0, None)))
        self._state: Any = None
        self._shown = np.zeros((n_copies, self.obs_dim), np.float32)
        self._noises = self._times = np.zeros(n_copies, np.uint32)

    def begin(self, starts: _Seeds, noises: _Seeds, where: _Mask) -> _Shown:
        keys = _keys(np.uint32(starts), np.zeros(self.n_copies, np.uint32))
        shown, state = self._reset(keys, self._params)
        old = state if self._state is None else self._state
        self._state = _chosen(where, state, old)
        self._shown = np.where(where[:, None], shown, self._shown)
        self._noises = np.where(where, np.uint32(noises), self._noises)
        self._times = np.where(where, 0, self._times)
        return self._shown

    def step(self, actions: np.ndarray, where: _Mask) -> tuple[_Shown, Any, _Mask]:
        # All move; the copies that are not played have ended, and stay as they are.
        self._times = self._times + np.uint32(1)
        keys = _keys(self._noises, self._times)
        found = self._step(keys, self._state, jnp.asarray(actions), self._params)
        shown, self._state, rewards, terminated, truncated, _ = found
        self._shown = np.asarray(shown, np.float32)
        ended = np.asarray(terminated) | np.asarray(truncated)
        return self._shown, np.where(where, rewards, 0.0), ended & where


@jax.jit
@jax.vmap
def _keys(seed, number):
    return jax.random.fold_in(jax.random.key(seed), number)


class GymArena:
    """Copies of a Gymnasium environment whose observations flatten to a vector."""

    def __init__(self, maker: Callable[[], Any], n_copies: int):
        from freeproj.adapters.flatten import flat_space, flatten_one

        self.n_copies = n_copies
        self._envs = [maker() for _ in range(n_copies)]
        first = self._envs[0]
        spec = getattr(first, "spec", None)
        self.name = spec.id if spec is not None else type(first.unwrapped).__name__
        self._most = getattr(spec, "max_episode_steps", None) or _MOST_STEPS
        space = first.observation_space
        self._flatten = functools.partial(flatten_one, space)
        self.obs_dim = flat_space(space).shape[0]
        self.action_space = space_of(first.action_space)
        self._times = np.zeros(n_copies, int)
        self._shown = np.zeros((n_copies, self.obs_dim), np.float32)

    def begin(self, starts: _Seeds, noises: _Seeds, where: _Mask) -> _Shown:
        # A seed decides the start and all that follows.
        self._shown = self._shown.copy()
        for index in np.flatnonzero(where):
            first, _ = self._envs[index].reset(seed=int(starts[index]))
            self._shown[index], self._times[index] = self._flatten(first), 0
        return self._shown

    def step(self, actions: np.ndarray, where: _Mask) -> tuple[_Shown, Any, _Mask]:
        self._shown, self._times = self._shown.copy(), self._times + where
        rewards, ended = np.zeros(self.n_copies), where & (self._times >= self._most)
        for index in np.flatnonzero(where):
            env = self._envs[index]
            own = self._own(env.action_space, actions[index])
            observation, rewards[index], over, late, _ = env.step(own)
            self._shown[index] = self._flatten(observation)
            ended[index] |= over or late
        return self._shown, rewards, ended

    def _own(self, space: Any, action: Any) -> Any:
        """Return an action as the environment takes it."""
        if isinstance(self.action_space, Discrete):
            return int(action) + int(space.start)
        return np.asarray(action, space.dtype).reshape(space.shape)


Arena = TaskArena | GymArena


def open_arena(env: Any, n_copies: int) -> Arena:
    """Open copies of a task; an environment is copied only if it has an id."""
    if isinstance(env, str) and _is_task(env):
        env = make(env)
    if isinstance(env, Environment):
        return TaskArena(env, n_copies)
    import gymnasium as gym

    if isinstance(env, str):
        import freeproj.gymnasium  # noqa: F401  registers our ids

        try:
            spec = gym.spec(env)
        except gym.error.Error as error:
            raise ValueError(f"No task or environment {env!r}: {error}") from error
    else:
        spec = copy.deepcopy(getattr(env, "spec", None))
    if spec is not None:
        return GymArena(lambda: gym.make(spec, disable_env_checker=True), n_copies)
    if isinstance(env, gym.Env):
        return GymArena(lambda: env, 1)
    if callable(env):
        return GymArena(env, n_copies)
    raise TypeError(
        "`env` must be a task, its name, a Gymnasium id, an environment, or a function "
        f"that makes one, got {type(env).__name__}."
    )


def _is_task(name: str) -> bool:
    try:
        find(name.partition("(")[0])
    except ValueError:
        return False
    return True


def space_of(space: Any) -> Box | Discrete:
    """Return Gymnasium's action space as ours; vectors for boxes of any shape."""
    import gymnasium as gym

    if isinstance(space, gym.spaces.Discrete):
        return Discrete(int(space.n))
    if isinstance(space, gym.spaces.Box):
        low, high = (tuple(side.ravel().tolist()) for side in (space.low, space.high))
        return Box(low, high)
    raise ValueError(f"Actions must be Discrete or a Box, got {space}.")
