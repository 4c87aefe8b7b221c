"""Mazes as POPGym draws them: mazelib's hunt-and-kill with random hunts.

A maze of n x n rooms is a grid of 2n + 1 cells a side: rooms at odd rows and columns,
passages between them, walls elsewhere. From a random room walk to unvisited neighbours
until there are none. Then jump to a random room and, if it has been visited, walk on
from there. There are as many jumps as the grid has cells. (With negligible probability
a room is left out, as in mazelib.) The entrances lie in opposite outer walls.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32, PRNGKeyArray

__all__ = ["FREE", "GOAL", "N_CELL_KINDS", "START", "WALL", "Maze", "draw_maze"]

FREE = 0
WALL = 1
START = 2
GOAL = 3
N_CELL_KINDS = 5  # POPGym's fifth, "hidden", never occurs in an observation

_MOVES = np.array([[-2, 0], [2, 0], [0, -2], [0, 2]], np.int32)


class Maze(NamedTuple):
    """Which cells are walls, and where the two entrances are."""

    walls: Bool[Array, "side side"]
    start: Int32[Array, "2"]
    end: Int32[Array, "2"]


class _Digging(NamedTuple):
    walls: Bool[Array, "side side"]
    room: Int32[Array, "2"]
    jumps: Int32[Array, ""]


def draw_maze(key: PRNGKeyArray, n_rooms: int) -> Maze:
    """Draw a maze of `n_rooms` x `n_rooms` and its entrances."""
    side = 2 * n_rooms + 1
    key_first, key_luck, key_rooms, key_doors = jax.random.split(key, 4)
    n_turns = side**2 + n_rooms**2  # all jumps, and a step into every room
    luck = jax.random.uniform(key_luck, (n_turns, len(_MOVES)), jnp.float32)
    rooms = _random_rooms(key_rooms, (n_turns, 2), n_rooms)
    first = _random_rooms(key_first, (2,), n_rooms)
    walls = jnp.ones((side, side), bool).at[first[0], first[1]].set(False)

    def turn(index, digging):
        return _dig(digging, luck[index], rooms[index], side)

    digging = _Digging(walls, first, jnp.zeros((), jnp.int32))
    walls = jax.lax.fori_loop(0, n_turns, turn, digging).walls
    return Maze(walls, *_entrances(key_doors, n_rooms))


def _dig(
    digging: _Digging, luck: Array, jump: Int32[Array, "2"], side: int
) -> _Digging:
    """Walk into a random unvisited neighbour, or jump where there is none."""
    walls, room, jumps = digging
    targets = room + _MOVES
    inside = ((targets > 0) & (targets < side)).all(axis=1)
    rows, columns = jnp.clip(targets, 1, side - 2).T
    open_to = inside & walls[rows, columns] & ~walls[room[0], room[1]]
    walks = open_to.any()
    move = jnp.asarray(_MOVES)[jnp.argmax(jnp.where(open_to, luck, -1.0))]
    target = jnp.where(walks, room + move, room)
    between = (room + target) // 2
    dug = walls.at[target[0], target[1]].min(~walks)
    dug = dug.at[between[0], between[1]].min(~walks)
    hunting = ~walks & (jumps < side**2)
    return _Digging(dug, jnp.where(hunting, jump, target), jumps + hunting)


def _entrances(
    key: PRNGKeyArray, n_rooms: int
) -> tuple[Int32[Array, "2"], Int32[Array, "2"]]:
    """Draw start and end: in opposite outer walls, each beside a random room."""
    key_side, key_doors = jax.random.split(key)
    upright, swapped = jax.random.bernoulli(key_side, shape=(2,))
    doors = _random_rooms(key_doors, (2,), n_rooms)
    edges = jnp.where(swapped, jnp.array([2 * n_rooms, 0]), jnp.array([0, 2 * n_rooms]))
    pairs = jnp.stack([edges, doors], axis=1).astype(jnp.int32)
    pairs = jnp.where(upright, pairs, pairs[:, ::-1])
    return pairs[0], pairs[1]


def _random_rooms(
    key: PRNGKeyArray, shape: tuple[int, ...], n_rooms: int
) -> Int32[Array, "..."]:
    """Draw odd coordinates, those of rooms."""
    return 2 * jax.random.randint(key, shape, 0, n_rooms, jnp.int32) + 1
