"""The best returns of the games, computed exactly.

In the paper's setting a trial starts again from the same deck or board, so from the
second trial on a player may know what is hidden; in the first one it must be inferred.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict

from freeproj.envs import RepeatPrevious
from freeproj.envs.cards import N_RANKS, N_SUITS

__all__ = [
    "higher_lower_counting_cards",
    "higher_lower_knowing_deck",
    "higher_lower_without_memory",
    "minesweeper_first_trial",
    "repeat_previous_perfect",
]


def repeat_previous_perfect(env: RepeatPrevious) -> float:
    """Return (n-1-k)/(n-k): of n - 1 answers the first k count nothing.

    POPGym's own task scales rewards so that this is 1.
    """
    return (env.max_steps - env.delay) / env.reward_scale


def higher_lower_knowing_deck() -> float:
    """Return 12/13, the mean return of answers that are all right.

    Only ties earn nothing. A next card ties with probability (4m-1)/(52m-1) in m decks,
    so 48m of the 52m - 1 answers are expected to count, each 1/(52m).
    """
    return (N_RANKS - 1) / N_RANKS


def higher_lower_without_memory(n_decks: int) -> float:
    """Return the mean return of guessing by the open card's rank alone."""
    n_cards = N_RANKS * N_SUITS * n_decks
    gain = _mean_gain(n_decks, n_cards - 1)
    return (n_cards - 1) * gain / n_cards


def higher_lower_counting_cards(n_decks: int) -> float:
    """Return the best possible mean return of a first trial.

    Answers do not change what is dealt, so the best one is greedy: with a higher and b
    lower cards among the m not yet seen it earns |a - b|/m on average, over n cards.
    """
    n_cards = N_RANKS * N_SUITS * n_decks
    gains = (_mean_gain(n_decks, unseen) for unseen in range(1, n_cards))
    return sum(gains) / n_cards


def minesweeper_first_trial(side: int, n_mines: int) -> float:
    """Return the best possible mean return on an unknown board.

    Dynamic programming over what is known: the cells seen and the boards that agree
    with their counts. Feasible for small boards only: the paper's takes half a second.
    """
    n_cells = side**2
    boards = math.comb(n_cells, n_mines)
    if boards > 1000:
        raise ValueError(
            f"`side` and `n_mines` give {boards} boards, too many to solve exactly; "
            "at most 1000 are."
        )
    mines = itertools.combinations(range(n_cells), n_mines)
    alive = tuple(sum(1 << cell for cell in board) for board in mines)
    return _minesweeper_value(side, n_cells - n_mines)(0, alive)


def _mean_gain(n_decks: int, n_unseen: int) -> float:
    """Return E|a - b|/m: of the n - 1 cards besides the open one, m are unseen.

    They are a uniform subset, so (a, b) is hypergeometric for each rank of the card.
    """
    copies = N_SUITS * n_decks
    total = 0.0
    for rank in range(N_RANKS):
        above, below, equal = copies * (N_RANKS - 1 - rank), copies * rank, copies - 1
        total += _mean_difference(above, below, equal, n_unseen)
    return total / N_RANKS / n_unseen


def _mean_difference(above: int, below: int, equal: int, drawn: int) -> float:
    """Return E|a - b| when `drawn` cards are taken from above + below + equal."""
    weight = 0
    for a in range(min(above, drawn) + 1):
        lowest = max(0, drawn - a - equal)
        for b in range(lowest, min(below, drawn - a) + 1):
            ways = math.comb(above, a) * math.comb(below, b)
            weight += abs(a - b) * ways * math.comb(equal, drawn - a - b)
    return weight / math.comb(above + below + equal, drawn)


def _minesweeper_value(side: int, n_safe: int):
    """Return the function (cells seen, boards left) -> best expected reward to come.

    Cells and boards are bit masks. A cell that no board left has a mine in is clicked
    at once: it pays, tells and takes none of the n_safe clicks from another cell.
    Clicking a seen cell to the end is the way out where the risk is too high.
    """
    n_cells = side**2
    found, lost, again = 1 / n_safe, -0.5 - 1 / n_safe, -0.5 / (n_safe - 2)
    near = [_neighbourhood(cell, side) for cell in range(n_cells)]

    @functools.cache
    def value(seen: int, alive: tuple[int, ...]) -> float:
        left = n_safe - seen.bit_count()
        if left == 0:
            return 0.0
        unseen = [cell for cell in range(n_cells) if not seen >> cell & 1]
        risky = functools.reduce(int.__or__, alive)
        safe = [cell for cell in unseen if not risky >> cell & 1]
        choices = safe[:1] or unseen
        best = max(click(cell, seen, alive) for cell in choices)
        return max(best, left * again)

    def click(cell: int, seen: int, alive: tuple[int, ...]) -> float:
        groups = defaultdict(list)
        for board in alive:
            if not board >> cell & 1:
                groups[(board & near[cell]).bit_count()].append(board)
        n_hit = len(alive) - sum(map(len, groups.values()))
        total = n_hit * lost
        for group in groups.values():
            total += len(group) * (found + value(seen | 1 << cell, tuple(group)))
        return total / len(alive)

    return value


def _neighbourhood(cell: int, side: int) -> int:
    """Return the bit mask of the 3 x 3 cells around a cell."""
    row, column = divmod(cell, side)
    rows = range(max(row - 1, 0), min(row + 2, side))
    columns = range(max(column - 1, 0), min(column + 2, side))
    return sum(1 << (r * side + c) for r in rows for c in columns)
