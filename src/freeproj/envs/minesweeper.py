"""Minesweeper with an obscured board: only the last click's count is seen.

Action `row · side + column` clicks a cell. Observation: the number of mines in the
3 x 3 cells around the click, the clicked cell included, one-hot; count 0 before any
click. With s safe cells a new one earns 1/s, a mine costs 1/2 + 1/s and ends the trial,
a cell clicked before costs 1/(2(s-2)). The trial terminates when all safe cells have
been clicked; it is truncated after s clicks. (Appendix D.1.)
"""

# pyright: reportIncompatibleMethodOverride=false
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int8, Int32, PRNGKeyArray

from freeproj.envs.base import derived, easy_to_hard, marked, one_hot, static
from freeproj.envs.boards import BoardTask, draw_board
from freeproj.envs.cards import shuffle
from freeproj.envs.drawing import HIDDEN, PAPER, RED, Canvas, paint_board
from freeproj.projection.spaces import Box

__all__ = ["Minesweeper", "MinesweeperState", "count_mines"]

_MAX_COUNT = 9  # a 3 x 3 neighbourhood full of mines


class MinesweeperState(NamedTuple):
    """The hidden board, the cells clicked, and how far the trial is."""

    mines: Bool[Array, " cells"]
    counts: Int8[Array, " cells"]
    clicked: Bool[Array, " cells"]
    n_seen: Int32[Array, ""]  # safe cells clicked; stored, so that no step counts them
    time: Int32[Array, ""]
    shown: Int8[Array, ""]  # the last click's count
    terminated: Bool[Array, ""]


class Minesweeper(BoardTask):
    """Square boards of side 4, 6 or 8 with 2, 6 or 10 mines."""

    summary: ClassVar = "click all safe cells; only the last count is seen"
    popgym_name: ClassVar = "MineSweeper"

    side: int = static(4)
    n_mines: int = static(2)

    levels: ClassVar = easy_to_hard(side=(4, 6, 8), n_mines=(2, 6, 10))

    def __check_init__(self):
        if not 1 <= self.n_mines <= self.n_cells - 3:
            raise ValueError(
                f"`n_mines` must lie in 1..{self.n_cells - 3} on {self.n_cells} "
                f"cells, got {self.n_mines}."
            )

    n_counts = derived(lambda self: min(self.n_mines, _MAX_COUNT) + 1)  # from 0 on
    observation_space = derived(lambda self: Box.unit(self.n_counts))
    max_steps = derived(lambda self: self.n_cells - self.n_mines)

    def start(self, key: PRNGKeyArray, params: None) -> MinesweeperState:
        mines = shuffle(key, (jnp.arange(self.n_cells) < self.n_mines).astype(jnp.int8))
        mines = mines.astype(bool)
        return MinesweeperState(
            mines=mines,
            counts=count_mines(mines.reshape(self.side, self.side)).ravel(),
            clicked=jnp.zeros(self.n_cells, bool),
            n_seen=jnp.zeros((), jnp.int32),
            time=jnp.zeros((), jnp.int32),
            shown=jnp.zeros((), jnp.int8),
            terminated=jnp.zeros((), bool),
        )

    def advance(
        self, state: MinesweeperState, action: Array, noise: None, params: None
    ) -> tuple[MinesweeperState, Array]:
        mine = state.mines[action]
        new = ~mine & ~state.clicked[action]
        found = 1 / self.max_steps
        safe = jnp.where(new, found, -0.5 / (self.max_steps - 2))
        n_seen = state.n_seen + new
        following = state._replace(
            # On such small boards as fast as a scatter, and never out of range.
            clicked=state.clicked | (jnp.arange(self.n_cells) == action),
            n_seen=n_seen,
            time=state.time + 1,
            shown=state.counts[action],
            terminated=mine | (n_seen == self.max_steps),
        )
        return following, jnp.where(mine, -0.5 - found, safe)

    def is_done(self, state: MinesweeperState) -> Bool[Array, ""]:
        return state.terminated

    def is_late(self, state: MinesweeperState) -> Bool[Array, ""]:
        return (state.time >= self.max_steps) & ~state.terminated

    def observe(self, state: MinesweeperState) -> Float[Array, " d_obs"]:
        return jax.nn.one_hot(state.shown, self.n_counts, dtype=jnp.float32)

    def render(self, state: MinesweeperState) -> str:
        counts, mines = np.asarray(state.counts), np.asarray(state.mines)
        signs = np.where(mines, "*", counts.astype(str))
        signs = np.where(np.asarray(state.clicked), signs, ".")
        clicks = f"{int(state.time)} of {self.max_steps} clicks"
        return draw_board(signs, self.side, f"{clicks}, {self.n_mines} mines")

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        mines, counts, clicked, n_seen, time, *_ = state
        n_safe, mine = self.max_steps, bool(mines[action])
        new = not (mine or clicked[action])
        reward = 1 / n_safe if new else -0.5 / (n_safe - 2)
        if mine:
            reward = -0.5 - 1 / n_safe
        clicked, n_seen, time = marked(clicked, action), n_seen + new, time + 1
        ended = mine or n_seen == n_safe
        count = counts[action]
        obs = one_hot(self.n_counts, int(count))
        state = type(state)(mines, counts, clicked, n_seen, time, count, ended)
        return obs, state, reward, ended, time >= n_safe and not ended

    def paint(self, canvas: Canvas, state: MinesweeperState) -> None:
        clicked, mines = np.asarray(state.clicked), np.asarray(state.mines)
        fills = np.where(clicked, np.where(mines, RED, PAPER), HIDDEN)
        signs = np.where(clicked & ~mines, np.asarray(state.counts).astype(str), "")
        paint_board(canvas, self.side, fills.tolist(), signs.tolist())


def count_mines(board: Bool[Array, "rows columns"]) -> Int8[Array, "rows columns"]:
    """Return for each cell the mines in the 3 x 3 cells around it, itself counted."""
    zero = jnp.zeros((), jnp.int8)
    return jax.lax.reduce_window(
        board.astype(jnp.int8), zero, jax.lax.add, (3, 3), (1, 1), "SAME"
    )
