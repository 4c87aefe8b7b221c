"""Table 2: the best word length per task, memory and whatever else the runs vary.

The paper chooses ℓ* by the very score that it then reports. Here it is also chosen on
one half of the seeds and tested on the other, both ways.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import make_cells
from freeproj.findings.labels import axis_name, run_counts, short_value
from freeproj.findings.numbers import PAPER_LENGTHS
from freeproj.report.tables.grid import (
    NONE,
    NOTES,
    Column,
    Grid,
    number_text,
    span_text,
)
from freeproj.stats import half_choice

__all__ = ["LengthRecord", "length_records", "lengths_grid"]


@dataclass(frozen=True)
class LengthRecord:
    """The scores of all word lengths with the same other settings."""

    settings: dict[str, Any]  # without ℓ
    means: Mapping[int, float]  # over seeds
    n_seeds: Mapping[int, int]
    best: int | None
    chosen: str  # the best ℓ > 1 of each half of the seeds
    gain: float  # what it earns over ℓ = 1 on the other half
    paper: int | None  # by its test MMER

    def flat(self) -> dict[str, Any]:
        """Return plain columns; means and seeds as `ℓ:value` lists."""
        return {
            **self.settings,
            "best": self.best,
            "paper": self.paper,
            "means": " ".join(f"{k}:{v:.4g}" for k, v in self.means.items()),
            "seeds": " ".join(f"{k}:{v}" for k, v in self.n_seeds.items()),
            "chosen": self.chosen,
            "held_out_difference": self.gain,
        }


def length_records(
    dataset: Dataset, protocol: str = "projection"
) -> list[LengthRecord]:
    """Return the word lengths of every group of cells that differ in ℓ only."""
    cells = make_cells(dataset, protocol)
    records = []
    for by_length in cells.families().values():
        scores = {ell: cells.scores(key) for ell, key in sorted(by_length.items())}
        seen = {
            ell: [v for v in found.values() if not math.isnan(v)]
            for ell, found in scores.items()
        }
        means = {ell: float(np.mean(v)) for ell, v in seen.items() if v}
        free = {ell: found for ell, found in scores.items() if ell > 1}
        choice = half_choice(free, scores[1]) if free and 1 in scores else None
        choices = (ell for ell in choice.choices if ell is not None) if choice else ()
        settings = cells.settings(next(iter(by_length.values())), "projection.length")
        record = LengthRecord(
            settings=settings,
            means=means,
            n_seeds={ell: len(values) for ell, values in seen.items()},
            best=max(means, key=means.__getitem__) if means else None,
            chosen=" / ".join(map(str, choices)),
            gain=choice.mean if choice else math.nan,
            paper=PAPER_LENGTHS.get((str(settings["task"]), str(settings["memory"]))),
        )
        records.append(record)
    return records


def lengths_grid(records: Sequence[LengthRecord], dataset: Dataset) -> Grid:
    """Lay the lengths out: a row per group, a column per length."""
    lengths = sorted({ell for record in records for ell in record.n_seeds})
    axes = list(records[0].settings) if records else ["task"]
    columns = (
        *(Column(axis_name(axis), True) for axis in axes),
        *(Column("paper ℓ*"), Column("best ℓ")),
        *(Column(f"ℓ={ell}", rank=1) for ell in lengths),
        *(Column("ℓ by half", rank=2), Column("gain", rank=4), Column("seeds")),
    )
    rows = [
        (
            *(short_value(axis, record.settings[axis]) for axis in axes),
            *(str(record.paper or NONE), str(record.best or NONE)),
            *(number_text(record.means.get(ell, math.nan)) for ell in lengths),
            NONE if math.isnan(record.gain) else record.chosen,
            number_text(record.gain),
            span_text(record.n_seeds.values() or [0]),
        )
        for record in records
    ]
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row[0])]
    notes = [run_counts(dataset), *NOTES["lengths"].values()]
    return Grid("The best word length", columns, groups, notes)
