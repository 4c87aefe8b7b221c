"""A good player of Battleship: one who follows up hits."""

from __future__ import annotations

import jax
import numpy as np
from jaxtyping import Bool, Float, PRNGKeyArray

from freeproj.envs.battleship import Battleship, placements

__all__ = ["draw_boards", "hunting_returns"]

_HIT = 100.0  # how much more a placement counts for each hit that it explains


def draw_boards(
    key: PRNGKeyArray, env: Battleship, n_boards: int
) -> Bool[np.ndarray, "boards cells"]:
    """Draw boards as the task does."""
    keys = jax.random.split(key, n_boards)
    return np.asarray(jax.jit(jax.vmap(lambda key: env.start(key, None).ships))(keys))


def hunting_returns(
    key: PRNGKeyArray, env: Battleship, n_trials: int
) -> Float[np.ndarray, " n_trials"]:
    """Return what one earns who shoots where most placements of the ships agree.

    A placement counts while it has no missed cell, and much more for each hit in it.
    """
    boards = draw_boards(key, env, n_trials).astype(np.float32)
    rows = [placements(env.side, ship) for ship in env.ships]
    places = np.concatenate(rows).astype(np.float32)
    worth = _HIT ** np.arange(max(env.ships) + 1, dtype=np.float32)
    shot, hits = np.zeros_like(boards), np.zeros_like(boards)
    total = np.zeros(n_trials)
    for _ in range(env.max_steps):
        fits = (shot - hits) @ places.T == 0
        weights = fits * worth[(hits @ places.T).astype(int)]
        cells = np.where(shot > 0, -1.0, weights @ places).argmax(axis=1)
        here = np.arange(n_trials), cells
        live = hits.sum(axis=1) < env.n_ship_cells
        hit = boards[here]
        miss = -1 / (env.n_cells - env.n_ship_cells)
        total += np.where(live, np.where(hit > 0, 1 / env.n_ship_cells, miss), 0.0)
        shot[here], hits[here] = 1.0, hit
    return total
