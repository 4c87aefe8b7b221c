"""Exact ceilings against slow plain versions and simulated players."""

import functools
import itertools

import numpy as np
import pytest

from freeproj.envs import make
from players.ceilings import (
    higher_lower_counting_cards,
    higher_lower_knowing_deck,
    higher_lower_without_memory,
    minesweeper_first_trial,
    repeat_previous_perfect,
)


def test_a_perfect_repeat_previous_misses_one_of_48():
    assert repeat_previous_perfect(make("RepeatPrevious")) == 47 / 48
    assert repeat_previous_perfect(make("popgym-RepeatPrevious-v0")) == 1


@pytest.mark.parametrize("n_decks", [1, 2])
def test_counting_cards_earns_what_the_sum_says(n_decks):
    rng = np.random.default_rng(0)
    cards = np.tile(np.arange(52), n_decks)
    returns = [count_cards(rng.permutation(cards) // 4) for _ in range(600)]
    error = np.std(returns) / np.sqrt(len(returns))
    assert abs(np.mean(returns) - higher_lower_counting_cards(n_decks)) < 4 * error


def count_cards(ranks):
    """Plays one deck by guessing the side on which more unseen cards lie."""
    total = 0
    for time in range(len(ranks) - 1):
        unseen = ranks[time + 1 :]
        higher = (unseen > ranks[time]).sum() >= (unseen < ranks[time]).sum()
        outcome = np.sign(ranks[time + 1] - ranks[time])
        total += outcome if higher else -outcome
    return total / len(ranks)


def test_knowing_more_earns_more():
    without, counting = higher_lower_without_memory(1), higher_lower_counting_cards(1)
    assert 0 < without < counting < higher_lower_knowing_deck()
    # By rank alone: E|12 - 2r|·4/51 a guess, 51 guesses of 1/52.
    assert without == pytest.approx(84 / 13 * 4 / 52)


@pytest.mark.parametrize(("side", "n_mines"), [(2, 1), (3, 1)])
def test_minesweeper_agrees_with_search_over_all_plays(side, n_mines):
    assert minesweeper_first_trial(side, n_mines) == pytest.approx(
        search(side, n_mines)
    )


def search(side, n_mines):
    """The best mean return by plain search: any cell at any time, seen ones too."""
    cells = list(itertools.product(range(side), repeat=2))
    n_safe = len(cells) - n_mines

    @functools.cache
    def value(seen, alive, time):
        if time == n_safe or len(seen) == n_safe:
            return 0.0
        return max(click(cell, seen, alive, time) for cell in cells)

    def click(cell, seen, alive, time):
        if cell in seen:
            return -0.5 / (n_safe - 2) + value(seen, alive, time + 1)
        total, groups = 0.0, {}
        for board in alive:
            if cell in board:
                total -= 0.5 + 1 / n_safe
            else:
                count = sum(abs(r - cell[0]) < 2 > abs(c - cell[1]) for r, c in board)
                groups.setdefault(count, []).append(board)
        for group in groups.values():
            then = value(seen | {cell}, tuple(group), time + 1)
            total += len(group) * (1 / n_safe + then)
        return total / len(alive)

    boards = tuple(map(frozenset, itertools.combinations(cells, n_mines)))
    return value(frozenset(), boards, 0)


def test_the_papers_board_in_a_first_trial():
    assert minesweeper_first_trial(4, 2) == pytest.approx(0.766071, abs=1e-6)


def test_a_board_too_large_is_refused():
    with pytest.raises(ValueError, match="1947792 boards, too many"):
        minesweeper_first_trial(6, 6)
