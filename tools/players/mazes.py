"""Players of the labyrinths: one who knows the maze, one who keeps to the right wall.

A maze is a tree of cells, the start its root. The shortest way out is a distance in it.
The shortest walk over all N free cells goes along every branch and back, and does not
return from the deepest one: N steps into new cells and N - depth others.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int32, PRNGKeyArray

from freeproj.envs.labyrinth import (
    FREE,
    GOAL,
    WALL,
    Labyrinth,
    LabyrinthEscape,
    LabyrinthState,
)

__all__ = ["distances", "follow_wall", "known_maze_returns", "wall_returns"]

_CLOCKWISE = np.array([0, 2, 1, 3])  # left, up, right, down, as actions
_STEPS = np.array([[0, -1], [-1, 0], [0, 1], [1, 0]])


def known_maze_returns(
    key: PRNGKeyArray, env: Labyrinth, n_mazes: int
) -> Float[np.ndarray, " n_mazes"]:
    """Return what the best player earns in each maze who knows it."""
    keys = jax.random.split(key, n_mazes)
    states = jax.jit(jax.vmap(lambda key: env.reset(key, None)[1]))(keys)
    cells = np.asarray(states.cells)
    far = distances(cells != WALL, np.asarray(states.explored))
    if isinstance(env, LabyrinthEscape):
        return 1 - far[cells == GOAL] / env.time_limit
    n_free = (cells == FREE).sum(axis=(1, 2))
    return 1 - (n_free - far.max(axis=(1, 2))) / env.time_limit


def distances(
    free: Bool[np.ndarray, "mazes side side"], start: Bool[np.ndarray, "..."]
) -> Int[np.ndarray, "mazes side side"]:
    """Return the steps from the start to every cell; 0 where there is no way."""
    reached, far, steps = start.copy(), np.zeros(free.shape, int), 0
    while True:
        wide = np.pad(reached, ((0, 0), (1, 1), (1, 1)))
        near = wide[:, :-2, 1:-1] | wide[:, 2:, 1:-1]
        near |= wide[:, 1:-1, :-2] | wide[:, 1:-1, 2:]
        new = near & free & ~reached
        if not new.any():
            return far
        steps += 1
        far[new] = steps
        reached |= new


def follow_wall(state: LabyrinthState) -> Int32[Array, ""]:
    """Return the step of one who keeps a hand on the right wall.

    Only the four cells next to the player and the last action are looked at.
    """
    turns, side = jnp.asarray(_CLOCKWISE), state.cells.shape[0]
    last = jnp.argmax(turns == state.last_action % 4)
    order = (last + jnp.array([1, 0, 3, 2])) % 4  # right, ahead, left, back
    ahead = state.position + jnp.asarray(_STEPS)[order]
    inside = ((ahead >= 0) & (ahead < side)).all(axis=1)
    rows, columns = jnp.clip(ahead, 0, side - 1).T
    free = inside & (state.cells[rows, columns] != WALL)
    return turns[order[jnp.argmax(free)]].astype(jnp.int32)


def wall_returns(
    key: PRNGKeyArray, env: Labyrinth, n_mazes: int
) -> Float[Array, " n_mazes"]:
    """Return what keeping to the right wall earns in each maze."""

    def play(key):
        _, state = env.reset(key, None)

        def walk(state, _):
            # Steps draw nothing, so that any key will do; past the end nothing is paid.
            _, state, reward, *_ = env.step(key, state, follow_wall(state), None)
            return state, reward

        return jax.lax.scan(walk, state, length=env.max_steps)[1].sum()

    return jax.jit(jax.vmap(play))(jax.random.split(key, n_mazes))
