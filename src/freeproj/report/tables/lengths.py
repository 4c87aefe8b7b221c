"""Table 2: the best word length ℓ* per task and memory, ours beside the paper's.

The paper chooses ℓ* by test MMER, on the score that it then reports. Choices by
training returns stand beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from freeproj.report.paper.numbers import PAPER_LENGTHS
from freeproj.report.tables.grid import Grid
from freeproj.report.tables.results_grid import number_text
from freeproj.stats import CRITERIA, Cell, LengthChoice, as_table, best_lengths

__all__ = ["LengthRecord", "length_records", "lengths_grid"]


@dataclass(frozen=True)
class LengthRecord:
    """ℓ* of one task and memory by one criterion; None without data."""

    task: str
    memory: str
    by: str
    protocol: str
    counting: str
    length: int | None
    n_generators: int | None
    paper_length: int | None  # by test MMER
    means: Mapping[Cell, float]  # mean score over seeds, of each length
    n_seeds: Mapping[Cell, int]

    def flat(self) -> dict[str, Any]:
        """Returns plain columns, for CSV; means and seeds as `ℓ:value` lists."""
        fields = dict(vars(self))
        for name in ("means", "n_seeds"):
            values = fields[name].items()
            fields[name] = " ".join(f"{cell.length}:{value}" for cell, value in values)
        return fields


def length_records(
    table: Any, *, protocol: str = "projection", counting: str = "window"
) -> list[LengthRecord]:
    """Returns ℓ* by every criterion, for the paper's cells and the table's others."""
    table = as_table(table)
    choices = {
        by: best_lengths(table, by=by, protocol=protocol, counting=counting)
        for by in CRITERIA
    }
    ours = (pair for chosen in choices.values() for pair in chosen)
    pairs = dict.fromkeys((*PAPER_LENGTHS, *ours))
    return [
        _record(pair, by, chosen.get(pair), protocol, counting)
        for pair in pairs
        for by, chosen in choices.items()
    ]


def lengths_grid(records: Sequence[LengthRecord]) -> Grid:
    """Lays the choices out: a row per task and memory, a column per criterion."""
    lengths = sorted({cell.length for r in records for cell in r.means})
    columns = ("task", "memory", "paper ℓ*", "test MMER ℓ*", "train MMER ℓ*")
    columns += ("train raw ℓ*", *(f"at ℓ={each}" for each in lengths), "n")
    rows = [
        _row(list(group), lengths)
        for _, group in groupby(records, key=lambda r: (r.task, r.memory))
    ]
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row[1])]
    notes = [
        "ℓ* has the largest mean over seeds: of test MMER, as in the paper, which "
        "chooses on the score that it reports; or of the training returns.",
        "Means that differ by less than their spread over seeds choose by luck. At ℓ: "
        "mean test MMER. n: seeds with data, of each length.",
    ]
    if records:
        settings = f"{records[0].protocol}. Counting: {records[0].counting}."
        notes.insert(0, f"Held out: {settings}")
    return Grid("The best word length", columns, groups, notes, 2)


def _record(
    pair: tuple[str, str],
    by: str,
    choice: LengthChoice | None,
    protocol: str,
    counting: str,
) -> LengthRecord:
    best = choice.best if choice else None
    return LengthRecord(
        task=pair[0],
        memory=pair[1],
        by=by,
        protocol=protocol,
        counting=counting,
        length=best.length if best else None,
        n_generators=best.n_generators if best else None,
        paper_length=PAPER_LENGTHS.get(pair),
        means=choice.means if choice else {},
        n_seeds=choice.n_seeds if choice else {},
    )


def _row(records: list[LengthRecord], lengths: list[int]) -> tuple[str, ...]:
    by = {record.by: record for record in records}
    test = by["test-mmer"]
    means = {cell.length: mean for cell, mean in test.means.items()}
    counts = sorted(set(test.n_seeds.values())) or [0]
    return (
        test.task,
        test.memory,
        _length_text(test.paper_length),
        *(_length_text(by[name].length) for name in CRITERIA),
        *(number_text(means.get(length, float("nan"))) for length in lengths),
        "–".join(str(count) for count in dict.fromkeys((counts[0], counts[-1]))),
    )


def _length_text(length: int | None) -> str:
    return "—" if length is None else str(length)
