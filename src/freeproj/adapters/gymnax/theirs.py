"""gymnax environments as tasks."""

# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import gymnax
import gymnax.environments.spaces as gymnax_spaces
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, PRNGKeyArray, PyTree

from freeproj.envs import Box, Discrete, Environment, Step
from freeproj.envs.base import derived
from freeproj.storage.names import suggestion

__all__ = ["GymnaxTask"]

# gymnax writes "unbounded" as the largest float32.
_UNBOUNDED = float(np.finfo(np.float32).max)


class GymnaxTask(Environment):
    """A gymnax environment as a task, in settings `task = "gymnax/CartPole-v1"`.

    Observations are flattened to a vector, discrete ones one-hot, parts of a dict or
    tuple one after the other.

    Args:
        env: any gymnax environment or a gymnax wrapper around one; its name; or, as
            `gymnax.make` returns them, an environment and its params.
        max_steps: the longest trial; needed only if the environment does not say.
        scale: what to divide observations by to normalize them; needed only where the
            bounds are infinite.
    """

    env: Any = eqx.field(static=True)
    numbers: Any = eqx.field(static=True)
    label: str = eqx.field(static=True)
    trial_length: int = eqx.field(static=True)
    scale: tuple[float, ...] | None = eqx.field(static=True)
    # Read once here: inside `jit` gymnax's bounds are traced and cannot be read.
    observed: Any = eqx.field(static=True)
    acted: Any = eqx.field(static=True)
    observation_box: Box = eqx.field(static=True)

    def __init__(
        self,
        env: Any,
        max_steps: int | None = None,
        scale: Sequence[float | int] | None = None,
    ):
        self.label = ""
        if isinstance(env, str):
            if env not in gymnax.registered_envs:
                near = suggestion(env, gymnax.registered_envs)
                raise ValueError(f"gymnax has no environment {env!r}.{near}")
            self.label, env = f"gymnax/{env}", gymnax.make(env)
        env, params = env if isinstance(env, tuple) else (env, env.default_params)
        declared = getattr(params, "max_steps_in_episode", None)
        limit = declared if max_steps is None else max_steps
        if limit is None:
            raise ValueError(
                f"{env.name} does not say how long an episode may be "
                "(`max_steps_in_episode`); pass `max_steps`."
            )
        self.env, self.numbers = env, params
        self.trial_length = int(limit)
        if self.label and limit != declared:
            self.label += f"(max_steps={limit})"
        self.scale = None if scale is None else tuple(map(float, scale))
        self.observed = env.observation_space(params)
        self.acted = env.action_space(params)
        self.observation_box = _box(self.observed)

    name = derived(lambda self: self.label or f"gymnax/{self.env.name}")
    observation_space = derived(lambda self: self.observation_box)
    max_steps = derived(lambda self: self.trial_length)
    default_params = derived(lambda self: self.numbers)

    @property
    def observation_scale(self) -> tuple[float, ...]:
        if self.scale is not None:
            return self.scale
        if not self.observation_space.bounded:
            raise ValueError(
                f"{self.name} has infinite observation bounds, so normalizing needs "
                "`GymnaxTask(env, scale=...)`, one number per entry."
            )
        return super().observation_scale

    @property
    def action_space(self) -> Box | Discrete:
        if isinstance(self.acted, gymnax_spaces.Discrete):
            return Discrete(int(self.acted.n))
        if isinstance(self.acted, gymnax_spaces.Box):
            return _box(self.acted)
        raise ValueError(f"Actions must be Discrete or a Box, got {self.acted}.")

    def reset(
        self, key: PRNGKeyArray, params: PyTree
    ) -> tuple[Float[Array, " d_obs"], PyTree]:
        observation, state = self._own("reset")(key, params)
        return _flatten(self.observed, observation), jax.tree.map(jnp.array, state)

    def step(
        self, key: PRNGKeyArray, state: PyTree, action: ArrayLike, params: PyTree
    ) -> Step:
        if isinstance(self.acted, gymnax_spaces.Box):
            action = jnp.reshape(jnp.asarray(action), self.acted.shape)
        stepped = self._own("step")(key, state, action, params)
        observation, following, reward, *ends, info = stepped
        terminated, truncated = self._ends(ends, following, params)
        # A wrapper that restarts by itself keeps the last observation here.
        observation = info.get("final_observation", observation)
        reward = jnp.asarray(reward, jnp.float32).reshape(())
        flat = _flatten(self.observed, observation)
        return flat, _like(following, state), reward, terminated, truncated, {}

    def _own(self, name: str) -> Callable:
        """Return the method that does not restart by itself, where there is one."""
        # Of the class: a gymnax wrapper passes on the method of what it wraps.
        plain = f"{name}_env"
        return getattr(self.env, plain if hasattr(type(self.env), plain) else name)

    def _ends(
        self, ends: list, state: PyTree, params: PyTree
    ) -> tuple[Bool[Array, ""], Bool[Array, ""]]:
        if len(ends) == 1:
            limited = hasattr(type(self.env), "is_truncated")
            ends.append(self.env.is_truncated(state, params) if limited else False)
        terminated, truncated = (jnp.asarray(each, bool).reshape(()) for each in ends)
        return terminated, truncated


def _box(space: Any) -> Box:
    """Return the bounds of a flattened space; unbounded entries are infinite."""
    bounds = _bounds(space)
    unbounded = np.abs(bounds) >= _UNBOUNDED
    low, high = np.where(unbounded, np.copysign(np.inf, bounds), bounds)
    return Box(tuple(low.tolist()), tuple(high.tolist()))


def _bounds(space: Any) -> Float[np.ndarray, "2 d"]:
    """Return the lower and upper bounds of a flattened space."""
    if isinstance(space, gymnax_spaces.Discrete):
        return np.stack([np.zeros(space.n), np.ones(space.n)])
    if isinstance(space, gymnax_spaces.Box):
        sides = [np.asarray(side, np.float64) for side in (space.low, space.high)]
        return np.stack([np.broadcast_to(each, space.shape).ravel() for each in sides])
    return np.concatenate([_bounds(part) for _, part in _parts(space)], axis=1)


def _flatten(space: Any, value: PyTree) -> Float[Array, " d"]:
    if isinstance(space, gymnax_spaces.Discrete):
        return jax.nn.one_hot(value, space.n, dtype=jnp.float32)
    if isinstance(space, gymnax_spaces.Box):
        return jnp.asarray(value, jnp.float32).ravel()
    parts = [_flatten(part, _item(value, name)) for name, part in _parts(space)]
    return jnp.concatenate(parts)


def _parts(space: Any) -> list[tuple[Any, Any]]:
    if isinstance(space, gymnax_spaces.Dict):
        return list(space.spaces.items())
    if isinstance(space, gymnax_spaces.Tuple):
        return list(enumerate(space.spaces))
    raise ValueError(f"Observations must be Box, Discrete, Dict or Tuple, got {space}.")


def _item(value: Any, name: Any) -> Any:
    """Look up a part of an observation: a mapping, a sequence or a struct."""
    indexed = isinstance(value, Mapping | tuple | list)
    return value[name] if indexed else getattr(value, name)


def _like(state: PyTree, before: PyTree) -> PyTree:
    """Return the state with the types it had before: a loop must not change them."""
    return jax.tree.map(
        lambda new, old: jnp.asarray(new).astype(old.dtype), state, before
    )
