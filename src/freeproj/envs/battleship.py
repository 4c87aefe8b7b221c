"""Battleship on a hidden board: a shot reveals only whether it hit.

Action `row · side + column` shoots at a cell. Observation: miss or hit, one-hot; miss
before the first shot. Only the first shot at a ship's cell is a hit. With m ship cells
among c cells, a hit earns 1/m and a miss costs 1/(c-m), so shooting at every cell once
earns 0. The trial terminates when every ship cell is hit; it is truncated after c
shots.

Ships are placed one by one, each uniformly among the straight placements that are still
free. This is POPGym's distribution: it draws start and direction until they fit.
"""

# pyright: reportIncompatibleMethodOverride=false
import functools
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32, PRNGKeyArray

from freeproj.envs.base import derived, easy_to_hard, fixed, marked, one_hot, static
from freeproj.envs.boards import BoardTask, draw_board
from freeproj.envs.drawing import BLUE, HIDDEN, RED, Canvas, paint_board
from freeproj.projection.spaces import Box

__all__ = ["Battleship", "BattleshipState", "placements"]


class BattleshipState(NamedTuple):
    """The hidden ships, the cells shot at, the hits, the last shot, and all shots."""

    ships: Bool[Array, " cells"]
    shot: Bool[Array, " cells"]
    hits: Int32[Array, ""]
    hit: Bool[Array, ""]  # whether the last shot was one
    time: Int32[Array, ""]


class Battleship(BoardTask):
    """Square boards of side 8, 10 or 12 with ships of 2, 3, 3 and 4 cells."""

    summary: ClassVar = "sink hidden ships; a shot reveals only hit or miss"
    popgym_name: ClassVar = "Battleship"

    ships: tuple[int, ...] = static((2, 3, 3, 4))

    levels: ClassVar = easy_to_hard(side=(8, 10, 12))

    def __check_init__(self):
        # A ship blocks at most its own rows and columns, so this many always fit.
        if not self.ships or min(self.ships) < 1 or max(self.ships) > self.side:
            raise ValueError(
                f"`ships` must have lengths in 1..{self.side}, got {self.ships}."
            )
        if len(self.ships) > self.side:
            raise ValueError(
                f"`ships` must be at most {self.side} on a board of side "
                f"{self.side}, so that they surely fit, got {len(self.ships)}."
            )

    n_ship_cells = derived(lambda self: sum(self.ships))  # the hits that end a trial
    observation_space = fixed(Box.unit(2))
    max_steps = derived(lambda self: self.n_cells)

    def start(self, key: PRNGKeyArray, params: None) -> BattleshipState:
        none, zero = jnp.zeros(self.n_cells, bool), jnp.zeros((), jnp.int32)
        ships, keys = none, jax.random.split(key, len(self.ships))
        for ship, key_ship in zip(self.ships, keys, strict=True):
            places = jnp.asarray(placements(self.side, ship))
            free = ~(places & ships).any(axis=1)
            noise = jax.random.uniform(key_ship, (len(places),), jnp.float32)
            ships = ships | places[jnp.argmax(jnp.where(free, noise, -1.0))]
        return BattleshipState(ships, none, zero, zero > 0, zero)

    def advance(
        self, state: BattleshipState, action: Array, noise: None, params: None
    ) -> tuple[BattleshipState, Array]:
        hit = state.ships[action] & ~state.shot[action]
        miss = -1 / (self.n_cells - self.n_ship_cells)
        shot = state.shot | (jnp.arange(self.n_cells) == action)
        hits, time = state.hits + hit, state.time + 1
        reward = jnp.where(hit, 1 / self.n_ship_cells, miss)
        return BattleshipState(state.ships, shot, hits, hit, time), reward

    def is_done(self, state: BattleshipState) -> Bool[Array, ""]:
        return state.hits >= self.n_ship_cells

    def observe(self, state: BattleshipState) -> Float[Array, "2"]:
        return jax.nn.one_hot(state.hit.astype(jnp.int32), 2, dtype=jnp.float32)

    def render(self, state: BattleshipState) -> str:
        signs = np.where(np.asarray(state.ships), "x", "o")
        signs = np.where(np.asarray(state.shot), signs, ".")
        shots = f"{int(state.time)} of {self.max_steps} shots"
        hits = f"{int(state.hits)} of {self.n_ship_cells} hits"
        return draw_board(signs, self.side, f"{shots}, {hits}")

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        ships, shot, hits, _, time = state
        hit, total = bool(ships[action] and not shot[action]), self.n_ship_cells
        reward = 1 / total if hit else -1 / (len(ships) - total)
        hits, time = hits + hit, time + 1
        state = type(state)(ships, marked(shot, action), hits, hit, time)
        return one_hot(2, int(hit)), state, reward, hits >= total, time >= len(ships)

    def paint(self, canvas: Canvas, state: BattleshipState) -> None:
        shot, ships = np.asarray(state.shot), np.asarray(state.ships)
        fills = np.where(shot, np.where(ships, RED, BLUE), HIDDEN)
        paint_board(canvas, self.side, fills.tolist(), [""] * len(fills))


@functools.cache
def placements(side: int, ship: int) -> Bool[np.ndarray, "places cells"]:
    """Return every straight placement of a ship as a row of cells."""
    starts = [(row, column) for row in range(side) for column in range(side - ship + 1)]
    flat = np.zeros((len(starts), side, side), bool)
    for place, (row, column) in enumerate(starts):
        flat[place, row, column : column + ship] = True
    upright = flat.transpose(0, 2, 1)
    # A single cell lies both ways: counting it once keeps the choice uniform.
    both = [flat] if ship == 1 else [flat, upright]
    return np.concatenate(both).reshape(-1, side * side)
