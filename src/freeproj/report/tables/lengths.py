"""Table 2: the best word length per task, memory and whatever else the runs vary.

The paper chooses ℓ* by the very score that it then reports. Here it is also chosen on
one half of the seeds and tested on the other, both ways.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import make_cells
from freeproj.findings.labels import axis_name, run_counts, short_value
from freeproj.findings.numbers import PAPER_LENGTHS
from freeproj.report.tables import grid
from freeproj.report.tables.grid import NONE, Column, Grid, number_text
from freeproj.stats import HalfChoice, Summary, half_choice, summarise

__all__ = ["LengthRecord", "make_grid", "records"]


@dataclass(frozen=True)
class LengthRecord:
    """The scores of all word lengths with the same other settings."""

    settings: dict[str, Any]  # without ℓ
    scores: Mapping[int, Summary]  # over seeds
    choice: HalfChoice  # of the best ℓ > 1; its gains are those over ℓ = 1

    @property
    def paper(self) -> int | None:
        """The paper's ℓ*, by its test MMER."""
        task, memory = self.settings["task"], self.settings["memory"]
        return PAPER_LENGTHS.get((str(task), str(memory)))

    @property
    def best(self) -> int | None:
        """The length with the largest mean."""
        means = {ell: each.mean for ell, each in self.scores.items() if each.n}
        return max(means, key=means.__getitem__) if means else None

    @property
    def chosen(self) -> str:
        """The best ℓ > 1 of each half of the seeds."""
        return " / ".join(str(ell) for ell in self.choice.choices if ell is not None)

    def flat(self) -> dict[str, Any]:
        """Return plain columns; means and seeds as `ℓ:value` lists."""
        scores = self.scores.items()
        return {
            **self.settings,
            "best": self.best,
            "paper": self.paper,
            "means": " ".join(f"{ell}:{s.mean:.4g}" for ell, s in scores if s.n),
            "seeds": " ".join(f"{ell}:{s.n}" for ell, s in scores),
            "chosen": self.chosen,
            "held_out_difference": self.choice.mean,
        }


def records(dataset: Dataset, protocol: str = "projection") -> list[LengthRecord]:
    """Return the word lengths of every group of cells that differ in ℓ only."""
    cells = make_cells(dataset, protocol)
    found = []
    for keys in cells.families().values():
        scores = {ell: cells.scores(key) for ell, key in sorted(keys.items())}
        longer = {ell: each for ell, each in scores.items() if ell > 1}
        choice = HalfChoice((None, None), {})
        if longer and 1 in scores:
            choice = half_choice(longer, scores[1])
        settings = cells.settings(next(iter(keys.values())), "projection.length")
        means = {ell: summarise([*each.values()]) for ell, each in scores.items()}
        found.append(LengthRecord(settings, means, choice))
    return found


def make_grid(records: Sequence[LengthRecord], dataset: Dataset) -> Grid:
    """Lay the lengths out: a row per group, a column per length."""
    lengths = sorted({ell for record in records for ell in record.scores})
    axes = list(records[0].settings) if records else ["task"]
    columns = (
        *(Column(axis_name(axis), True) for axis in axes),
        *(Column("paper ℓ*"), Column("best ℓ")),
        *(Column(f"ℓ={ell}", rank=1) for ell in lengths),
        *(Column("ℓ by half", rank=2), Column("gain", rank=4), Column("seeds")),
    )
    rows = []
    for record in records:
        means = {ell: each.mean for ell, each in record.scores.items()}
        gain = number_text(record.choice.mean)
        row = (
            *(short_value(axis, record.settings[axis]) for axis in axes),
            *(str(record.paper or NONE), str(record.best or NONE)),
            *(number_text(means.get(ell, math.nan)) for ell in lengths),
            *(NONE if gain == NONE else record.chosen, gain),
            grid.span_text(each.n for each in record.scores.values()),
        )
        rows.append(row)
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row[0])]
    notes = [run_counts(dataset), *grid.NOTES["lengths"].values()]
    return Grid("The best word length", columns, groups, notes)
