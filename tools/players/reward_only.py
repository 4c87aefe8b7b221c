"""Players who see rewards but no observation, over trials that repeat one start.

What they earn needs no eyes: an agent that sees its reward has shown nothing about its
observations unless it earns more.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from freeproj.envs import (
    Autoencode,
    Battleship,
    CountRecall,
    Environment,
    FlashCards,
    HigherLower,
    Minesweeper,
    MultiarmedBandit,
    RepeatFirst,
    RepeatPrevious,
    StatelessPendulum,
)
from freeproj.envs.baselines import RewardOnly
from freeproj.envs.cards import N_RANKS, N_SUITS
from freeproj.envs.cartpole import CartPole
from freeproj.envs.labyrinth import Labyrinth
from players.arms import thompson_returns
from players.blind import periodic_rows, row_returns
from players.ceilings import higher_lower_knowing_deck, repeat_previous_perfect
from players.counts import trying_counts

__all__ = [
    "minesweeper_elimination",
    "reward_only_players",
    "try_rows",
    "turning_returns",
]

_TRIALS = 16  # of an episode: what the number of tries is chosen for

_Players = dict[str, RewardOnly]


def reward_only_players(
    key: PRNGKeyArray, env: Environment, n_starts: int
) -> dict[str, RewardOnly]:
    """Return the known players of a task; none for tasks that nobody thought about."""
    for kind, players in _PLAYERS.items():
        if isinstance(env, kind):
            return players(key, env, n_starts)
    return {}


def turning_returns(n_decks: int, n_starts: int = 2**16, seed: int = 0) -> np.ndarray:
    """Return what "after a rise say lower, after a fall higher" earns in Higher Lower.

    A tie (reward 0) changes nothing; the first answer is "higher". The reward tells
    whether the last answer was right, and so whether cards rose or fell.
    """
    rng = np.random.default_rng(seed)
    ranks = np.tile(np.repeat(np.arange(N_RANKS), N_SUITS), n_decks)
    decks = rng.permuted(np.tile(ranks, (n_starts, 1)), axis=1)
    moves = np.sign(np.diff(decks, axis=1))
    guess, total = np.ones(n_starts), np.zeros(n_starts)
    for move in moves.T:
        total += guess * move
        guess = np.where(move == 0, guess, -move)
    return total / ranks.size


def minesweeper_elimination(n_cells: int, n_mines: int) -> tuple[float, ...]:
    """Return the mean returns of trial 1, 2, … of clicking all but the known mines.

    Trial j ends at the j-th mine in the order of clicks, after j/(k+1) of the safe
    cells on average, unless only mines are left there.
    """
    n_safe, boards = n_cells - n_mines, math.comb(n_cells, n_mines)
    loss = 0.5 + 1 / n_safe
    trials = [
        j / (n_mines + 1) - loss * (1 - math.comb(n_safe + j - 1, j - 1) / boards)
        for j in range(1, n_mines + 1)
    ]
    return (*trials, 1.0)


def try_rows(
    returns: Float[np.ndarray, "rows starts"], most: int = 8
) -> tuple[float, ...]:
    """Return the mean returns of trying some rows once and then repeating the best.

    Rows are chosen one by one on half of the starts, their number for episodes of 16
    trials; the means are those of the other half.
    """
    chosen_on, tested_on = returns[:, ::2], returns[:, 1::2]
    best = np.full(chosen_on.shape[1], -np.inf)
    order, totals, spent = [], [], 0.0
    for n_tried in range(1, most + 1):
        row = int(np.maximum(chosen_on, best).mean(axis=1).argmax())
        order.append(row)
        best = np.maximum(best, chosen_on[row])
        spent += chosen_on[row].mean()
        totals.append(spent + (_TRIALS - n_tried) * best.mean())
    order = order[: 1 + int(np.argmax(totals))]
    tried = tested_on[order]
    return (*tried.mean(axis=1).tolist(), float(tried.max(axis=0).mean()))


def _repeat_first(key, env: RepeatFirst, n_starts: int) -> _Players:
    first = 1 - 3 / (env.n_cards - 1)
    why = "Try the suits until one is right: 1.5 wrong answers on average."
    return {"try suits": RewardOnly((first, 1.0), "little", "exact", why)}


def _repeat_previous(key, env: RepeatPrevious, n_starts: int) -> _Players:
    return _try_suits(repeat_previous_perfect(env))


def _autoencode(key, env: Autoencode, n_starts: int) -> _Players:
    return _try_suits(1.0)


def _try_suits(perfect: float) -> _Players:
    trials = tuple(perfect * part for part in (-0.5, 0.0, 0.5, 1.0))
    why = "Try another suit at each place where the last one was wrong."
    return {"remember every answer": RewardOnly(trials, "every answer", "reached", why)}


def _count_recall(key, env: CountRecall, n_starts: int) -> _Players:
    trials = trying_counts(env, _TRIALS)
    why = "Try the next likeliest count at each place where the last one was wrong."
    return {"remember every answer": RewardOnly(trials, "every answer", "reached", why)}


def _higher_lower(key, env: HigherLower, n_starts: int) -> _Players:
    first = float(turning_returns(env.n_decks).mean())
    turn = "After a rise say lower, after a fall higher; a tie changes nothing."
    known = "Turn in the first trial; from then on repeat what was right."
    return {
        "turn": RewardOnly((first,), "little", "estimate", turn),
        "remember every answer": RewardOnly(
            (first, higher_lower_knowing_deck()), "every answer", "estimate", known
        ),
    }


def _minesweeper(key, env: Minesweeper, n_starts: int) -> _Players:
    trials = minesweeper_elimination(env.n_cells, env.n_mines)
    why = "Click all cells in turn and leave out the mines of earlier trials; exact."
    return {"leave out known mines": RewardOnly(trials, "little", "reached", why)}


def _battleship(key: PRNGKeyArray, env: Battleship, n_starts: int) -> _Players:
    in_turn = jnp.arange(env.n_cells, dtype=jnp.int32)
    first = row_returns(key, env, [in_turn], 8 * n_starts)
    why = "Shoot at all cells in turn, from then on at the ships that were hit."
    trials = (float(first.mean()), 1.0)
    return {"remember hits": RewardOnly(trials, "little", "reached", why)}


def _bandit(key, env: MultiarmedBandit, n_starts: int) -> _Players:
    trials = tuple(thompson_returns(env, n_starts, _TRIALS).mean(axis=1).tolist())
    why = "Thompson sampling over all trials: the reward tells what is seen."
    return {"count what paid": RewardOnly(trials, "little", "reached", why)}


def _labyrinth(key: PRNGKeyArray, env: Labyrinth, n_starts: int) -> _Players:
    rng = np.random.default_rng(0)
    rows = rng.integers(4, size=(_TRIALS, env.max_steps), dtype=np.int32)
    trials = try_rows(row_returns(key, env, list(jnp.asarray(rows)), 4 * n_starts))
    why = f"Walk at random in {len(trials) - 1} trials, then repeat the best walk."
    return {"repeat the best walk": RewardOnly(trials, "little", "reached", why)}


def _physics(key: PRNGKeyArray, env: Environment, n_starts: int) -> _Players:
    rows = list(periodic_rows(env).values())
    trials = try_rows(row_returns(key, env, rows, n_starts))
    why = f"Try {len(trials) - 1} periodic rows once, then repeat the best of them."
    return {"try rows": RewardOnly(trials, "little", "reached", why)}


def _flash_cards(key: PRNGKeyArray, env: FlashCards, n_starts: int) -> _Players:
    why = "Cards are independent, so that rewards say nothing of the next one."
    return {"guess": RewardOnly((-0.5,), "little", "exact", why)}


_PLAYERS: dict[type, Callable[..., _Players]] = {
    Autoencode: _autoencode,
    Battleship: _battleship,
    CartPole: _physics,
    CountRecall: _count_recall,
    FlashCards: _flash_cards,
    HigherLower: _higher_lower,
    Labyrinth: _labyrinth,
    Minesweeper: _minesweeper,
    MultiarmedBandit: _bandit,
    RepeatFirst: _repeat_first,
    RepeatPrevious: _repeat_previous,
    StatelessPendulum: _physics,
}
