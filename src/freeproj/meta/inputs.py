"""What the agent sees and does: projected tasks, the layout of inputs, and actions.

The matrices of all words are drawn into a table, transposed, and scaled by the task's
bounds if asked for. The agent's input is

    observation | previous action | trial ended | first step | previous reward

where the observation is projected, or the frame's coordinates of what is projected.
Trials and episodes are played in `episodes`. (Definition 3.2 and appendix D.5.)
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from freeproj.envs import Box, Discrete, Environment, make
from freeproj.projection.actions import CommonActions
from freeproj.projection.frames import Frame, empty, see
from freeproj.projection.maps import fixed_map
from freeproj.projection.projection import FreeProjection

__all__ = ["ENCODERS", "AgentInputs", "MetaParams", "MetaState"]

ENCODERS = ("none", "frame")

_MAX_TABLE_ENTRIES = 2**23  # 32 MiB
_Word = Int[Array, "*length"]  # a row of the table, or letters
_Matrix = Float[Array, "d_obs columns"]
_Table = Float[Array, "n_words tasks d_obs columns"]


class MetaParams(NamedTuple):
    """What all environments share: the matrices of all words, the tasks' own numbers.

    `table` holds M_o transposed and scaled as the agent sees it; where it sees a frame,
    the Gram matrix of that, since a frame depends on nothing else. It has a row for
    each word and, where tasks differ in it, a column for each task. So an episode
    begins with a look-up, and a program compiled for a table serves every n, ℓ and
    family of its size. If there are too many words for a table, `bases` are kept
    instead and words are multiplied.
    """

    bases: Array | None
    tasks: tuple[PyTree, ...]
    table: _Table | None


class MetaState(NamedTuple):
    """The state of one episode.

    `word` is the row of the table, or the letters where there is no table;
    `MetaEnv.letters` gives the letters in both cases. `matrix` is M_o transposed
    (scaled to the task's bounds, if asked for), so that an observation is projected by
    `observation @ matrix`; an agent that sees a frame needs only its Gram matrix.
    `shown` is the observation that the agent sees now. States of tasks that are not
    being played are kept, untouched, beside the one that is.
    """

    word: _Word
    matrix: _Matrix
    task: Int[Array, ""]
    trial: Int[Array, ""]
    action_map: PyTree
    initial: tuple[PyTree, ...]
    initial_observation: Float[Array, " d_obs"]
    current: tuple[PyTree, ...]
    shown: Float[Array, " d_obs"]
    frame: Frame | None = None  # of an agent that sees one
    n_used: Int[Array, ""] | None = None  # actions so far, if named by their use


def _made(
    tasks: str | Environment | Sequence[str | Environment],
) -> tuple[Environment, ...]:
    listed = (tasks,) if isinstance(tasks, str | Environment) else tasks
    return tuple(make(task) if isinstance(task, str) else task for task in listed)


class AgentInputs(eqx.Module):
    """Tasks behind a projection as an agent sees them; see `MetaEnv` for the fields."""

    tasks: tuple[Environment, ...] = eqx.field(static=True, converter=_made)
    projection: FreeProjection = eqx.field(static=True)
    evaluation_map: str | None = eqx.field(static=True, default=None, kw_only=True)
    normalize_observations: bool = eqx.field(static=True, default=False, kw_only=True)
    observation: str = eqx.field(static=True, default="projected", kw_only=True)
    encoder: str = eqx.field(static=True, default="none", kw_only=True)
    frame_size: int = eqx.field(static=True, default=0, kw_only=True)
    frame_threshold: float = eqx.field(static=True, default=0.0, kw_only=True)
    action_map: str = eqx.field(static=True, default="identity", kw_only=True)
    previous_reward: bool = eqx.field(static=True, default=False, kw_only=True)
    n_actions: int = eqx.field(static=True, default=0, kw_only=True)

    @property
    def observation_size(self) -> int:
        """The size of the largest observation; smaller ones are padded with zeros."""
        return max(task.observation_space.size for task in self.tasks)

    @property
    def observation_slot(self) -> int:
        """The number of the agent's inputs that show the observation."""
        if self.encoder == "none":
            return self.projection.input_dim
        # Coordinates, and the norm of what is left over.
        return (self.frame_size or self.observation_size) + 1

    @property
    def has_table(self) -> bool:
        """Whether there are few enough words to keep the matrix of each."""
        fixed = self.evaluation_map is not None or self.observation != "projected"
        return fixed or self._n_rows == self.projection.n_words

    def draw_params(self, key: PRNGKeyArray) -> MetaParams:
        """Draw the matrices of all words; the tasks' numbers are their defaults."""
        tasks = tuple(task.default_params for task in self.tasks)
        if self.evaluation_map is not None:
            return MetaParams(None, tasks, self.map_rows(self.evaluation_map))
        if not self.has_table:
            return MetaParams(self.projection.draw_bases(key), tasks, None)
        return MetaParams(None, tasks, self.table_of(self._draw_matrices(key)))

    def redraw(self, key: PRNGKeyArray, params: MetaParams) -> MetaParams:
        """Return params with new matrices, used from the next episode on."""
        return self.draw_params(key)._replace(tasks=params.tasks)

    def table_of(self, matrices: Float[Array, "n_words d_in d_obs"]) -> _Table:
        """Return the table of the matrices M_o of all words."""
        rows = jnp.swapaxes(matrices, 1, 2)[:, None]
        if self.normalize_observations:
            rows = rows * self._scales()[None, :, :, None]
        return self._kept(rows)

    def map_rows(self, name: str) -> _Table:
        """Return the row of a fixed map: for each task the matrix of its own size."""
        return self._kept(self.map_matrices(name))

    def map_matrices(self, name: str) -> Float[Array, "1 tasks d_obs d_in"]:
        """Return M_o of a fixed map, transposed and scaled, for each task."""
        rows, sigma = self.projection.input_dim, self.projection.scale
        largest = self.observation_size
        sizes = [task.observation_space.size for task in self.tasks]
        maps = [fixed_map(name, rows, size, sigma).T for size in sizes]
        padded = [np.pad(m, ((0, largest - len(m)), (0, 0))) for m in maps]
        table = jnp.stack(padded)[None]
        if not self.normalize_observations:
            return table
        return table * self._scales()[None, :, :, None]

    def draw_word(self, key: PRNGKeyArray, params: MetaParams) -> _Word:
        """Draw a row of the table or, where there is none, letters."""
        if params.table is None:
            return self.projection.draw_word(key)
        return jax.random.randint(key, (), 0, len(params.table))

    def matrix_of(
        self, word: _Word, task: Int[Array, ""], params: MetaParams
    ) -> _Matrix:
        """Return what is kept of an episode's matrix: see `MetaParams.table`."""
        if params.table is not None:
            return params.table[word, task if params.table.shape[1] > 1 else 0]
        bases: Any = params.bases
        matrix = self.projection.matrix(word, bases, self.observation_size).T
        if self.normalize_observations:
            matrix = matrix * self._scales()[task][:, None]
        return self._kept(matrix)

    @property
    def actions(self) -> CommonActions:
        """The actions that all tasks have in common, and their maps."""
        spaces = tuple(task.action_space for task in self.tasks)
        return CommonActions(spaces, self.action_map, self.n_actions)

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
        action: Array | None = None,  # None at an episode's start
        reward: Float[Array, ""] | None = None,
        trial_ended: Bool[Array, ""] | None = None,
    ) -> tuple[Float[Array, " inputs"], MetaState]:
        """Lay out the agent's input for what `state` shows, and keep what it saw."""
        ended = 0.0 if trial_ended is None else trial_ended
        flags = [ended, float(action is None)]
        if self.previous_reward:
            flags.append(0.0 if reward is None else self._shown(reward, state.task))
        tail = jnp.array([jnp.asarray(flag, float) for flag in flags])
        before = self.actions.encode(action)
        seen, state = self._project(state)
        return jnp.concatenate([seen, before, tail]), state

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

    def _kept(
        self, rows: Float[Array, "*words d_obs d_in"]
    ) -> Float[Array, "*words d_obs columns"]:
        """Return the rows of M_o transposed or, for a frame, their inner products."""
        if self.encoder == "none":
            return rows
        # Accelerators multiply with fewer digits unless told not to.
        return jnp.matmul(rows, jnp.swapaxes(rows, -1, -2), precision="highest")

    def _scales(self) -> Float[Array, "tasks d_obs"]:
        """The factors that bring observations to unit size."""
        scales = [self._padded(1 / np.array(t.observation_scale)) for t in self.tasks]
        return jnp.stack(scales)

    def _draw_matrices(self, key: PRNGKeyArray) -> Float[Array, "n_words d_in d_obs"]:
        size, rows = self.observation_size, self.projection.input_dim
        if self.observation == "projected":
            return self.projection.draw_matrices(key, size)
        name = "zero" if self.observation == "none" else "pad"
        one = fixed_map(name, rows, size, self.projection.scale)
        # A copy for each word, so that programs of projected observations can be used.
        return jnp.broadcast_to(one, (self._n_rows, *one.shape))

    @property
    def _n_rows(self) -> int:
        """The number of rows of the table: all words if they fit, otherwise one."""
        entries = self.projection.input_dim * self.observation_size
        fits = self.projection.n_words * entries <= _MAX_TABLE_ENTRIES
        return self.projection.n_words if fits and not self.projection.inverses else 1

    def _padded(self, observation) -> Float[Array, " d_obs"]:
        missing = self.observation_size - observation.shape[0]
        return jnp.pad(jnp.asarray(observation, jnp.float32), (0, missing))
