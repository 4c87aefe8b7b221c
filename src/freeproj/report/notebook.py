"""Runs in a notebook: `fp.Study("runs")`, with tables, curves, comparisons, a plot.

    study = fp.Study("runs")
    study                                    # how many runs, which axes
    study.table()                            # mean, interval and seeds of each cell
    study.compare({"projection.length": 4}, {"projection.length": 1})
    study.plot()

All methods refer to axes, the settings that differ between the runs. How a study is
written down and carried out is in `experiments.study`.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from freeproj.experiments.dataset import Dataset, read_dataset
from freeproj.experiments.measures import Cell, Curves
from freeproj.stats import Verdict, differences, interval, verdict

__all__ = ["Study", "StudyRow", "StudyTable"]


@dataclass(frozen=True)
class StudyRow:
    """What the seeds of one cell say together; nan where there is nothing to say."""

    cell: Cell
    mean: float
    low: float
    high: float
    seeds: int


@dataclass(frozen=True)
class StudyTable:
    """One row for each cell; shown as text, or as HTML in a notebook."""

    axes: tuple[str, ...]
    metric: str
    rows: tuple[StudyRow, ...]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return plain rows, e.g. for `pandas.DataFrame`."""
        names = ("mean", "low", "high", "seeds")
        return [
            dict(zip(self.axes, row.cell, strict=True))
            | {name: getattr(row, name) for name in names}
            for row in self.rows
        ]

    def __repr__(self) -> str:
        lines = [self._head(), *map(self._cells, self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) for cell, width in zip(line, widths, strict=True)
            )
            for line in lines
        )

    def _repr_html_(self) -> str:
        def line(tag: str, cells: list[str]) -> str:
            inner = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
            return f"<tr>{inner}</tr>"

        rows = "".join(line("td", self._cells(row)) for row in self.rows)
        return (
            f"<p>{html.escape(self.metric)}, mean over seeds with 95 % interval</p>"
            f"<table>{line('th', self._head())}{rows}</table>"
        )

    def _head(self) -> list[str]:
        return [*self.axes, "mean", "95 % interval", "seeds"]

    def _cells(self, row: StudyRow) -> list[str]:
        ends = "–" if math.isnan(row.low) else f"{row.low:.3f} to {row.high:.3f}"
        mean = "–" if math.isnan(row.mean) else f"{row.mean:.3f}"
        return [*map(str, row.cell), mean, ends, str(row.seeds)]


class Study:
    """The runs of one or several folders, and what may be said about them.

    Args:
        sources: folders of runs, files of a dataset, or `published:NAME`; or a dataset.
    """

    def __init__(self, *sources: str | Path | Dataset):
        (first, *more) = sources or ("runs",)
        if isinstance(first, Dataset):
            if more:
                raise ValueError("Give one dataset, or sources to read; not both.")
            self.dataset = first
        else:
            self.dataset = read_dataset(first, *more)  # pyright: ignore

    @property
    def axes(self) -> tuple[str, ...]:
        """The settings that differ between the runs."""
        return self.dataset.axes

    @property
    def metric(self) -> str:
        """The usual score: held-out return, every episode counted once."""
        maps = (
            self.dataset.runs[0].settings.get("evaluation.maps")
            if len(self.dataset)
            else None
        )
        return f"test/{(maps or ('tile',))[0]}/episodes/episode_return"

    def where(self, settings: Mapping[str, Any] | None = None, /, **more: Any) -> Study:
        """Return the study of the runs with these settings."""
        return Study(self.dataset.where(settings, **more))

    def table(self, metric: str = "", reduce: str = "last3") -> StudyTable:
        """Return mean, interval and number of seeds for each cell."""
        metric = metric or self.metric
        scores = self.dataset.scores(metric, reduce).by_cell()
        groups = self.dataset.group_by(*self.axes)
        return StudyTable(
            self.axes, metric, tuple(_row(cell, scores[cell]) for cell in groups)
        )

    def curves(self, metric: str = "") -> Curves:
        """Return values over updates, cell by cell."""
        return self.dataset.curves(metric or self.metric)

    def compare(
        self,
        first: Mapping[str, Any],
        second: Mapping[str, Any],
        metric: str = "",
        reduce: str = "last3",
        margin: float | None = None,
    ) -> Verdict:
        """Judge whether `first` is better than `second`, by pairs of equal seeds.

        Args:
            first: settings of one side, e.g. `{"projection.length": 4}`; all other axes
                are the cells that are compared.
            margin: a difference that does not matter.
        """
        if first.keys() != second.keys():
            raise ValueError(
                f"Both sides must name the same settings, got {', '.join(first)} and "
                f"{', '.join(second)}."
            )
        others = [axis for axis in self.axes if axis not in first]
        sides = [
            self._by_cell(side, others, metric or self.metric, reduce)
            for side in (first, second)
        ]
        shared = [cell for cell in sides[0] if cell in sides[1]]
        found: dict[Any, dict[int, float]] = {
            cell: differences(sides[0][cell], sides[1][cell]) for cell in shared
        }
        return verdict(found, margin)

    def plot(self, metric: str = "") -> Any:
        """Return a figure of the curves, a panel for each task; needs matplotlib."""
        from freeproj.report.figures.study_curves import draw_study_curves

        return draw_study_curves(self.curves(metric), metric or self.metric)

    def _by_cell(
        self, side: Mapping[str, Any], axes: list[str], metric: str, reduce: str
    ) -> dict[Cell, dict[int, float]]:
        chosen = self.dataset.where(side)
        if not len(chosen):
            raise ValueError(f"No run has {dict(side)}.")
        found: dict[Cell, dict[int, float]] = {}
        for cell, group in chosen.group_by(*axes).items():
            scores = group.scores(metric, reduce)
            if len(set(scores.seeds)) != len(scores.seeds):
                raise ValueError(
                    f"{dict(side)} leaves several runs of one seed; also name "
                    f"{', '.join(group.axes)}."
                )
            found[cell] = dict(
                zip(scores.seeds, map(float, scores.values), strict=True)
            )
        return found

    def __repr__(self) -> str:
        return repr(self.dataset).replace("Dataset", "Study", 1)

    def _repr_html_(self) -> str:
        return self.dataset._repr_html_().replace("Dataset", "Study", 1)


def _row(cell: Cell, scores: Mapping[int, float]) -> StudyRow:
    values = np.array(list(scores.values()), float)
    ends = interval(values) if values.size else None
    low, high = (ends.low, ends.high) if ends else (math.nan, math.nan)
    mean = float(values.mean()) if values.size else math.nan
    return StudyRow(cell, mean, low, high, values.size)
