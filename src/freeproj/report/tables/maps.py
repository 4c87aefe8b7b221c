"""Returns per trial on every test map: what a study measured, cell by cell.

A cell's number is the mean over seeds of its last three evaluations, per trial, with
its standard error and its 95 % interval. Beside it stand MMER on the first map (the
paper's score, per trial) and the paper's own numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from freeproj.experiments.dataset import Dataset, RunRecord
from freeproj.experiments.measures import map_of
from freeproj.findings.baselines import Levels
from freeproj.findings.cells import Cells, Key, make_cells
from freeproj.findings.labels import (
    axis_name,
    map_title,
    method,
    run_counts,
    short_value,
    task_title,
)
from freeproj.findings.map_returns import MAPS, possible
from freeproj.findings.numbers import PAPER_RESULTS, PaperResult
from freeproj.report.tables.grid import NONE, Column, Grid, flat_summary, number_text
from freeproj.stats.intervals import Summary, summarise

__all__ = ["MapRecord", "interval_text", "map_records", "maps_grid"]

_PAPER_TRIALS = 16
_KEPT = ("tile_unit", "tile", "random", "zero")  # dropped last if not all maps fit


@dataclass(frozen=True)
class MapRecord:
    """One cell: its returns per trial by test map."""

    settings: dict[str, Any]  # by axis
    maps: dict[str, Summary]
    mmer: Summary  # on the first map
    steps: int | None  # environment steps in training
    levels: Levels
    paper: PaperResult | None

    def flat(self) -> dict[str, Any]:
        """Return plain columns, for CSV and JSON."""
        fields = {**self.settings, "steps": self.steps}
        for name, each in {**self.maps, "mmer": self.mmer}.items():
            fields |= flat_summary(name, each, "mean") | {f"{name}_seeds": each.n}
        trials = self.levels.n_trials
        return fields | {
            "chance": self.levels.chance / trials,
            "blind": self.levels.blind / trials,
            "ceiling": self.levels.ceiling / trials,
            "paper_raw": _of_paper(self.paper, "raw"),
            "paper_mmer": _of_paper(self.paper, "mmer"),
        }


def map_records(dataset: Dataset, protocol: str = "") -> list[MapRecord]:
    """Return all cells of a dataset; of both protocols unless one is named."""
    protocols = [protocol] if protocol else ["projection", "task"]
    return [
        _record(cells, key)
        for cells in (make_cells(dataset, each) for each in protocols)
        for key in cells.runs
    ]


def maps_grid(records: Sequence[MapRecord], dataset: Dataset) -> Grid:
    """Lay the records out task by task, a line for each cell."""
    maps = _ordered_maps(records)
    axes = _shown_axes(records)
    columns = (
        *(Column(axis_name(axis), True) for axis in axes),
        Column("seeds"),
        *(Column(_head(name), rank=0 if name in _KEPT else 1) for name in maps),
        *(Column(f"{_head(name)} 95 %", rank=4) for name in maps),
        Column("MMER", rank=3),
        Column("paper", rank=2),
        Column("paper's MMER", rank=3),
    )
    groups = []
    for _, found in groupby(records, key=lambda record: record.settings["task"]):
        rows = list(found)
        lines = [_line(row, axes, maps) for row in rows]
        groups.append([_heading(rows[0], len(columns)), *lines])
    return Grid(
        "Returns per trial: mean ± standard error over seeds",
        columns,
        groups,
        [
            "Last three evaluations of each run; blanked: the observation replaced by "
            "zeros; random: random projections, new ones for every evaluation; QR: "
            "without the sign correction.",
            *_paper_notes(records),
            run_counts(dataset),
        ],
    )


def _estimate(summary: Summary) -> str:
    """Write a mean with its standard error; a dash without data."""
    if not summary.n:
        return NONE
    mean, error = number_text(summary.mean), summary.std / math.sqrt(summary.n)
    return mean if math.isnan(error) else f"{mean}±{error:.2f}"


def interval_text(summary: Summary) -> str:
    """Write the 95 % interval; a dash below three seeds."""
    if summary.interval is None:
        return NONE
    low, high = map(number_text, summary.interval[:2])
    return f"[{low}, {high}]"


def _record(cells: Cells, key: Key) -> MapRecord:
    levels = cells.levels(key)

    def per_trial(scores: dict[int, float]) -> Summary:
        values = [score / levels.n_trials for score in scores.values()]
        return possible(summarise(values), levels.ceiling / levels.n_trials)

    return MapRecord(
        settings=cells.settings(key),
        maps={name: per_trial(cells.scores(key, name)) for name in cells.maps(key)},
        mmer=per_trial(cells.scores(key, reduce="max")),
        steps=_steps(cells.runs[key]),
        levels=levels,
        paper=_paper_row(cells, key),
    )


def _steps(runs: Sequence[RunRecord]) -> int | None:
    """Return the most steps of any run; None if the runs do not say."""
    told = [run.metrics["steps"] for run in runs if "steps" in run.metrics]
    return max((int(each.max()) for each in told if each.size), default=None)


def _paper_row(cells: Cells, key: Key) -> PaperResult | None:
    """Return the paper's row for a cell scored on a tiled map, as the paper's are."""
    run = cells.runs[key][0]
    looks = run.settings.get("observation", "projected") == "projected"
    if not (looks and map_of(run).startswith("tile")):
        return None
    memory = str(cells.get(key, "memory", "gru"))
    return PAPER_RESULTS.get((cells.task(key), method(cells.length(key)), memory))


def _ordered_maps(records: Sequence[MapRecord]) -> list[str]:
    played = dict.fromkeys(name for record in records for name in record.maps)
    known = [name for name in MAPS if name in played]
    return known + [name for name in played if name not in known]


def _shown_axes(records: Sequence[MapRecord]) -> list[str]:
    """Return the axes that differ between lines; the word length always."""
    axes = dict.fromkeys(axis for record in records for axis in record.settings)
    values = {axis: {str(r.settings.get(axis)) for r in records} for axis in axes}
    varied = {axis for axis, found in values.items() if len(found) > 1} - {"task"}
    return [axis for axis in axes if axis in varied | {"projection.length"}]


def _heading(record: MapRecord, width: int) -> tuple[str, ...]:
    levels, trials = record.levels, record.levels.n_trials
    names = {"chance": "chance", "blind": "best open-loop", "ceiling": "ceiling"}
    said = {text: getattr(levels, name) / trials for name, text in names.items()}
    known = [f"{name} {v:.2f}" for name, v in said.items() if not math.isnan(v)]
    title = task_title(str(record.settings["task"]))
    text = f"{title} ({', '.join(known)})" if known else title
    return (text, *[""] * (width - 1))


def _line(
    record: MapRecord, axes: Sequence[str], maps: Sequence[str]
) -> tuple[str, ...]:
    nothing = summarise([])
    found = [record.maps.get(name, nothing) for name in maps]
    return (
        *(short_value(axis, record.settings.get(axis)) for axis in axes),
        str(max((each.n for each in record.maps.values()), default=0)),
        *(_estimate(each) for each in found),
        *(interval_text(each) for each in found),
        _estimate(record.mmer),
        number_text(_of_paper(record.paper, "raw")),
        number_text(_of_paper(record.paper, "mmer")),
    )


def _head(name: str) -> str:
    return map_title(name).replace("random projections", "random")


def _of_paper(paper: PaperResult | None, score: str) -> float:
    return math.nan if paper is None else getattr(paper, score).mean / _PAPER_TRIALS


def _paper_notes(records: Sequence[MapRecord]) -> list[str]:
    if not any(record.paper for record in records):
        return []
    return [
        "paper: Table 1, raw value / 16 (RP for ℓ = 1, else FRP); MMER: the largest "
        "evaluation of a run on its first map, / trials."
    ]
