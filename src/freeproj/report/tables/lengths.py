"""Table 2: the best word length per task, memory and whatever else the runs vary.

The paper chooses ℓ* by the very score that it then reports. Here it is also chosen on
one half of the seeds and tested on the other, both ways.
"""

from __future__ import annotations

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
from freeproj.report.tables.grid import NONE, Column, Grid, number_text
from freeproj.stats import HalfChoice, half_choice

__all__ = ["LengthRecord", "length_records", "lengths_grid"]


@dataclass(frozen=True)
class LengthRecord:
    """The scores of all word lengths with the same other settings."""

    settings: dict[str, Any]  # without ℓ
    means: Mapping[int, float]  # over seeds
    n_seeds: Mapping[int, int]
    best: int | None
    choice: HalfChoice | None  # of ℓ > 1 against ℓ = 1
    paper: int | None  # by its test MMER

    def flat(self) -> dict[str, Any]:
        """Return plain columns; means and seeds as `ℓ:value` lists."""
        return {
            **self.settings,
            "best": self.best,
            "paper": self.paper,
            "means": " ".join(f"{k}:{v:.4g}" for k, v in self.means.items()),
            "seeds": " ".join(f"{k}:{v}" for k, v in self.n_seeds.items()),
            "chosen": "" if self.choice is None else _chosen(self.choice),
            "held_out_difference": self.choice.mean if self.choice else math.nan,
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
        settings = cells.settings(next(iter(by_length.values())), "projection.length")
        records.append(
            LengthRecord(
                settings,
                means,
                {ell: len(values) for ell, values in seen.items()},
                max(means, key=means.__getitem__) if means else None,
                half_choice(free, scores[1]) if free and 1 in scores else None,
                PAPER_LENGTHS.get((str(settings["task"]), str(settings["memory"]))),
            )
        )
    return records


def lengths_grid(records: Sequence[LengthRecord], dataset: Dataset) -> Grid:
    """Lay the lengths out: a row per group, a column per length."""
    lengths = sorted({ell for record in records for ell in record.n_seeds})
    axes = list(records[0].settings) if records else ["task"]
    columns = (
        *(Column(axis_name(axis), True) for axis in axes),
        Column("paper ℓ*"),
        Column("best ℓ"),
        *(Column(f"ℓ={ell}", rank=1) for ell in lengths),
        Column("ℓ by half", rank=2),
        Column("gain", rank=4),
        Column("seeds"),
    )
    rows = [_row(record, axes, lengths) for record in records]
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row[0])]
    notes = [
        run_counts(dataset),
        "Columns ℓ=1 and so on: mean return of the last three held-out evaluations. "
        "Best ℓ: the one with the largest mean; where means differ by less than their "
        "spread over seeds, that is chance.",
        "ℓ by half: the best ℓ > 1, chosen on each half of the seeds. Gain: what it "
        "earns over ℓ = 1 on the other half.",
    ]
    return Grid("The best word length", columns, groups, notes)


def _row(
    record: LengthRecord, axes: Sequence[str], lengths: Sequence[int]
) -> tuple[str, ...]:
    choice = record.choice
    tested = choice is not None and not math.isnan(choice.mean)
    counts = sorted(set(record.n_seeds.values())) or [0]
    return (
        *(short_value(axis, record.settings[axis]) for axis in axes),
        str(record.paper or NONE),
        str(record.best or NONE),
        *(number_text(record.means.get(ell, math.nan)) for ell in lengths),
        _chosen(choice) if choice and tested else NONE,
        number_text(choice.mean) if choice and tested else NONE,
        "–".join(str(n) for n in dict.fromkeys((counts[0], counts[-1]))),
    )


def _chosen(choice: HalfChoice) -> str:
    return " / ".join(str(ell) for ell in choice.choices if ell is not None)
