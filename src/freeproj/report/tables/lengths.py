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
from freeproj.findings import labels
from freeproj.findings.cells import make_cells
from freeproj.findings.labels import number_text
from freeproj.findings.numbers import PAPER_LENGTHS
from freeproj.report.tables import grid
from freeproj.report.tables.grid import NONE, Column, Grid
from freeproj.stats import Summary, half_choice, summarise

__all__ = ["LengthRecord", "make_grid", "records"]


@dataclass(frozen=True)
class LengthRecord:
    """The scores of all word lengths with the same other settings."""

    settings: dict[str, Any]  # without ℓ
    scores: Mapping[int, Summary]  # over seeds
    best: int | None  # the length with the largest mean
    paper: int | None  # the paper's ℓ*, by its test MMER
    chosen: str  # the best ℓ > 1 of each half of the seeds
    gain: float  # of these over ℓ = 1, on the other half

    def flat(self) -> dict[str, Any]:
        """Return plain columns; means and seeds as `ℓ:value` lists."""
        scores = self.scores.items()
        return {
            **self.settings,
            **{"best": self.best, "paper": self.paper},
            "means": " ".join(f"{ell}:{s.mean:.4g}" for ell, s in scores if s.n),
            "seeds": " ".join(f"{ell}:{s.n}" for ell, s in scores),
            **{"chosen": self.chosen, "held_out_difference": self.gain},
        }


def records(dataset: Dataset) -> list[LengthRecord]:
    """Return the word lengths of every group of cells that differ in ℓ only."""
    cells, found = make_cells(dataset), []
    for keys in cells.families().values():
        scores = {ell: cells.scores(key) for ell, key in sorted(keys.items())}
        longer = {ell: each for ell, each in scores.items() if ell > 1}
        chosen, gain = "", math.nan
        if longer and 1 in scores:
            choice = half_choice(longer, scores[1])
            chosen = " / ".join(str(ell) for ell in choice.choices if ell is not None)
            gain = choice.mean
        settings = cells.settings(next(iter(keys.values())), "projection.length")
        means = {ell: summarise([*each.values()]) for ell, each in scores.items()}
        seen = {ell: each.mean for ell, each in means.items() if each.n}
        best = max(seen, key=seen.__getitem__) if seen else None
        paper = PAPER_LENGTHS.get((str(settings["task"]), str(settings["memory"])))
        found.append(LengthRecord(settings, means, best, paper, chosen, gain))
    return found


def make_grid(records: Sequence[LengthRecord], dataset: Dataset) -> Grid:
    """Lay the lengths out: a row per group, a column per length."""
    lengths = sorted({ell for record in records for ell in record.scores})
    axes, none = list(records[0].settings), summarise([])
    columns = (
        *(Column(labels.axis_name(axis), True) for axis in axes),
        *(Column("paper ℓ*"), Column("best ℓ")),
        *(Column(f"ℓ={ell}", rank=1) for ell in lengths),
        *(Column("ℓ by half", rank=2), Column("gain", rank=4), Column("seeds")),
    )
    rows = [
        (
            *(labels.short_value(axis, record.settings[axis]) for axis in axes),
            *(str(record.paper or NONE), str(record.best or NONE)),
            *(number_text(record.scores.get(ell, none).mean) for ell in lengths),
            NONE if math.isnan(record.gain) else record.chosen,
            number_text(record.gain),
            labels.span_text(each.n for each in record.scores.values()),
        )
        for record in records
    ]
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row[0])]
    notes = [labels.run_counts(dataset), *grid.NOTES["lengths"].values()]
    return Grid("The best word length", columns, groups, notes)
