"""The meta-environment: episodes of many trials, each episode under one word.

An episode is `n_trials` trials of one task. Its word, and with it the projection of
everything observed, is drawn at its start and stays; so do the task, the action map and
the initial state, from which every trial starts again. When the last trial ends, the
next episode begins by itself. A trial's end is not an episode's end: only the latter
sets `terminated`. (Algorithm 1 and appendix D.3.)

Randomness has three places: fixed numbers on the object, base matrices in `MetaParams`
(redrawn by `redraw`), everything that belongs to one episode in `MetaState`. The state
holds the word and one matrix of its own, never the table of all words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from freeproj.action_maps import CommonActions
from freeproj.envs import Box, Discrete, Environment, make
from freeproj.projection import FreeProjection, fixed_map

__all__ = ["MetaEnv", "MetaParams", "MetaState", "common_actions"]

_MAX_TABLE_ENTRIES = 2**23  # 32 MiB

# inputs, state, reward, terminated, truncated, info
_MetaStep = tuple[Array, "MetaState", Array, Array, Array, dict[str, Any]]


class MetaParams(NamedTuple):
    """What all environments share: the base matrices and the tasks' own numbers.

    `table` has M_o of every word, where there are few enough: then an episode begins by
    a look-up instead of a product. It is made from the bases, once for all.
    """

    bases: Array
    tasks: tuple[PyTree, ...]
    table: Float[Array, "n_words d_in d_obs"] | None


class MetaState(NamedTuple):
    """One episode under way.

    `matrix` is M_o transposed (scaled to the task's bounds, if asked for), so that an
    observation is projected by `observation @ matrix`. States of tasks that are not
    being played are kept, untouched, beside the one that is.
    """

    word: Int[Array, " length"]
    matrix: Float[Array, "d_obs d_in"]
    task: Int[Array, ""]
    trial: Int[Array, ""]
    action_map: PyTree
    initial: tuple[PyTree, ...]
    initial_observation: Float[Array, " d_obs"]
    current: tuple[PyTree, ...]


class MetaEnv(eqx.Module):
    """Trials of one or several tasks behind a projection.

    Args:
        tasks: a task, its name, or several of them, drawn uniformly per episode.
        projection: the law of the observations' projection.
        n_trials: the trials of an episode.
        action_map: `identity`, or `random` to redraw M_a with the word.
        evaluation_map: a fixed map (`tile`, `pad`, `identity`) instead of words.
        normalize_observations: divide by the task's bounds before projecting.
        previous_reward: show the agent the reward of its last action; times the longest
            trial where observations are normalized, so that it has their size.
        n_actions: offer so many common actions at least, for tasks that are met later.
    """

    tasks: tuple[Environment, ...] = eqx.field(static=True)
    projection: FreeProjection = eqx.field(static=True)
    n_trials: int = eqx.field(static=True)
    action_map: str = eqx.field(static=True)
    evaluation_map: str | None = eqx.field(static=True)
    normalize_observations: bool = eqx.field(static=True)
    previous_reward: bool = eqx.field(static=True)
    n_actions: int = eqx.field(static=True)

    def __init__(
        self,
        tasks: str | Environment | Sequence[str | Environment],
        projection: FreeProjection,
        n_trials: int = 16,
        action_map: str = "identity",
        evaluation_map: str | None = None,
        normalize_observations: bool = False,
        previous_reward: bool = False,
        n_actions: int = 0,
    ):
        listed = [tasks] if isinstance(tasks, str | Environment) else list(tasks)
        self.tasks = tuple(make(t) if isinstance(t, str) else t for t in listed)
        self.projection = projection
        self.n_trials = n_trials
        self.action_map = action_map
        self.evaluation_map = evaluation_map
        self.normalize_observations = normalize_observations
        self.previous_reward = previous_reward
        self.n_actions = n_actions

    def __check_init__(self):
        if not self.tasks:
            raise ValueError("`tasks` must name at least one task, got none.")
        if self.n_trials < 1:
            raise ValueError(f"`n_trials` must be at least 1, got {self.n_trials}.")
        if self.observation_size > self.projection.dim:
            raise ValueError(
                f"Observations of {self.observation_size} entries do not fit the "
                f"projection's `dim` = {self.projection.dim}; choose a larger one."
            )
        _ = self.actions  # refuses what does not fit together
        if self.evaluation_map is not None:
            self._fixed_matrices()

    @property
    def observation_size(self) -> int:
        """The entries of the largest observation; smaller ones are padded by zeros."""
        return max(task.observation_space.size for task in self.tasks)

    @property
    def actions(self) -> CommonActions:
        """The actions that all tasks have in common, and their maps."""
        return common_actions(self.tasks, self.action_map, self.n_actions)

    @property
    def action_space(self) -> Box | Discrete:
        """What the agent chooses from."""
        return self.actions.space

    @property
    def layout(self) -> dict[str, slice]:
        """Names the parts of what the agent sees; only the first is projected."""
        sizes = {
            "observation": self.projection.input_dim,
            "previous_action": self.actions.size,
            "trial_ended": 1,
            "first_step": 1,
        }
        if self.previous_reward:
            sizes["previous_reward"] = 1
        ends = np.cumsum(list(sizes.values())).tolist()
        return {
            name: slice(end - size, end)
            for (name, size), end in zip(sizes.items(), ends, strict=True)
        }

    @property
    def input_size(self) -> int:
        """The entries of what the agent sees."""
        return max(part.stop for part in self.layout.values())

    @property
    def max_steps(self) -> int:
        """The longest possible episode."""
        return self.n_trials * max(task.max_steps for task in self.tasks)

    def draw_params(self, key: PRNGKeyArray) -> MetaParams:
        """Draws base matrices; the tasks' numbers are their defaults."""
        tasks = tuple(task.default_params for task in self.tasks)
        return self._with_bases(self.projection.draw_bases(key), tasks)

    def redraw(self, key: PRNGKeyArray, params: MetaParams) -> MetaParams:
        """Returns params with new base matrices; they show from the next episode on."""
        return self._with_bases(self.projection.draw_bases(key), params.tasks)

    def reset(
        self, key: PRNGKeyArray, params: MetaParams
    ) -> tuple[Float[Array, " inputs"], MetaState]:
        """Begins an episode: draws task, word, action map and initial state."""
        key_task, key_word, key_action, key_env = jax.random.split(key, 4)
        task = jax.random.randint(key_task, (), 0, len(self.tasks))
        word = self.projection.draw_word(key_word)
        starts = [
            env.reset(jax.random.fold_in(key_env, i), params.tasks[i])
            for i, env in enumerate(self.tasks)
        ]
        shown = jnp.stack([self._padded(observation) for observation, _ in starts])
        initial = tuple(state for _, state in starts)
        state = MetaState(
            word=word,
            matrix=self._matrix(word, task, params),
            task=task,
            trial=jnp.zeros((), jnp.int32),
            action_map=self.actions.draw(key_action, task),
            initial=initial,
            initial_observation=shown[task],
            current=initial,
        )
        return self._inputs(state.initial_observation, state), state

    def rematch(self, state: MetaState, params: MetaParams) -> MetaState:
        """Returns the state with its word seen through the params' base matrices."""
        return state._replace(matrix=self._matrix(state.word, state.task, params))

    def step(
        self, key: PRNGKeyArray, state: MetaState, action: Array, params: MetaParams
    ) -> _MetaStep:
        """Steps one environment; after the last trial it shows the next episode.

        For many at once use `step_batch`: under `vmap` this one draws a new episode
        for every environment at every step.
        """
        key_step, key_reset = jax.random.split(key)
        stepped = self.advance(key_step, state, action, params)
        ended = stepped[3]
        inputs, state = jax.lax.cond(
            ended,
            lambda: self.reset(key_reset, params),
            lambda: (stepped[0], stepped[1]),
        )
        return inputs, state, *stepped[2:]

    def advance(
        self, key: PRNGKeyArray, state: MetaState, action: Array, params: MetaParams
    ) -> _MetaStep:
        """Steps within an episode, and never into the next one.

        `info` has `trial_ended`, the number `trial` of the trial that was played, its
        `task`, and `final_observation`: what the task showed before any restart.
        """
        observation, current, reward, ended = self._play(key, state, action, params)
        trial = state.trial + ended
        following = state._replace(
            trial=trial,
            current=_where(ended, state.initial, current),
        )
        shown = jnp.where(ended, state.initial_observation, observation)
        inputs = self._inputs(shown, following, action, reward, ended)
        info = {
            "trial_ended": ended,
            "trial": state.trial,
            "task": state.task,
            "final_observation": observation,
        }
        terminated = trial >= self.n_trials
        return inputs, following, reward, terminated, jnp.zeros((), bool), info

    def reset_batch(
        self, key: PRNGKeyArray, params: MetaParams, n_envs: int
    ) -> tuple[Float[Array, "envs inputs"], MetaState]:
        """Begins an episode in each of `n_envs` environments."""
        keys = jax.random.split(key, n_envs)
        return jax.vmap(self.reset, in_axes=(0, None))(keys, params)

    def step_batch(
        self, key: PRNGKeyArray, state: MetaState, action: Array, params: MetaParams
    ) -> _MetaStep:
        """Steps many environments; new episodes are drawn only where one has ended.

        They are drawn one by one: few end at the same step. Measured against drawing
        one for each environment whenever any has ended (twice the time at 64, more at
        1024 environments) and at every step (ten times).
        """
        key_step, key_reset = jax.random.split(key)
        keys = jax.random.split(key_step, len(state.task))
        advance = jax.vmap(self.advance, in_axes=(0, 0, 0, None))
        stepped = advance(keys, state, action, params)
        inputs, state, reward, ended, truncated, info = stepped
        inputs, state = self._begin_where(ended, key_reset, inputs, state, params)
        return inputs, state, reward, ended, truncated, info

    def action_mask(self, state: MetaState) -> Bool[Array, " common"] | None:
        """Which common actions mean something in the task; None: all of them."""
        return self.actions.mask(state.action_map)

    # Private: what a step is made of.

    def _with_bases(self, bases: Array, tasks: tuple) -> MetaParams:
        entries = self.projection.input_dim * self.observation_size
        fits = self.projection.n_words * entries <= _MAX_TABLE_ENTRIES
        tabled = fits and not self.projection.inverses and self.evaluation_map is None
        table = (
            self.projection.matrices(bases, self.observation_size) if tabled else None
        )
        return MetaParams(bases, tasks, table)

    def _begin_where(
        self, ended, key, inputs, state, params
    ) -> tuple[Array, MetaState]:
        """Begins a new episode in every environment whose last one has ended."""

        def begin(carry):
            pending, key, shown = carry
            key, key_reset = jax.random.split(key)
            index = jnp.argmax(pending)
            fresh = self.reset(key_reset, params)
            shown = jax.tree.map(lambda old, new: old.at[index].set(new), shown, fresh)
            return pending.at[index].set(False), key, shown

        carry = (ended, key, (inputs, state))
        return jax.lax.while_loop(lambda carry: jnp.any(carry[0]), begin, carry)[2]

    def _play(self, key, state, action, params) -> tuple[Array, tuple, Array, Array]:
        """Lets the task that is being played make its step."""

        def branch(index: int):
            def play(current):
                env = self.tasks[index]
                moved = env.step(
                    key,
                    current[index],
                    self.actions.translate(state.action_map, action, index),
                    params.tasks[index],
                )
                observation, own, reward, terminated, truncated, _ = moved
                others = (*current[:index], own, *current[index + 1 :])
                return self._padded(observation), others, reward, terminated | truncated

            return play

        branches = [branch(index) for index in range(len(self.tasks))]
        if len(branches) == 1:
            return branches[0](state.current)
        return jax.lax.switch(state.task, branches, state.current)

    def _matrix(self, word, task, params) -> Float[Array, "d_obs d_in"]:
        if self.evaluation_map is not None:
            matrix = self._fixed_matrices()[task]
        elif params.table is not None:
            matrix = params.table[self.projection.place(word)]
        else:
            matrix = self.projection.matrix(word, params.bases, self.observation_size)
        if not self.normalize_observations:
            return matrix.T
        scales = [self._padded(1 / np.array(t.observation_scale)) for t in self.tasks]
        return matrix.T * jnp.stack(scales)[task][:, None]

    def _fixed_matrices(self) -> Float[Array, "tasks d_in d_obs"]:
        sizes = [task.observation_space.size for task in self.tasks]
        maps = [
            fixed_map(str(self.evaluation_map), self.projection.input_dim, size)
            for size in sizes
        ]
        largest = self.observation_size
        return jnp.stack([np.pad(m, ((0, 0), (0, largest - m.shape[1]))) for m in maps])

    def _inputs(
        self,
        observation: Float[Array, " d_obs"],
        state: MetaState,
        action: Array | None = None,
        reward: Float[Array, ""] | None = None,
        trial_ended: Bool[Array, ""] | None = None,
    ) -> Float[Array, " inputs"]:
        """Lays out what the agent sees; without an action, at an episode's start."""
        ended = 0.0 if trial_ended is None else trial_ended
        flags = [ended, float(action is None)]
        if self.previous_reward:
            flags.append(0.0 if reward is None else self._shown(reward, state.task))
        tail = jnp.array([jnp.asarray(flag, float) for flag in flags])
        before = self.actions.encode(action)
        return jnp.concatenate([observation @ state.matrix, before, tail])

    def _shown(self, reward: Float[Array, ""], task: Array) -> Float[Array, ""]:
        """The reward as the agent sees it: of unit size where observations are.

        Tasks divide their rewards by the longest trial; 1/200 beside inputs of size 1
        would hardly be seen.
        """
        if not self.normalize_observations:
            return reward
        return reward * jnp.array([float(task.max_steps) for task in self.tasks])[task]

    def _padded(self, observation) -> Float[Array, " d_obs"]:
        missing = self.observation_size - observation.shape[0]
        return jnp.pad(jnp.asarray(observation, jnp.float32), (0, missing))


def common_actions(
    tasks: Sequence[str | Environment], law: str = "identity", least: int = 0
) -> CommonActions:
    """Returns the actions that tasks, or the tasks of these names, have in common."""
    played = [make(task) if isinstance(task, str) else task for task in tasks]
    return CommonActions(tuple(task.action_space for task in played), law, least)


def _where(condition: Bool[Array, " *batch"], this: PyTree, other: PyTree) -> PyTree:
    """Chooses between two trees, whole or row by row."""

    def choose(a, b):
        shape = condition.shape + (1,) * (a.ndim - condition.ndim)
        return jnp.where(condition.reshape(shape), a, b)

    return jax.tree.map(choose, this, other)
