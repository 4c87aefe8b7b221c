"""Runs in a notebook: `fp.Study("runs")`, with tables, curves, comparisons, a plot.

    study = fp.Study("runs")
    study                                    # how many runs, which axes
    study.table()                # mean, interval and seeds of each configuration
    study.compare({"projection.length": 4}, {"projection.length": 1})
    study.plot()

Axes are the settings that differ between the runs.
"""

import html
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from freeproj.experiments import measures
from freeproj.experiments.dataset import Dataset, RunRecord, read_dataset
from freeproj.experiments.measures import Cell, Curves, length_of, map_of
from freeproj.findings.answers import Answer
from freeproj.findings.claims import CLAIMS, ask_apart
from freeproj.findings.comparing import compare
from freeproj.findings.labels import map_title, number_text
from freeproj.findings.questions import Question, Settings
from freeproj.published import load
from freeproj.stats.intervals import summarise

__all__ = ["Study", "StudyRow", "StudyTable"]


class StudyRow(NamedTuple):
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
        names = (*self.axes, *StudyRow._fields[1:])
        return [dict(zip(names, (*r.cell, *r[1:]), strict=True)) for r in self.rows]

    def __repr__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ("  ".join(map(str.ljust, line, widths)) for line in lines)
        return "\n".join([f"{self.metric}, mean over seeds", *rows])

    def _repr_html_(self) -> str:
        head, *lines = ([html.escape(cell) for cell in line] for line in self._lines())
        rows = "".join(f"<tr><td>{'</td><td>'.join(line)}</td></tr>" for line in lines)
        rows = f"<tr><th>{'</th><th>'.join(head)}</th></tr>{rows}"
        told = f"{html.escape(self.metric)}, mean over seeds with 95 % interval"
        return f"<p>{told}</p><table>{rows}</table>"

    def _lines(self) -> list[list[str]]:
        lines = [[*self.axes, "mean", "95 % interval", "seeds"]]
        for row in self.rows:
            ends = "–" if math.isnan(row.low) else f"{row.low:.3f} to {row.high:.3f}"
            mean = number_text(row.mean, 3)
            lines.append([*map(str, row.cell), mean, ends, str(row.seeds)])
        return lines


class Study:
    """The runs of folders, files, `published:NAME` or a dataset; what they say."""

    def __init__(self, *sources: str | Path | Dataset):
        (first, *more) = sources or ("runs",)
        if isinstance(first, Dataset) and more:
            raise ValueError("Give one dataset, or sources to read; not both.")
        given = isinstance(first, Dataset)
        self.dataset = first if given else read_dataset(first, *more)  # pyright: ignore

    @property
    def axes(self) -> tuple[str, ...]:
        """The settings that differ between the runs."""
        return self.dataset.axes

    @classmethod
    def published(cls, *names: str) -> "Study":
        """Return published studies, all of them by default."""
        return cls(load(*names))

    def where(self, settings: Settings | None = None, /, **more: Any) -> "Study":
        """Return the study of the runs with these settings."""
        return Study(self.dataset.where(settings, **more))

    def table(
        self, on: str = "", *, metric: str = "", reduce: str = "last3"
    ) -> StudyTable:
        """Return mean, interval and number of seeds for each configuration.

        Args:
            on: the test projection; by default random ones, else the first.
            metric: another column of the logs; as it is, not per trial.
        """
        on = on or self.dataset.test_map
        what = metric or f"return per trial on {map_title(on)}"

        def value(run: RunRecord) -> float:
            column = metric or measures.metric_of(map_of(run, on))
            n_trials = 1 if metric else length_of(run.settings, on)
            return measures.score(run, column, reduce) / n_trials

        rows = []
        for cell, group in self.dataset.group_by(*self.axes).items():
            found = summarise(list(map(value, group.runs)))
            rows.append(StudyRow(cell, found.mean, *found.ends, found.n))
        if metric:
            self.dataset.scores(metric)  # refuses a name that no run has
        return StudyTable(self.axes, what, tuple(rows))

    def curves(self, metric: str = "") -> Curves:
        """Return values over updates, cell by cell."""
        return self.dataset.curves(metric)

    def compare(self, first: Settings, second: Settings, **how: Any) -> Answer:
        """Ask whether `first` earns more than `second`, by pairs of equal seeds.

        Both sides are settings, e.g. `{"projection.length": 4}`; further arguments
        (`on`, `expects`, `margin`, `pool`) are those of `findings.comparing.compare`.
        """
        return compare(self.dataset, first, second, **how)

    def ask(self, name: str) -> Answer:
        """Put a question of the page to these runs, by name or `module:attribute`.

        Of several memories it is the first one's answer, which names the others'.
        """
        question = CLAIMS.resolve(name)
        if not isinstance(question, Question):
            raise ValueError(f"{name!r} is not asked of runs but of an analysis.")
        return ask_apart(name, question, self.dataset)[name]

    def to_pandas(self) -> Any:
        """Return a row for each run, update and metric as a pandas DataFrame."""
        return self.dataset.to_pandas()

    def save_table(self, path: str | Path) -> Path:
        """Write the same rows as `.csv` or, with pandas and pyarrow, `.parquet`."""
        return self.dataset.save_table(path)

    def plot(self, on: str = "") -> Any:
        """Return a figure of the curves, a panel for each task; needs matplotlib."""
        from freeproj.report.figures.curves import compute, draw

        return draw(compute(self.dataset, "study", on=on))

    def __repr__(self) -> str:
        return repr(self.dataset).replace("Dataset", "Study", 1)

    def _repr_html_(self) -> str:
        return self.dataset._repr_html_().replace("Dataset", "Study", 1)
