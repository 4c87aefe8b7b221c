"""What the agent sees and does: the layout of its input, frames, and its actions.

    observation | previous action | trial ended | first step | previous reward

The observation is projected, or the frame's coordinates of what is projected. This is
the half of the meta-environment that faces the agent; `episodes` plays the tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from freeproj.envs import Box, Discrete, Environment, make
from freeproj.meta.tasks import ProjectedTasks
from freeproj.projection.actions import CommonActions
from freeproj.projection.frames import Frame, empty, see

__all__ = ["AgentInputs", "MetaState", "common_actions"]


class MetaState(NamedTuple):
    """The state of one episode.

    `word` is the row of the table, or the letters where there is no table;
    `MetaEnv.letters` gives the letters in both cases. `matrix` is M_o transposed
    (scaled to the task's bounds, if asked for), so that an observation is projected by
    `observation @ matrix`; an agent that sees a frame needs only its Gram matrix.
    `shown` is the observation that the agent sees now. States of tasks that are not
    being played are kept, untouched, beside the one that is.
    """

    word: Int[Array, "*length"]
    matrix: Float[Array, "d_obs columns"]
    task: Int[Array, ""]
    trial: Int[Array, ""]
    action_map: PyTree
    initial: tuple[PyTree, ...]
    initial_observation: Float[Array, " d_obs"]
    current: tuple[PyTree, ...]
    shown: Float[Array, " d_obs"]
    frame: Frame | None = None  # of an agent that sees one
    n_used: Int[Array, ""] | None = None  # actions so far, if named by their use


class AgentInputs(ProjectedTasks):
    """Tasks behind a projection as an agent sees them; see `MetaEnv` for the fields."""

    action_map: str = eqx.field(static=True, default="identity")
    previous_reward: bool = eqx.field(static=True, default=False)
    n_actions: int = eqx.field(static=True, default=0)

    @property
    def actions(self) -> CommonActions:
        """The actions that all tasks have in common, and their maps."""
        return common_actions(self.tasks, self.action_map, self.n_actions)

    @property
    def action_space(self) -> Box | Discrete:
        """The actions that the agent chooses from."""
        return self.actions.space

    @property
    def layout(self) -> dict[str, slice]:
        """Name the parts of the agent's input; only the first is projected."""
        sizes = {
            "observation": self.observation_slot,
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
        """The number of entries of the agent's input."""
        return max(part.stop for part in self.layout.values())

    def action_mask(self, state: MetaState) -> Bool[Array, " common"] | None:
        """Which common actions mean something in the task; None: all of them."""
        return self.actions.mask(state.action_map, state.n_used)

    def observe(
        self,
        state: MetaState,
        action: Array | None = None,
        reward: Float[Array, ""] | None = None,
        trial_ended: Bool[Array, ""] | None = None,
    ) -> tuple[Float[Array, " inputs"], MetaState]:
        """Lay out the agent's input for what `state` shows, and keep what it saw.

        There is no action at an episode's start.
        """
        ended = 0.0 if trial_ended is None else trial_ended
        flags = [ended, float(action is None)]
        if self.previous_reward:
            flags.append(0.0 if reward is None else self._shown(reward, state.task))
        tail = jnp.array([jnp.asarray(flag, float) for flag in flags])
        before = self.actions.encode(action)
        seen, state = self._project(state)
        return jnp.concatenate([seen, before, tail]), state

    def after(self, state: MetaState, action: Array) -> MetaState:
        """Return the state of an episode in which an action was used."""
        if state.n_used is None:
            return state
        return state._replace(n_used=jnp.maximum(state.n_used, action + 1))

    def unseen(self, state: MetaState) -> MetaState:
        """Return an episode of which the agent has seen nothing yet."""
        return state._replace(frame=self._empty_frame())

    def _project(self, state: MetaState) -> tuple[Float[Array, " slot"], MetaState]:
        """Return the observation as the agent sees it, and the frame after it."""
        if state.frame is None:
            return state.shown @ state.matrix, state
        seen, frame = see(
            state.frame, state.shown, gram=state.matrix, threshold=self.frame_threshold
        )
        return seen, state._replace(frame=frame)

    def _empty_frame(self) -> Frame | None:
        if self.encoder == "none":
            return None
        return empty(self.observation_slot - 1, self.observation_size)

    def _shown(self, reward: Float[Array, ""], task: Array) -> Float[Array, ""]:
        """The reward as the agent sees it, scaled to unit size if observations are.

        Tasks divide their rewards by the longest trial; 1/200 beside inputs of size 1
        would hardly be noticed.
        """
        if not self.normalize_observations:
            return reward
        return reward * jnp.array([float(task.max_steps) for task in self.tasks])[task]


def common_actions(
    tasks: Sequence[str | Environment], law: str = "identity", least: int = 0
) -> CommonActions:
    """Return the actions that tasks, or the tasks of these names, have in common."""
    played = [make(task) if isinstance(task, str) else task for task in tasks]
    return CommonActions(tuple(task.action_space for task in played), law, least)
