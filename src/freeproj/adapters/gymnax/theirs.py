"""gymnax environments as tasks, and our meta-environment as a gymnax environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import gymnax
import gymnax.environments.spaces as gymnax_spaces
import jax
import jax.numpy as jnp
import numpy as np
from gymnax.environments.environment import Environment as GymnaxEnvironment
from jaxtyping import Array, ArrayLike, Bool, Float, PRNGKeyArray, PyTree

from freeproj.envs import Box, Discrete, Environment, Step
from freeproj.meta.episodes import MetaEnv
from freeproj.meta.inputs import MetaParams, MetaState
from freeproj.storage.names import suggestion

__all__ = ["GymnaxMetaEnv", "GymnaxTask"]

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
        self.label = f"gymnax/{env}" if isinstance(env, str) else ""
        if isinstance(env, str):
            env = _named(env)
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

    @property
    def name(self) -> str:
        return self.label or f"gymnax/{self.env.name}"

    @property
    def observation_space(self) -> Box:
        return self.observation_box

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
        raise ValueError(
            f"{self.name} must have Discrete or Box actions to be a task, got "
            f"{self.acted}."
        )

    @property
    def max_steps(self) -> int:
        return self.trial_length

    @property
    def default_params(self) -> PyTree:
        return self.numbers

    def reset(
        self, key: PRNGKeyArray, params: PyTree
    ) -> tuple[Float[Array, " d_obs"], PyTree]:
        begin: Callable = self._own("reset_env", "reset")
        observation, state = begin(key, params)
        return _flatten(self.observed, observation), jax.tree.map(jnp.array, state)

    def step(
        self, key: PRNGKeyArray, state: PyTree, action: ArrayLike, params: PyTree
    ) -> Step:
        play: Callable = self._own("step_env", "step")
        if isinstance(self.acted, gymnax_spaces.Box):
            action = jnp.reshape(jnp.asarray(action), self.acted.shape)
        observation, following, reward, *ends, info = play(key, state, action, params)
        terminated, truncated = self._ends(ends, following, params)
        # A wrapper that restarts by itself keeps the last observation here.
        observation = info.get("final_observation", observation)
        reward = jnp.asarray(reward, jnp.float32).reshape(())
        flat = _flatten(self.observed, observation)
        return flat, _like(following, state), reward, terminated, truncated, {}

    def render(self, state: PyTree) -> str:
        return str(state)

    def _own(self, without_restart: str, with_restart: str) -> Callable:
        """Return the method that does not restart by itself, where there is one.

        A gymnax wrapper passes on its inner environment's method, which would bypass
        the wrapper; so only the class is searched.
        """
        if hasattr(type(self.env), without_restart):
            return getattr(self.env, without_restart)
        return getattr(self.env, with_restart)

    def _ends(
        self, ends: list, state: PyTree, params: PyTree
    ) -> tuple[Bool[Array, ""], Bool[Array, ""]]:
        terminated = jnp.asarray(ends[0], bool).reshape(())
        if len(ends) == 2:
            truncated = ends[1]
        elif hasattr(type(self.env), "is_truncated"):
            truncated = self.env.is_truncated(state, params)
        else:
            truncated = False
        return terminated, jnp.asarray(truncated, bool).reshape(())


class GymnaxMetaEnv(GymnaxEnvironment):
    """A `MetaEnv` as a gymnax environment, for its trainers and wrappers.

    The base matrices are the environment's params: `default_params` has those drawn
    from `key`, `env.meta.redraw` draws new ones to pass to `reset` and `step`.
    """

    def __init__(self, meta: MetaEnv, key: PRNGKeyArray):
        self.meta = meta
        self._params = meta.draw_params(key)

    @property
    def default_params(self) -> MetaParams:  # pyright: ignore
        return self._params

    @property
    def name(self) -> str:
        return f"MetaEnv({', '.join(task.name for task in self.meta.tasks)})"

    @property
    def num_actions(self) -> int:
        return self.meta.actions.size

    def reset_env(  # pyright: ignore
        self, key: PRNGKeyArray, params: MetaParams
    ) -> tuple[Float[Array, " inputs"], MetaState]:
        """Begin an episode."""
        return self.meta.reset(key, params)

    def step_env(  # pyright: ignore
        self, key: PRNGKeyArray, state: MetaState, action: ArrayLike, params: MetaParams
    ) -> tuple[Array, MetaState, Array, Array, dict[str, Any]]:
        """Step within an episode; gymnax's own `step` begins the next one."""
        stepped = self.meta.advance(key, state, jnp.asarray(action), params)
        inputs, state, reward, terminated, _, info = stepped
        # gymnax uses this name for the agent's own last input.
        kept = {name: info[name] for name in info if name != "final_observation"}
        return inputs, state, reward, terminated, kept

    def is_truncated(  # pyright: ignore
        self, state: MetaState, params: MetaParams
    ) -> Bool[Array, ""]:
        """Never: an episode ends when its trials do."""
        return jnp.zeros((), bool)

    def is_terminated(  # pyright: ignore
        self, state: MetaState, params: MetaParams
    ) -> Bool[Array, ""]:
        """Whether the last trial is over."""
        return state.trial >= self.meta.n_trials

    def action_space(
        self,
        params: MetaParams | None = None,  # pyright: ignore
    ) -> gymnax_spaces.Box | gymnax_spaces.Discrete:
        """The common actions."""
        space = self.meta.action_space
        if isinstance(space, Discrete):
            return gymnax_spaces.Discrete(space.n)
        low, high = jnp.array(space.low), jnp.array(space.high)
        return gymnax_spaces.Box(low, high, (space.size,))

    def observation_space(
        self,
        params: MetaParams | None = None,  # pyright: ignore
    ) -> gymnax_spaces.Box:
        """What the agent sees, laid out as in `MetaEnv.layout`."""
        return gymnax_spaces.Box(-jnp.inf, jnp.inf, (self.meta.input_size,))


def _named(name: str) -> tuple[Any, Any]:
    """Return what gymnax makes of a name."""
    if name not in gymnax.registered_envs:
        raise ValueError(
            f"gymnax has no environment {name!r}."
            f"{suggestion(name, gymnax.registered_envs)}"
        )
    return gymnax.make(name)


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
        sides = [
            np.broadcast_to(np.asarray(side, np.float64), space.shape).ravel()
            for side in (space.low, space.high)
        ]
        return np.stack(sides)
    return np.concatenate([_bounds(part) for _, part in _parts(space)], axis=1)


def _flatten(space: Any, value: PyTree) -> Float[Array, " d"]:
    if isinstance(space, gymnax_spaces.Discrete):
        return jax.nn.one_hot(value, space.n, dtype=jnp.float32)
    if isinstance(space, gymnax_spaces.Box):
        return jnp.asarray(value, jnp.float32).ravel()
    return jnp.concatenate(
        [_flatten(part, _item(value, name)) for name, part in _parts(space)]
    )


def _parts(space: Any) -> list[tuple[Any, Any]]:
    if isinstance(space, gymnax_spaces.Dict):
        return list(space.spaces.items())
    if isinstance(space, gymnax_spaces.Tuple):
        return list(enumerate(space.spaces))
    raise ValueError(
        f"Observations must be Box, Discrete, Dict or Tuple to be flattened, got "
        f"{space}."
    )


def _item(value: Any, name: Any) -> Any:
    """Look up a part of an observation: a mapping, a sequence or a struct."""
    indexed = isinstance(value, Mapping | tuple | list)
    return value[name] if indexed else getattr(value, name)


def _like(state: PyTree, before: PyTree) -> PyTree:
    """Return the state with the types it had before: a loop must not change them."""
    return jax.tree.map(
        lambda new, old: jnp.asarray(new).astype(old.dtype), state, before
    )
