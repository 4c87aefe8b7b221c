"""Runs in cells: what tables, figures and claims share.

A cell is everything that differs between runs except the seed. Task, memory and word
length always belong to it; any other setting does if the dataset varies it and the
others do not determine it. The score of a run is the mean of its last three held-out
evaluations on its first test map, counting the first episode of every environment.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeproj.experiments.dataset import Dataset, RunRecord
from freeproj.findings.baselines import Levels, episode_levels
from freeproj.findings.labels import ordered_tasks, settings_text

__all__ = [
    "COUNTING",
    "Cells",
    "Key",
    "best_evaluation",
    "first_map",
    "last_three",
    "make_cells",
    "metric_of",
    "reported_task",
]

COUNTING = "episodes"  # the first episode of every environment, for the whole page
_ALWAYS = ("task", "memory", "projection.length")
# n_words = n^ℓ: with ℓ known, one of n_words and n is enough, the one that varies less.
_DERIVED = ("projection.n_words", "projection.n_generators")
# Budget and size often follow from the task: they become axes only as a last resort.
_BUDGET = ("n_updates", "n_envs", "n_steps", "n_trials", "network.", "evaluation.")
# How often, how long and on which maps agents were tested does not describe agents.
_TESTING = tuple(f"evaluation.{key}" for key in ("every", "maps", "n_envs", "n_steps"))
_IGNORED = ("seed", "evaluation.task", *_ALWAYS)

Key = tuple[Any, ...]
_Scores = dict[int, float]


def reported_task(run: RunRecord) -> str:
    """Return the task a run is reported under: held out, or trained on."""
    return str(run.settings.get("evaluation.task") or run.settings["task"])


def first_map(run: RunRecord) -> str:
    """Return the test map that a run is scored on."""
    maps = run.settings.get("evaluation.maps", ("tile",))
    names = maps.split("+") if isinstance(maps, str) else list(maps)
    played = [name for name in names if metric_of(name) in run.metrics]
    return str((played or names or ["tile"])[0])


def metric_of(test_map: str, counting: str = COUNTING) -> str:
    """Return the log's column of the returns on a test map; `train` is training."""
    if test_map == "train":
        return "train/episode_return"
    return f"test/{test_map}/{counting}/episode_return"


def last_three(values: np.ndarray) -> float:
    """Mean of the last three entries with data; nan if there are none."""
    seen = values[~np.isnan(values)]
    return float(seen[-3:].mean()) if seen.size else math.nan


def best_evaluation(values: np.ndarray) -> float:
    """Return the largest entry, the paper's MMER; nan if there are none."""
    seen = values[~np.isnan(values)]
    return float(seen.max()) if seen.size else math.nan


@dataclass(frozen=True, eq=False)
class Cells:
    """The runs of a dataset by cell; keys are values of `axes`."""

    axes: tuple[str, ...]
    runs: Mapping[Key, tuple[RunRecord, ...]]

    def settings(self, key: Key, *without: str) -> dict[str, Any]:
        """Return a cell's settings by axis."""
        pairs = zip(self.axes, key, strict=True)
        return {axis: value for axis, value in pairs if axis not in without}

    def label(self, key: Key, *without: str) -> str:
        """Return a cell's settings in one line."""
        return settings_text(self.settings(key, *without))

    def get(self, key: Key, axis: str, default: Any = None) -> Any:
        """Return a setting of a cell, whether it is an axis or the same everywhere."""
        return self.runs[key][0].settings.get(axis, default)

    def length(self, key: Key) -> int:
        """Return the word length of a cell."""
        return int(key[self.axes.index("projection.length")])

    def task(self, key: Key) -> str:
        """Return the task of a cell."""
        return str(key[self.axes.index("task")])

    def maps(self, key: Key) -> tuple[str, ...]:
        """Return the test maps that all runs of a cell have returns on."""
        first, *others = (run.metrics for run in self.runs[key])
        names = (name.split("/") for name in first)
        found = [part[1] for part in names if part[0] == "test" and len(part) == 4]
        return tuple(
            name
            for name in dict.fromkeys(found)
            if all(metric_of(name) in each for each in (first, *others))
        )

    def levels(self, key: Key) -> Levels:
        """Return chance, blind and ceiling of an episode."""
        fresh = self.get(key, "trials") == "fresh_start"
        return _levels(self.task(key), int(self.get(key, "n_trials", 16)), fresh)

    def scores(
        self,
        key: Key,
        test_map: str = "",
        reduce: Callable[[np.ndarray], float] = last_three,
        counting: str = COUNTING,
    ) -> _Scores:
        """Return a number per seed: by default the score; nan where there is no data.

        Args:
            test_map: a map, or `train`; by default each run's first test map.
            reduce: from a run's evaluations to one number.
        """
        found = {}
        for run in self.runs[key]:
            values = run.metrics.get(metric_of(test_map or first_map(run), counting))
            score = math.nan if values is None else reduce(np.asarray(values, float))
            found[int(run.settings["seed"])] = score
        return found

    def families(self, axis: str = "projection.length") -> dict[Key, dict[Any, Key]]:
        """Group cells that differ in one axis only: {other values: {value: key}}."""
        place = self.axes.index(axis)
        found: dict[Key, dict[Any, Key]] = {}
        for key in self.runs:
            rest = key[:place] + key[place + 1 :]
            found.setdefault(rest, {})[key[place]] = key
        return found

    def where(self, keep: Callable[[Key], bool]) -> Cells:
        """Return the cells for which `keep` is true."""
        return Cells(self.axes, {k: runs for k, runs in self.runs.items() if keep(k)})

    def per_agent(self) -> Cells:
        """Leave out how agents were tested; of cells that are then equal, keep one.

        The same agents may have been tested twice, on other maps: the cell with most
        runs stands for them.
        """
        places = [i for i, axis in enumerate(self.axes) if axis not in _TESTING]
        best: dict[Key, tuple[RunRecord, ...]] = {}
        for key, runs in self.runs.items():
            agents = tuple(key[i] for i in places)
            if len(runs) > len(best.get(agents, ())):
                best[agents] = runs
        return Cells(tuple(self.axes[i] for i in places), best)


def make_cells(dataset: Dataset, protocol: str = "projection") -> Cells:
    """Put the runs of a dataset into cells.

    Args:
        protocol: `projection` for runs tested under unseen maps on their own task,
            `task` for those tested on a task held out from training.
    """
    held_out = protocol == "task"
    runs = [
        run
        for run in dataset.runs
        if bool(run.settings.get("evaluation.task")) == held_out
    ]
    axes = (*_ALWAYS, *_further_axes(runs, dataset.axes))
    cells: dict[Key, list[RunRecord]] = {}
    for run in runs:
        cells.setdefault(tuple(_value(run, axis) for axis in axes), []).append(run)
    tasks = ordered_tasks(str(key[0]) for key in cells)
    order = sorted(  # lengths next to each other
        cells, key=lambda k: (tasks.index(k[0]), *map(_rank, (k[1], *k[3:], k[2])))
    )
    return Cells(axes, {key: tuple(cells[key]) for key in order})


def _further_axes(runs: list[RunRecord], axes: Iterable[str]) -> list[str]:
    """Return the axes that are needed beside those that are always there."""
    others = [axis for axis in axes if axis not in (*_IGNORED, *_DERIVED)]
    others.sort(key=lambda axis: axis.startswith(_BUDGET))
    shape = sorted(_DERIVED, key=lambda axis: len({_value(r, axis) for r in runs}))
    kept: list[str] = []
    for axis in (*shape, *others):
        known: dict[Key, Any] = {}
        for run in runs:
            before = tuple(_value(run, each) for each in (*_ALWAYS, *kept))
            if known.setdefault(before, _value(run, axis)) != _value(run, axis):
                kept.append(axis)
                break
    return kept


def _value(run: RunRecord, axis: str) -> Any:
    value = reported_task(run) if axis == "task" else run.settings.get(axis)
    return tuple(value) if isinstance(value, list | np.ndarray) else value


def _rank(value: Any) -> tuple[int, Any]:
    """Sort numbers by size and before texts."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return (0, value) if number else (1, str(value))


@functools.cache
def _levels(task: str, n_trials: int, fresh_start: bool) -> Levels:
    return episode_levels(task, n_trials, fresh_start)
