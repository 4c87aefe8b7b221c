"""The best returns of every task of the package, each with its argument.

Two for each task: of a trial whose start is known from an earlier one, and of a first
trial (None where nothing is known).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
from jaxtyping import PRNGKeyArray

from freeproj.envs import (
    Autoencode,
    Battleship,
    Concentration,
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
from freeproj.envs.baselines import Ceiling
from freeproj.envs.cartpole import CartPole
from freeproj.envs.labyrinth import Labyrinth, LabyrinthEscape
from players.arms import thompson_returns
from players.blind import estimate_mean
from players.ceilings import (
    higher_lower_counting_cards,
    higher_lower_knowing_deck,
    minesweeper_first_trial,
    repeat_previous_perfect,
)
from players.concentration import best_first_trial
from players.controllers import balance_returns, cost_to_go, swing_up_returns
from players.mazes import known_maze_returns, wall_returns
from players.ships import hunting_returns

__all__ = ["find_ceilings"]

_Ceilings = tuple[Ceiling, Ceiling | None]
_N_GAMES = 2**11  # of players that are simulated in NumPy, or for long


def find_ceilings(key: PRNGKeyArray, env: Environment, n_trials: int) -> _Ceilings:
    """Return the best return of a trial whose start is known, and of a first one."""
    for kind, finder in _FINDERS.items():
        if isinstance(env, kind):
            return finder(key, env, n_trials)
    raise ValueError(
        f"`env` must be a task of this package, got {env.name}; its blind policies are "
        "measured by `blind_returns`."
    )


def _all_right(value: float, why: str) -> _Ceilings:
    """Return the ceilings of a task in which a first trial is as good as any."""
    return (best := Ceiling(value, "exact", why)), best


def _flash_cards(key: PRNGKeyArray, env: FlashCards, n_trials: int) -> _Ceilings:
    return _all_right(1.0, "Every answer can be right: the card lies open.")


def _repeat_first(key: PRNGKeyArray, env: RepeatFirst, n_trials: int) -> _Ceilings:
    return _all_right(1.0, "Every answer can be right: the suit was seen.")


def _repeat_previous(
    key: PRNGKeyArray, env: RepeatPrevious, n_trials: int
) -> _Ceilings:
    why = "Every answer that counts can be right; the first k count nothing."
    return _all_right(repeat_previous_perfect(env), why)


def _autoencode(key: PRNGKeyArray, env: Autoencode, n_trials: int) -> _Ceilings:
    return _all_right(1.0, "Every answer can be right: all cards were seen.")


def _count_recall(key: PRNGKeyArray, env: CountRecall, n_trials: int) -> _Ceilings:
    return _all_right(1.0, "Every answer can be right: all cards were seen.")


def _higher_lower(key: PRNGKeyArray, env: HigherLower, n_trials: int) -> _Ceilings:
    known = "Who knows the deck from an earlier trial is always right; ties earn 0."
    first = "Counting cards and guessing the likelier side; exact by summation."
    return (
        Ceiling(higher_lower_knowing_deck(), "exact", known),
        Ceiling(higher_lower_counting_cards(env.n_decks), "exact", first),
    )


def _minesweeper(key: PRNGKeyArray, env: Minesweeper, n_trials: int) -> _Ceilings:
    known = "Who knows the board from an earlier trial clicks all safe cells."
    best = Ceiling(1.0, "exact", known)
    if env.name != "Minesweeper":
        return best, None  # too many boards
    first = "Dynamic programming over all boards that agree with the counts."
    value = minesweeper_first_trial(env.side, env.n_mines)
    return best, Ceiling(value, "exact", first)


def _concentration(key: PRNGKeyArray, env: Concentration, n_trials: int) -> _Ceilings:
    known = "Who knows the cards from an earlier trial flips nothing but pairs."
    first = "The memory game with a perfect memory; exact by dynamic programming."
    return (
        Ceiling(1.0, "exact", known),
        Ceiling(best_first_trial(env), "exact", first),
    )


def _battleship(key: PRNGKeyArray, env: Battleship, n_trials: int) -> _Ceilings:
    known = "Who knows the ships from an earlier trial hits with every shot."
    player = "Shooting where most placements of the ships agree with hits and misses"
    return Ceiling(1.0, "exact", known), _reached(
        hunting_returns(key, env, _N_GAMES), player
    )


def _bandit(key: PRNGKeyArray, env: MultiarmedBandit, n_trials: int) -> _Ceilings:
    known = "Always the best arm: E[max of n uniform numbers] = n/(n+1)."
    value = (env.n_arms - 1) / (env.n_arms + 1)
    first = thompson_returns(env, _N_GAMES, n_trials=1)[0]
    return Ceiling(value, "bound", known), _reached(first, "Thompson sampling")


def _labyrinth(key: PRNGKeyArray, env: Labyrinth, n_trials: int) -> _Ceilings:
    key_known, key_first = jax.random.split(key)
    found = estimate_mean(known_maze_returns(key_known, env, n_trials))
    way = "way out" if isinstance(env, LabyrinthEscape) else "walk over all cells"
    why = f"The shortest {way} of a known maze, averaged over {n_trials} mazes."
    best = Ceiling(found.mean, "estimate", why, found.standard_error)
    first = wall_returns(key_first, env, _N_GAMES)
    return best, _reached(first, "Keeping a hand on the right wall")


def _cartpole(key: PRNGKeyArray, env: CartPole, n_trials: int) -> _Ceilings:
    reached = estimate_mean(balance_returns(key, env, n_trials))
    player = "A Kalman filter on what is seen with linear feedback"
    if math.isclose(reached.mean, 1.0, abs_tol=1e-6):
        why = f"No trial outlasts the limit. {player} always reaches it."
        return _all_right(1.0, why)
    first = Ceiling(
        reached.mean, "reached", f"{player} earns this.", reached.standard_error
    )
    why = "No trial outlasts the limit; who knows the start could reach it."
    return Ceiling(1.0, "bound", why), first


def _pendulum(key: PRNGKeyArray, env: StatelessPendulum, n_trials: int) -> _Ceilings:
    returns = swing_up_returns(key, env, _plan(env.max_steps), n_trials)
    reached = estimate_mean(returns)
    why = "Dynamic programming on a grid, played by one who sees the whole state."
    kind = "bound" if hasattr(env, "noise") else "estimate"
    return Ceiling(reached.mean, kind, why, reached.standard_error), None


@functools.cache
def _plan(horizon: int):
    return cost_to_go(horizon)


def _reached(returns: Any, player: str) -> Ceiling:
    found = estimate_mean(returns)
    return Ceiling(found.mean, "reached", f"{player} earns this.", found.standard_error)


_FINDERS: dict[type, Callable[..., _Ceilings]] = {
    Autoencode: _autoencode,
    Battleship: _battleship,
    CartPole: _cartpole,
    Concentration: _concentration,
    CountRecall: _count_recall,
    FlashCards: _flash_cards,
    HigherLower: _higher_lower,
    Labyrinth: _labyrinth,
    Minesweeper: _minesweeper,
    MultiarmedBandit: _bandit,
    RepeatFirst: _repeat_first,
    RepeatPrevious: _repeat_previous,
    StatelessPendulum: _pendulum,
}
