"""Many runs as one dataset, whose axes are the settings that differ between runs.

    dataset = read_dataset("runs")
    dataset.where(task="HigherLower").group_by("projection.length")
    dataset.scores("test/tile/episodes/episode_return", reduce="last3").by_cell()

A setting is named by its dotted key. Runs that differ in their seed only are
repetitions of one cell. Runs that cannot be used are in `set_aside`, with reasons.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import html
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from freeproj.experiments import measures, store
from freeproj.experiments.measures import Cell, Curves, Scores
from freeproj.experiments.records import RunRecord, SetAside
from freeproj.storage.files import write_atomically
from freeproj.storage.names import suggestion

__all__ = ["Dataset", "read_dataset"]

_Meta = Mapping[str, Any]
_PUBLISHED = Path(__file__).parents[1] / "published"
# Settings that are named first, and those that often follow from others.
_FIRST = ("evaluation.task", "task", "memory", "projection.length")
_SHAPE = ("projection.n_words", "projection.n_generators")
_FOLLOWING = ("task", *_SHAPE, "projection.input_dim", "n_updates", "n_envs")
_FOLLOWING += ("n_steps", "n_trials", "network.", "evaluation.")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Runs as data, and those that were set aside.

    Args:
        meta: what is known beyond the runs: study, version, cpu_hours, date, and
            `looks`, how often the numbers were judged while they came in.
    """

    runs: tuple[RunRecord, ...]
    set_aside: tuple[SetAside, ...] = ()
    meta: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.runs)

    @functools.cached_property
    def axes(self) -> tuple[str, ...]:
        """The settings that differ between runs, except the seed.

        A setting that follows from the axes before it is not one: training tasks from
        the task held out, n from ℓ and the number of words, a budget from the task.
        """
        kept: list[str] = []
        for key in self._keys():
            if key != "seed" and len(self.values(key)) > 1:
                cells = {_cell(run, kept) for run in self.runs}
                finer = {_cell(run, [*kept, key]) for run in self.runs}
                # One run per combination determines everything, by chance.
                weak = key.startswith(_FOLLOWING) or len(cells) < len(self.runs)
                if not weak or len(finer) > len(cells):
                    kept.append(key)
        return tuple(kept)

    @property
    def test_map(self) -> str:
        """The test projection to compare on: random, or else the first one."""
        maps = [measures.tested_maps(run) for run in self.runs]
        has_random = any("random" in each for each in maps)
        return "random" if has_random else next((m[0] for m in maps if m), "tile")

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of all runs, each once."""
        return self.values("seed")

    @property
    def n_finished(self) -> int:
        """How many runs have finished."""
        return sum(run.health == "finished" for run in self.runs)

    @functools.cached_property
    def metrics(self) -> tuple[str, ...]:
        """The names of all columns of the logs."""
        return tuple(dict.fromkeys(name for run in self.runs for name in run.metrics))

    def health_counts(self) -> dict[str, int]:
        """Count the runs by their health, those set aside included."""
        every = (*self.runs, *self.set_aside)
        return dict(collections.Counter(each.health for each in every))

    def values(self, setting: str) -> tuple[Any, ...]:
        """Return the values of a setting, each once, in order."""
        self._check_key(setting)
        found = {run.settings.get(setting) for run in self.runs}
        return tuple(sorted(found, key=_order))

    def where(self, settings: _Meta | None = None, /, **more: Any) -> Dataset:
        """Return the runs with these settings; a list or set allows any of its values.

        `where({"projection.length": 4})` or `where(task="HigherLower", seed=[0, 1])`.
        """
        several: dict[str, Any] = {}
        for key, value in {**(settings or {}), **more}.items():
            self._check_key(key)
            is_choice = isinstance(value, list | set | frozenset)
            several[key] = value if is_choice else [value]
        return self.select(
            lambda run: all(run.settings.get(k) in v for k, v in several.items())
        )

    def select(self, keep: Callable[[RunRecord], bool]) -> Dataset:
        """Return the runs for which `keep` is true."""
        return dataclasses.replace(self, runs=tuple(filter(keep, self.runs)))

    def group_by(self, *settings: str) -> dict[Cell, Dataset]:
        """Split the runs by the values of settings, in their order."""
        for key in settings:
            self._check_key(key)
        groups: dict[Cell, list[RunRecord]] = {}
        for run in self.runs:
            groups.setdefault(_cell(run, settings), []).append(run)
        ordered = sorted(groups, key=lambda cell: tuple(map(_order, cell)))
        parts = {cell: tuple(groups[cell]) for cell in ordered}
        return {cell: dataclasses.replace(self, runs=p) for cell, p in parts.items()}

    def scores(
        self, metric: str = "", reduce: str | Callable[[np.ndarray], float] = "last3"
    ) -> Scores:
        """Return one number for each run.

        Args:
            metric: a column of the logs; by default the return on `test_map`.
            reduce: `final` (the last evaluation), `last3` (the mean of the last three),
                `max`, or a function of the values over updates.
        """
        columns = [self._column(run, metric) for run in self.runs]
        scored = zip(self.runs, columns, strict=True)
        values = [measures.score(run, column, reduce) for run, column in scored]
        cells = tuple(_cell(run, self.axes) for run in self.runs)
        seeds = tuple(run.seed for run in self.runs)
        return Scores(self.axes, cells, seeds, np.array(values, float))

    def curves(self, metric: str = "") -> Curves:
        """Return the values over updates, cell by cell."""
        curves = {}
        for cell, group in self.group_by(*self.axes).items():
            column = self._column(group.runs[0], metric)
            curves[cell] = measures.align(group.runs, column)
        return Curves(self.axes, curves)

    def save(self, path: str | Path, **meta: Any) -> Path:
        """Write all numbers in one small `.npz` file that `read_dataset` reads."""
        records = {run.name: run for run in self.runs}
        if len(records) != len(self):
            raise ValueError("Two runs have the same name: one file cannot hold both.")
        store.save_records(path := Path(path), records, meta)
        return path

    def to_csv(self, path: str | Path) -> Path:
        """Write a tidy table: a row for each run, update and metric."""
        return store.write_csv(self.runs, Path(path))

    def save_table(self, path: str | Path) -> Path:
        """Write the tidy table as `.csv` or, with pandas and pyarrow, `.parquet`."""
        path = Path(path)
        if path.suffix == ".csv":
            return self.to_csv(path)
        if path.suffix != ".parquet":
            rule = "must end in .csv or .parquet"
            raise ValueError(f"A table's file {rule}, got '{path.name}'.")
        try:
            write_atomically(path, self.to_pandas().to_parquet)
        except ImportError as error:
            text = "Parquet files need pandas and pyarrow (pip install pandas pyarrow);"
            raise ImportError(f"{text} a name in .csv needs neither.") from error
        return path

    def to_pandas(self) -> Any:
        """Return a tidy table, a pandas DataFrame: a row per run, update and metric."""
        import pandas

        return pandas.DataFrame(store.tidy_rows(self.runs))

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {name}" for name, n in self.health_counts().items())
        axes = ", ".join(f"{key} ({len(self.values(key))})" for key in self.axes)
        runs = f"{len(self)} runs ({counts or 'none'}), {len(self.seeds)} seeds"
        return f"Dataset of {runs}; axes: {axes or 'none'}"

    def _repr_html_(self) -> str:
        rows = ""
        for key in self.axes:
            values = html.escape(", ".join(map(str, self.values(key))))
            rows += f"<tr><th>{html.escape(key)}</th><td>{values}</td></tr>"
        return f"<p>{html.escape(repr(self))}</p><table>{rows}</table>"

    def _keys(self) -> tuple[str, ...]:
        """All settings in the order in which they are named, `_FOLLOWING` last."""
        keys = dict.fromkeys(key for run in self.runs for key in run.settings)
        counts = {key: len(self.values(key)) for key in _SHAPE if key in keys}

        def rank(key: str) -> tuple[int, int]:
            if key in _FIRST:
                return _FIRST.index(key), 0
            if key in _SHAPE:  # n_words = n^ℓ: that which varies less is the axis
                return len(_FIRST), counts[key]
            if key.startswith(_FOLLOWING):
                return len(_FIRST) + 3, 0
            return len(_FIRST) + (1 if key.startswith("projection.") else 2), 0

        return tuple(sorted(keys, key=rank))

    def _check_key(self, key: str) -> None:
        if self.runs and not any(key in run.settings for run in self.runs):
            near = suggestion(key, self._keys())
            raise ValueError(f"No setting `{key}` in these runs.{near}")

    def _column(self, run: RunRecord, metric: str) -> str:
        """Return the column of a run's score."""
        known = self.metrics
        if self.runs and not known:
            raise ValueError("These runs have no numbers yet: no update is done.")
        if not metric and known:
            return measures.metric_of(measures.map_of(run, self.test_map))
        if self.runs and metric not in known:
            near = suggestion(metric, known) or f" Known: {', '.join(known)}."
            raise ValueError(f"No metric `{metric}` in these runs.{near}")
        return metric


def read_dataset(*sources: str | Path) -> Dataset:
    """Read runs from folders, files or published results, all as one dataset.

    A source is a folder of runs, an `.npz` file of a dataset, or `published:NAME`.
    Of two runs with the same settings and seed the longer one counts.
    """
    parts = [_read_source(source) for source in sources]
    runs = [run for part in parts for run in part.runs]
    aside = [each for part in parts for each in part.set_aside]
    return _distinct(runs, aside, parts[0].meta if len(parts) == 1 else {})


def _read_source(source: str | Path) -> Dataset:
    if str(source).startswith("published:"):
        from freeproj.experiments.study import stated_before

        name = str(source).partition(":")[2]
        records, meta = store.load_records(_published(name))
        stated = stated_before(name)
        known = {"study": name, "looks": stated.get("looks", 1), "stated": stated}
        return _of_records(records, {**known, **meta})
    path = Path(source)
    if path.suffix == ".npz" and not path.is_dir():
        return _of_records(*store.load_records(path))
    return _of_records(store.read_folder(path), {})


def _published(name: str) -> Path:
    """Return the file of a published study; a name is not a path."""
    known = {path.stem: path for path in sorted(_PUBLISHED.glob("*.npz"))}
    if name not in known:
        near = f"{suggestion(name, known)} Known: {', '.join(known)}."
        raise ValueError(f"No published study {name!r}.{near}")
    return known[name]


def _of_records(records: Mapping[str, RunRecord | SetAside], meta: _Meta) -> Dataset:
    found = records.values()
    runs = tuple(each for each in found if isinstance(each, RunRecord))
    aside = tuple(each for each in found if isinstance(each, SetAside))
    return Dataset(runs, aside, dict(meta))


def _distinct(
    runs: Iterable[RunRecord], aside: Iterable[SetAside], meta: _Meta
) -> Dataset:
    """Keep one of the runs that have the same settings and seed."""
    kept: dict[tuple, RunRecord] = {}
    twice = []
    for run in runs:
        key = tuple(sorted(run.settings.items()))
        first = kept.setdefault(key, run)
        if first is not run:
            shorter, longer = sorted((run, first), key=lambda each: len(each.updates))
            kept[key] = longer
            reason = f"the same settings and seed as {longer.folder or longer.name}"
            path = shorter.folder or Path(shorter.name)
            twice.append(SetAside(path, "duplicate", reason))
    return Dataset(tuple(kept.values()), (*aside, *twice), meta)


def _cell(run: RunRecord, axes: Iterable[str]) -> Cell:
    return tuple(run.settings.get(axis) for axis in axes)


def _order(value: Any) -> tuple[int, Any]:
    """Sort numbers before text, and a missing value first."""
    if value is None:
        return 0, 0
    return (1, value) if isinstance(value, int | float) else (2, str(value))
