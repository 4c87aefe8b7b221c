"""From evaluations to one number per seed, and to the best word length.

MMER is the maximum over updates of the mean episodic return, raw the last update's
(paper 4.2, appendix D.8). MMER is a maximum over noisy evaluations: it exceeds what the
agent earns on average, the more so the more evaluations there were. `freeproj.stats`
tells by how much (`chance_mmer`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from freeproj.stats.table import CHOICES, Table, as_table

__all__ = [
    "CRITERIA",
    "Cell",
    "LengthChoice",
    "SeedScore",
    "best_lengths",
    "group_by_cell",
    "seed_scores",
]

# How ℓ* may be chosen: the split and the score whose mean over seeds is largest.
CRITERIA = {
    "test-mmer": ("test", "mmer"),  # the paper's, which chooses on what it reports
    "train-mmer": ("train", "mmer"),
    "train-raw": ("train", "raw"),
}


class Cell(NamedTuple):
    """What the seeds of one group share."""

    task: str
    memory: str
    n_generators: int
    length: int


@dataclass(frozen=True)
class SeedScore:
    """One run in numbers; `mmer` and `raw` are nan where there was no data for them."""

    cell: Cell
    seed: int
    mmer: float  # nan when no evaluation had data
    raw: float  # nan when the last evaluation had none
    last_update: int
    n_evaluations: int
    n_with_data: int
    n_finished: int  # episodes, over all evaluations
    n_unfinished: int


@dataclass(frozen=True)
class LengthChoice:
    """ℓ* of a task and a memory, with what it was chosen by and from."""

    task: str
    memory: str
    by: str
    best: Cell | None  # None when no length had data
    means: dict[Cell, float]  # over seeds with data; nan without
    n_seeds: dict[Cell, int]  # seeds with data

    @property
    def length(self) -> int | None:
        """ℓ*, or None."""
        return self.best.length if self.best else None


def seed_scores(
    table: Any,
    *,
    split: str = "test",
    protocol: str = "projection",
    counting: str = "window",
) -> list[SeedScore]:
    """Returns MMER and raw of every run, of one split, protocol and way to count.

    Splits, protocols and ways to count are never mixed.
    """
    wanted = {"split": split, "protocol": protocol, "counting": counting}
    for name, value in wanted.items():
        if value not in CHOICES[name]:
            raise ValueError(
                f"`{name}` must be one of {', '.join(CHOICES[name])}, got {value!r}."
            )
    table = as_table(table).where(**wanted)
    key = ("update", "seed", "length", "n_generators", "memory", "task")
    table = table.take(np.lexsort([getattr(table, name) for name in key]))
    new_run = np.zeros(len(table), bool)
    new_run[:1] = True
    for name in key[1:]:
        new_run[1:] |= getattr(table, name)[1:] != getattr(table, name)[:-1]
    bounds = [*np.flatnonzero(new_run).tolist(), len(table)]
    return [_score_run(table, slice(start, end)) for start, end in pairwise(bounds)]


def group_by_cell(scores: Iterable[SeedScore]) -> dict[Cell, list[SeedScore]]:
    """Collects the seeds of each cell, in order."""
    groups: dict[Cell, list[SeedScore]] = {}
    for score in scores:
        groups.setdefault(score.cell, []).append(score)
    return groups


def best_lengths(
    table: Any,
    *,
    by: str = "test-mmer",
    only_free: bool = False,
    protocol: str = "projection",
    counting: str = "window",
) -> dict[tuple[str, str], LengthChoice]:
    """Returns ℓ* for every (task, memory): the length of the largest mean over seeds.

    The paper chooses by test MMER, that is on the numbers which it then reports, so its
    FRP is the luckiest of several; the criteria on training returns are free of that.
    Equal means go to the shorter word.

    Args:
        by: one of `CRITERIA`.
        only_free: leave ℓ = 1 out, for a comparison of FRP with RP.
    """
    if by not in CRITERIA:
        raise ValueError(f"`by` must be one of {', '.join(CRITERIA)}, got {by!r}.")
    split, score = CRITERIA[by]
    if split == "train":
        counting = "window"  # training has one way to count: what ended meanwhile
    scores = seed_scores(table, split=split, protocol=protocol, counting=counting)
    pairs: dict[tuple[str, str], dict[Cell, np.ndarray]] = {}
    for cell, seeds in group_by_cell(scores).items():
        if only_free and cell.length == 1:
            continue
        values = np.array([getattr(each, score) for each in seeds])
        pairs.setdefault((cell.task, cell.memory), {})[cell] = values
    return {pair: _choose(pair, by, cells) for pair, cells in pairs.items()}


def _score_run(table: Table, rows: slice) -> SeedScore:
    """Scores one run, whose rows are neighbours in the order of updates."""
    returns = table.mean_return[rows]
    seen = returns[~np.isnan(returns)]
    first = rows.start
    cell = Cell(
        str(table.task[first]),
        str(table.memory[first]),
        int(table.n_generators[first]),
        int(table.length[first]),
    )
    return SeedScore(
        cell=cell,
        seed=int(table.seed[first]),
        mmer=float(seen.max()) if seen.size else float("nan"),
        raw=float(returns[-1]),
        last_update=int(table.update[rows][-1]),
        n_evaluations=returns.size,
        n_with_data=seen.size,
        n_finished=int(table.n_finished[rows].sum()),
        n_unfinished=int(table.n_unfinished[rows].sum()),
    )


def _choose(
    pair: tuple[str, str], by: str, cells: dict[Cell, np.ndarray]
) -> LengthChoice:
    ordered = sorted(cells, key=lambda cell: (cell.length, cell.n_generators))
    seen = {cell: cells[cell][~np.isnan(cells[cell])] for cell in ordered}
    with_data = [cell for cell in ordered if seen[cell].size]
    return LengthChoice(
        task=pair[0],
        memory=pair[1],
        by=by,
        best=max(with_data, key=lambda cell: seen[cell].mean(), default=None),
        means={c: float(v.mean()) if v.size else np.nan for c, v in seen.items()},
        n_seeds={cell: values.size for cell, values in seen.items()},
    )
