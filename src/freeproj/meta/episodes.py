"""The meta-environment: episodes of many trials, each episode under one word.

An episode is `n_trials` trials of one task. Its word, and with it the projection of
everything observed, is drawn at its start and kept to its end, whatever happens to the
base matrices meanwhile. So are the task and the action map. Every trial starts again
from the episode's initial state (`trials="same_start"`, the paper's) or from a fresh
one (`"fresh_start"`). Episodes reset themselves after their last trial. Only
the end of an episode sets `terminated`, not the end of a trial. (Algorithm 1, appendix
D.3.)
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from freeproj.meta.inputs import ENCODERS, AgentInputs, MetaParams, MetaState
from freeproj.storage.checks import at_least, one_of

__all__ = ["OBSERVATIONS", "TRIALS", "MetaEnv", "choose"]

OBSERVATIONS = ("projected", "none", "plain")
TRIALS = ("same_start", "fresh_start")

# inputs, state, reward, terminated, truncated, info
_MetaStep = tuple[Array, "MetaState", Array, Array, Array, dict[str, Any]]


class MetaEnv(AgentInputs):
    """Trials of one or several tasks behind a projection.

    Args:
        tasks: a task, its name, or several of them, drawn uniformly per episode.
        projection: the distribution of the observations' projection.
        n_trials: the number of trials of an episode.
        action_map: `identity`; `random` to redraw M_a with the word; `by_use` to name
            actions in the order in which the agent uses them.
        evaluation_map: a fixed map (`tile`, `pad`, …) instead of words.
        normalize_observations: divide by the task's bounds before projecting.
        previous_reward: show the agent the reward of its last action; if observations
            are normalized, times the longest trial, so that it has their size.
        n_actions: the least number of common actions, for tasks that are met later.
        trials: how a trial starts: `same_start` or `fresh_start`.
        observation: `projected`; `none` shows zeros, `plain` the observation itself.
        encoder: `none` shows what is projected; `frame` its coordinates in the frame of
            what the episode has shown so far, which no projection changes.
        frame_size: the number of directions of a frame; 0: as many as an observation
            has entries.
        frame_threshold: the norm that a direction must have to be kept as new.
        keep_words: the next episode of an environment has the word of the last one.
    """

    n_trials: int = eqx.field(static=True, default=16)
    trials: str = eqx.field(static=True, default="same_start", kw_only=True)
    keep_words: bool = eqx.field(static=True, default=False, kw_only=True)

    def __check_init__(self):
        if not self.tasks:
            raise ValueError("`tasks` must name at least one task, got none.")
        at_least(1, n_trials=self.n_trials)
        if self.observation_size > self.projection.dim:
            raise ValueError(
                f"Observations of {self.observation_size} entries do not fit the "
                f"projection's `dim` = {self.projection.dim}; choose a larger one."
            )
        one_of(TRIALS, trials=self.trials)
        one_of(OBSERVATIONS, observation=self.observation)
        one_of(ENCODERS, encoder=self.encoder)
        _ = self.actions  # raises if the tasks' actions do not mix
        if self.evaluation_map is not None:
            self.map_rows(self.evaluation_map)

    @property
    def max_steps(self) -> int:
        """The longest possible episode."""
        return self.n_trials * max(task.max_steps for task in self.tasks)

    def reset(
        self, key: PRNGKeyArray, params: MetaParams, word: Array | None = None
    ) -> tuple[Float[Array, " inputs"], MetaState]:
        """Begin an episode: draw task, word (if None), action map and initial state."""
        key_task, key_word, key_action, key_env = jax.random.split(key, 4)
        task = jax.random.randint(key_task, (), 0, len(self.tasks))
        word = self.draw_word(key_word, params) if word is None else word
        initial, shown = self._starts(key_env, task, params)
        zero = jnp.zeros((), jnp.int32)
        state = MetaState(
            word=word,
            matrix=self.matrix_of(word, task, params),
            task=task,
            trial=zero,
            action_map=self.actions.draw(key_action, task),
            initial=initial,
            initial_observation=shown,
            current=initial,
            shown=shown,
            frame=self._empty_frame(),
            n_used=zero if self.actions.by_use else None,
        )
        return self.observe(state)

    def letters(self, state: MetaState) -> Int[Array, " length"]:
        """Return the word of an episode, letter by letter."""
        is_row = state.word.ndim == 0
        return self.projection.letters(state.word) if is_row else state.word

    def with_params(
        self, inputs: Float[Array, " inputs"], state: MetaState, params: MetaParams
    ) -> tuple[Float[Array, " inputs"], MetaState]:
        """Return an unfinished episode with its word's matrix taken from `params`."""
        matrix = self.matrix_of(state.word, state.task, params)
        # What a frame holds of the old projection means nothing under the new one.
        unseen = state._replace(matrix=matrix, frame=self._empty_frame())
        seen, state = self._project(unseen)
        return inputs.at[self.layout["observation"]].set(seen), state

    def step(
        self, key: PRNGKeyArray, state: MetaState, action: Array, params: MetaParams
    ) -> _MetaStep:
        """Step one environment; for many, `step_batch` is faster than a `vmap`."""
        states, actions = jax.tree.map(
            lambda leaf: leaf[None], (state, jnp.asarray(action))
        )
        stepped = self.step_batch(key, states, actions, params)
        return jax.tree.map(lambda leaf: leaf[0], stepped)

    def advance(
        self, key: PRNGKeyArray, state: MetaState, action: Array, params: MetaParams
    ) -> _MetaStep:
        """Step within an episode, and never into the next one.

        A trial that ended starts again from the episode's initial state; `step` and
        `step_batch` then replace it by a fresh one, if asked for. `info` has
        `trial_ended`, the number `trial` of the trial that was played, its `task`, and
        `final_observation`: what the task showed before any restart.
        """
        state, reward, info = self._move(key, state, action, params)
        inputs, state = self.observe(state, action, reward, info["trial_ended"])
        terminated = state.trial >= self.n_trials
        return inputs, state, reward, terminated, jnp.zeros((), bool), info

    def reset_batch(
        self, key: PRNGKeyArray, params: MetaParams, n_envs: int
    ) -> tuple[Float[Array, "envs inputs"], MetaState]:
        """Begin an episode in each of `n_envs` environments."""
        keys = jax.random.split(key, n_envs)
        return jax.vmap(self.reset, in_axes=(0, None))(keys, params)

    def step_batch(
        self, key: PRNGKeyArray, state: MetaState, action: Array, params: MetaParams
    ) -> _MetaStep:
        """Step many environments; new episodes are drawn only where one has ended.

        They are drawn one by one, since few end at the same step. Drawing one for each
        environment whenever any has ended takes twice the time at 64 environments, more
        at 1024; drawing at every step takes ten times as long.
        """
        key_step, key_reset, key_trial = jax.random.split(key, 3)
        keys = jax.random.split(key_step, len(state.task))
        move = jax.vmap(self._move, in_axes=(0, 0, 0, None))
        state, reward, info = move(keys, state, action, params)
        ended = state.trial >= self.n_trials
        if self.trials == "fresh_start":
            again = info["trial_ended"] & ~ended
            state = self._restart_where(again, key_trial, state, params)
        observe = jax.vmap(self.observe)
        inputs, state = observe(state, action, reward, info["trial_ended"])
        inputs, state = self._begin_where(ended, key_reset, inputs, state, params)
        return inputs, state, reward, ended, jnp.zeros_like(ended), info

    # Private: what a step is made of.

    def _starts(self, key, task, params) -> tuple[tuple[PyTree, ...], Array]:
        """Draw an initial state of every task, and the played one's observation."""
        starts = [
            env.reset(jax.random.fold_in(key, i), params.tasks[i])
            for i, env in enumerate(self.tasks)
        ]
        shown = jnp.stack([self._padded(observation) for observation, _ in starts])
        return tuple(state for _, state in starts), shown[task]

    def _restart_where(self, ended, key, state, params) -> MetaState:
        """Start a new trial, under the same word, where one has ended."""

        def restart():
            keys = jax.random.split(key, len(ended))
            starts = jax.vmap(self._starts, in_axes=(0, 0, None))
            initial, shown = starts(keys, state.task, params)
            dealt = state._replace(
                initial=initial, initial_observation=shown, current=initial, shown=shown
            )
            return choose(ended, dealt, state)

        return jax.lax.cond(jnp.any(ended), restart, lambda: state)

    def _begin_where(
        self, ended, key, inputs, state, params
    ) -> tuple[Array, MetaState]:
        """Begin a new episode in every environment whose last one has ended."""

        def begin(carry):
            pending, key, shown = carry
            key, key_reset = jax.random.split(key)
            index = jnp.argmax(pending)
            word = state.word[index] if self.keep_words else None
            fresh = self.reset(key_reset, params, word)
            shown = jax.tree.map(lambda old, new: old.at[index].set(new), shown, fresh)
            return pending.at[index].set(False), key, shown

        carry = (ended, key, (inputs, state))
        return jax.lax.while_loop(lambda carry: jnp.any(carry[0]), begin, carry)[2]

    def _move(self, key, state, action, params) -> tuple[MetaState, Array, dict]:
        """Play a step; a trial that ended starts again from the initial state."""
        observation, current, reward, ended = self._play(key, state, action, params)
        n_used = state.n_used
        following = state._replace(
            n_used=None if n_used is None else jnp.maximum(n_used, action + 1),
            trial=state.trial + ended,
            current=choose(ended, state.initial, current),
            shown=jnp.where(ended, state.initial_observation, observation),
        )
        info = {
            "trial_ended": ended,
            "trial": state.trial,
            "task": state.task,
            "final_observation": observation,
        }
        return following, reward, info

    def _play(self, key, state, action, params) -> tuple[Array, tuple, Array, Array]:
        """Step the task that is being played."""

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

        # `switch` calls a single branch as it is.
        branches = [branch(index) for index in range(len(self.tasks))]
        return jax.lax.switch(state.task, branches, state.current)


def choose(condition: Bool[Array, " *batch"], this: PyTree, other: PyTree) -> PyTree:
    """Choose between two trees, whole or row by row."""

    def pick(a, b):
        shape = condition.shape + (1,) * (a.ndim - condition.ndim)
        return jnp.where(condition.reshape(shape), a, b)

    return jax.tree.map(pick, this, other)
