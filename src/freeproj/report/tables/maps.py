"""Returns per trial on every test map: what a study measured, cell by cell.

Beside a cell's scores stand MMER on the first map and the paper's own numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from freeproj.experiments.dataset import Dataset
from freeproj.experiments.measures import map_of
from freeproj.findings import labels
from freeproj.findings.cells import Cells, Key, make_cells
from freeproj.findings.figure_numbers import MAPS, trial_summary
from freeproj.findings.labels import number_text
from freeproj.findings.numbers import PAPER_RESULTS, Levels, PaperResult
from freeproj.report.tables import grid
from freeproj.report.tables.grid import NONE, Column, Grid, Row
from freeproj.stats.intervals import Summary, summarise

__all__ = ["MapRecord", "map_records", "maps_grid"]

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

    def per_trial(self, level: str) -> float:
        """Return a level of an episode, such as `chance`, for one trial."""
        return getattr(self.levels, level) / self.levels.n_trials

    def of_paper(self, score: str) -> float:
        """Return the paper's `raw` or `mmer` for one of its 16 trials; nan without."""
        return math.nan if self.paper is None else getattr(self.paper, score) / 16

    def flat(self) -> dict[str, Any]:
        """Return plain columns, for CSV and JSON."""
        fields = {**self.settings, "steps": self.steps}
        for name, each in {**self.maps, "mmer": self.mmer}.items():
            fields |= grid.flat_summary(name, each, "mean") | {f"{name}_seeds": each.n}
        for name in ("chance", "blind", "ceiling"):
            fields[name] = self.per_trial(name)
        for name in ("raw", "mmer"):
            fields[f"paper_{name}"] = self.of_paper(name)
        return fields


def map_records(dataset: Dataset) -> list[MapRecord]:
    """Return all cells of a dataset, of both protocols."""
    both = (make_cells(dataset, protocol) for protocol in ("projection", "task"))
    return [_record(cells, key) for cells in both for key in cells.runs]


def maps_grid(records: Sequence[MapRecord], dataset: Dataset) -> Grid:
    """Lay the records out task by task, a line for each cell."""
    played = dict.fromkeys(name for record in records for name in record.maps)
    maps = sorted(played, key=lambda n: MAPS.index(n) if n in MAPS else len(MAPS))
    axes = _shown_axes(records)
    heads = {name: labels.map_title(name).removesuffix(" projections") for name in maps}
    columns = (
        *(Column(labels.axis_name(axis), True) for axis in axes),
        Column("seeds"),
        *(Column(heads[name], rank=0 if name in _KEPT else 1) for name in maps),
        *(Column(f"{heads[name]} 95 %", rank=4) for name in maps),
        *(Column("MMER", rank=3), Column("paper", rank=2)),
        Column("paper's MMER", rank=3),
    )
    groups = []
    for _, found in groupby(records, key=lambda record: record.settings["task"]):
        group = list(found)
        heading = (_heading(group[0]), *[""] * (len(columns) - 1))
        groups.append([heading, *(_line(record, axes, maps) for record in group)])
    shown = {
        "score": True,
        "zero": "zero" in maps,
        "random": "random" in maps,
        "qr": any(r.settings.get("projection.family") == "qr" for r in records),
        "paper": any(each.paper for each in records),
    }
    told = " ".join(grid.NOTES["maps"][name] for name in shown if shown[name])
    notes = [told, labels.run_counts(dataset)]
    title = "Returns per trial: mean ± standard error over seeds"
    return Grid(title, columns, groups, notes)


def _record(cells: Cells, key: Key) -> MapRecord:
    levels, (first, *_) = cells.levels(key), cells.runs[key]
    told = [run.metrics.get("steps", np.zeros(0)) for run in cells.runs[key]]
    place = (cells.task(key), labels.method(cells.length(key)))
    projected = first.settings.get("observation", "projected") == "projected"
    tiled = projected and map_of(first).startswith("tile")  # as the paper's are
    paper = PAPER_RESULTS.get((*place, str(cells.get(key, "memory", "gru"))))
    return MapRecord(
        settings=cells.settings(key),
        maps={name: trial_summary(cells, key, name) for name in cells.maps(key)},
        mmer=trial_summary(cells, key, reduce="max"),
        steps=max((int(each.max()) for each in told if each.size), default=None),
        levels=levels,
        paper=paper if tiled else None,
    )


def _heading(record: MapRecord) -> str:
    names = {"chance": "chance", "blind": "best open-loop", "ceiling": "ceiling"}
    levels = {text: record.per_trial(name) for name, text in names.items()}
    known = [f"{text} {v:.2f}" for text, v in levels.items() if not math.isnan(v)]
    task = labels.task_title(str(record.settings["task"]))
    return f"{task} ({', '.join(known)})" if known else task


def _shown_axes(records: Sequence[MapRecord]) -> list[str]:
    """Return the axes that differ between lines; the word length always."""
    axes = dict.fromkeys(axis for record in records for axis in record.settings)
    values = {axis: {str(r.settings.get(axis)) for r in records} for axis in axes}
    varied = {axis for axis, found in values.items() if len(found) > 1} - {"task"}
    return [axis for axis in axes if axis in varied | {"projection.length"}]


def _line(record: MapRecord, axes: Sequence[str], maps: Sequence[str]) -> Row:
    found = [record.maps.get(name, summarise([])) for name in maps]
    return (
        *(labels.short_value(axis, record.settings.get(axis)) for axis in axes),
        str(max((each.n for each in record.maps.values()), default=0)),
        *(_estimate(each) for each in found),
        *(grid.interval_text(each) for each in found),
        _estimate(record.mmer),
        number_text(record.of_paper("raw")),
        number_text(record.of_paper("mmer")),
    )


def _estimate(summary: Summary) -> str:
    """Write a mean with its standard error; a dash without data."""
    if not summary.n:
        return NONE
    mean, error = number_text(summary.mean), summary.std / math.sqrt(summary.n)
    return mean if math.isnan(error) else f"{mean}±{error:.2f}"
