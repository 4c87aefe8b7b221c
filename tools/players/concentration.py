"""The best first trial of Concentration: the memory game with a perfect memory.

What is left of a game is, for each kind, how many of its cards were never turned up and
whether one of them was seen and still waits for its mate. (Two cards of a kind that
were both seen are a pair at no cost, so they count as found.)
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from freeproj.envs import Concentration

__all__ = ["Failures", "best_first_trial", "fewest_failures"]

# For each kind: cards never turned up, and 1 if a card seen before waits for its mate.
_Left = tuple[tuple[int, int], ...]


class Failures(NamedTuple):
    """Failed tries of the best player: their mean, and the most that can happen."""

    mean: float
    most: int


def best_first_trial(env: Concentration) -> float:
    """Return 1 - E[failed tries]/n: a failed try costs two flips of 1/(2n)."""
    copies = env.n_cards // env.n_kinds
    failures = fewest_failures(((copies, 0),) * env.n_kinds)
    # n flips for the pairs and two for each failure: never more than the 2n allowed.
    assert 2 * failures.most <= env.n_cards
    return 1 - failures.mean / env.n_cards


@functools.cache
def fewest_failures(left: _Left) -> Failures:
    """Solve the game: begin a try with a new card, or with one that waits."""
    if not any(unseen for unseen, _ in left):
        return Failures(0.0, 0)
    choices = [_begin_with_new(left)]
    waiting = {each for each in left if each[1]}
    choices += [_turn_up_second(left, left.index(each)) for each in waiting]
    return min(choices)


def _begin_with_new(left: _Left) -> Failures:
    """Turn up a new card; its mate follows if it waits, else another new card."""
    outcomes = []
    for first, weight in _draws(left):
        after = _turned_up(left, first)
        if left[first][1]:
            outcomes.append((weight, fewest_failures(_sorted(after))))
        else:
            outcomes.append((weight, _turn_up_second(after, first)))
    return _mean(outcomes)


def _turn_up_second(left: _Left, waiting: int) -> Failures:
    """Turn up a new card beside an open one of the kind `waiting`."""
    outcomes = []
    for second, weight in _draws(left):
        follow = fewest_failures(_sorted(_turned_up(left, second)))
        failed = second != waiting
        outcomes.append((weight, Failures(follow.mean + failed, follow.most + failed)))
    return _mean(outcomes)


def _draws(left: _Left) -> list[tuple[int, float]]:
    """Return the kinds that a new card may have, with their probabilities."""
    total = sum(unseen for unseen, _ in left)
    return [(kind, unseen / total) for kind, (unseen, _) in enumerate(left) if unseen]


def _turned_up(left: _Left, kind: int) -> _Left:
    """Return what is left after a new card of a kind: it waits, or is paired."""
    unseen, waits = left[kind]
    return (*left[:kind], (unseen - 1, 1 - waits), *left[kind + 1 :])


def _sorted(left: _Left) -> _Left:
    return tuple(sorted(left))


def _mean(outcomes: list[tuple[float, Failures]]) -> Failures:
    mean = sum(weight * each.mean for weight, each in outcomes)
    return Failures(mean, max(each.most for _, each in outcomes))
