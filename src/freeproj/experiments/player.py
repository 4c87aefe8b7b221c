"""An agent as a player of many episodes at once, under any projections.

`adapters.certify` asks for it: the agent is given plain observations, and sees them as
in training (scaled, projected, in a frame) under the matrix of each episode.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from freeproj.agents import ActorCritic
from freeproj.learning.config import TrainConfig
from freeproj.learning.evaluate import check_fits
from freeproj.learning.rollout import first_steps
from freeproj.learning.train import draw_params, seed_key
from freeproj.meta.episodes import MetaEnv
from freeproj.meta.inputs import MetaParams, MetaState
from freeproj.projection.maps import fixed_map

__all__ = ["AgentPlayer"]

_Matrices = Float[np.ndarray, "episodes d_in d_obs"]


class AgentPlayer:
    """Many episodes of an agent, from its own side: memory, projection, last action."""

    def __init__(
        self, agent: ActorCritic, config: TrainConfig, task: str = "", map_name=""
    ):
        self.name = "+".join(config.tasks)
        law, played = config.projection, task or config.tasks[0]
        self.input_dim, self.dim, self.scale = law.input_dim, law.dim, law.scale
        self.n_trials, self.same_start = (
            config.n_tested_trials,
            config.trials == "same_start",
        )
        self.has_words = config.tasks == (played,)
        self._agent, self._config = agent, config.stage_configs[-1]
        self.env = config.evaluation_env(task if map_name else played, map_name)
        check_fits(config.training_env(), self.env, played)

    def plain(self, obs_dim: int) -> Float[np.ndarray, "d_in d_obs"]:
        """Return the matrix through which it sees the observation itself."""
        name = "pad" if self._config.observation == "plain" else "tile"
        return fixed_map(name, self.input_dim, obs_dim, self.scale)

    def begin(self, n_episodes: int, matrices: _Matrices | None, seed: int) -> None:
        """Begin an episode under each matrix; None: those of the last rollout."""
        config, key = self._config, seed_key(self._config.seed)
        if matrices is None:
            params = draw_params(key, config, config.n_updates)
            self._start(n_episodes, params, seed)
        else:
            self._start(n_episodes, self.env.draw_params(key), seed)
            table = self.env.table_of(jnp.asarray(matrices))
            self._states = self._states._replace(matrix=table[:, 0])

    def begin_drawn(self, seed: int) -> None:
        """Begin one episode under the map of the tests, or a projection by the seed."""
        self._start(1, self.env.draw_params(jax.random.key(seed)), seed)

    def _start(self, n_episodes: int, params: MetaParams, seed: int) -> None:
        key_start, self._key = jax.random.split(jax.random.key(seed))
        reset = jax.jit(self.env.reset_batch, static_argnums=2)
        _, states = reset(key_start, params, n_episodes)
        frame = self.env._empty_frame()
        self._states = jax.vmap(lambda state: state._replace(frame=frame))(states)
        self._memory: PyTree = self._agent.initial_state(n_episodes)
        self._actions: Array | None = None
        self._n_steps = 0

    def act(
        self,
        observations: Float[np.ndarray, "episodes d_obs"],
        rewards: Float[np.ndarray, " episodes"],
        ended: Bool[np.ndarray, " episodes"],
        greedy: bool = False,
    ) -> np.ndarray:
        """Return the task's own action for each episode; actions are sampled."""
        key = jax.random.fold_in(self._key, self._n_steps)
        shown, rewarded = (jnp.asarray(x, jnp.float32) for x in (observations, rewards))
        now = shown, self._actions, rewarded, jnp.asarray(ended)
        before = self._states, self._memory
        self._actions, own, *after = _act(
            self._agent, self.env, *before, key, now, greedy
        )
        self._states, self._memory = after
        self._n_steps += 1
        return np.asarray(own)


@eqx.filter_jit
def _act(
    agent: ActorCritic, env: MetaEnv, states: MetaState, memory, key, now, greedy
) -> tuple[Array, Array, MetaState, PyTree]:
    """Return actions, the same in the task's own terms, states and memory after."""

    def observe(state, shown, action, reward, ended):
        return env.observe(state._replace(shown=shown), action, reward, ended)

    place = None if now[1] is None else 0
    inputs, states = jax.vmap(observe, in_axes=(0, 0, place, 0, 0))(states, *now)
    masks: Any = jax.vmap(env.action_mask)(states)
    fresh = first_steps(env, inputs)
    policy, _, memory = agent.step(inputs, memory, fresh, masks)
    sampled = policy.sample_with(agent.noise(key, (len(inputs),)))
    actions = policy.mode() if greedy else sampled
    translate = jax.vmap(env.actions.translate, in_axes=(0, 0, None))
    own = translate(states.action_map, actions, 0)
    if states.n_used is not None:
        states = states._replace(n_used=jnp.maximum(states.n_used, actions + 1))
    return actions, own, states, memory
