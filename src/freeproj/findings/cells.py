"""Runs in cells: what tables, figures and claims share.

A cell is one configuration: a value of every axis of the dataset. Task, memory and word
length always belong to it. The score of a run is the mean of its last three held-out
evaluations, counting the first episode of every environment.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeproj.experiments import measures
from freeproj.experiments.dataset import Dataset, RunRecord
from freeproj.experiments.measures import length_of
from freeproj.findings.labels import ordered_tasks, settings_text
from freeproj.findings.numbers import Levels, episode_levels

__all__ = ["Cells", "Keep", "Key", "make_cells", "of_protocol"]

_ALWAYS = ("task", "memory", "projection.length")
# How often, how long and on which maps agents were tested does not describe agents.
_TESTING = tuple(f"evaluation.{key}" for key in ("every", "maps", "n_envs", "n_steps"))

Key = tuple[Any, ...]
Keep = Callable[[Mapping[str, Any]], bool]  # which settings


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
        first, *others = map(measures.tested_maps, self.runs[key])
        return tuple(name for name in first if all(name in each for each in others))

    def levels(self, key: Key) -> Levels:
        """Return chance, blind and ceiling of an episode of the tests."""
        settings = self.runs[key][0].settings
        fresh = settings.get("trials") == "fresh_start"
        return episode_levels(self.task(key), length_of(settings), fresh)

    def scores(self, key: Key, on: str = "", reduce: str = "last3") -> dict[int, float]:
        """Return a number per seed, see `measures.score`; nan where there is no data.

        The test projection may be `train`; by default it is each run's first. Training
        returns are scaled to episodes of as many trials as the tests have.
        """
        runs, settings = self.runs[key], self.runs[key][0].settings
        scale = length_of(settings) / length_of(settings, on)

        def scored(run: RunRecord) -> float:
            column = measures.metric_of(measures.map_of(run, on))
            return scale * measures.score(run, column, reduce)

        return {run.seed: scored(run) for run in runs}

    def mean_return(self, on: str, keep: Keep = lambda settings: True) -> float:
        """Return the mean return per trial of all cells with such settings, or nan."""
        found = [
            value / self.levels(key).n_trials
            for key, runs in self.runs.items()
            if keep(runs[0].settings)
            for value in self.scores(key, on).values()
            if not math.isnan(value)
        ]
        return float(np.mean(found)) if found else math.nan

    def families(self, axis: str = "projection.length") -> dict[Key, dict[Any, Key]]:
        """Group cells that differ in one axis only: {other values: {value: key}}."""
        place = self.axes.index(axis)
        found: dict[Key, dict[Any, Key]] = {}
        for key in self.runs:
            rest = key[:place] + key[place + 1 :]
            found.setdefault(rest, {})[key[place]] = key
        return found

    def varied(self, *without: str) -> list[str]:
        """Return the axes on which cells differ, without these."""
        columns = zip(self.axes, *self.runs, strict=True)
        found = (axis for axis, *values in columns if len(set(values)) > 1)
        return [axis for axis in found if axis not in without]

    def where(self, keep: Callable[[Key], bool]) -> "Cells":
        """Return the cells for which `keep` is true."""
        return Cells(self.axes, {k: runs for k, runs in self.runs.items() if keep(k)})

    def per_agent(self) -> "Cells":
        """Leave out how agents were tested; of equal cells keep that with most runs."""
        places = [i for i, axis in enumerate(self.axes) if axis not in _TESTING]
        best: dict[Key, tuple[RunRecord, ...]] = {}
        for key, runs in self.runs.items():
            agents = tuple(key[i] for i in places)
            if len(runs) > len(best.get(agents, ())):
                best[agents] = runs
        return Cells(tuple(self.axes[i] for i in places), best)


def make_cells(dataset: Dataset, protocol: str = "projection") -> Cells:
    """Put the runs of a protocol into cells."""
    chosen = of_protocol(dataset, protocol)
    known = (*_ALWAYS, "evaluation.task")
    axes = (*_ALWAYS, *(axis for axis in chosen.axes if axis not in known))
    cells: dict[Key, list[RunRecord]] = {}
    for run in chosen.runs:
        task = str(run.settings.get("evaluation.task") or run.settings["task"])
        settings = {**run.settings, "task": task}  # held out, or trained on
        cells.setdefault(tuple(map(settings.get, axes)), []).append(run)
    tasks = ordered_tasks(str(key[0]) for key in cells)
    order = sorted(  # lengths next to each other
        cells, key=lambda k: (tasks.index(k[0]), *map(_rank, (k[1], *k[3:], k[2])))
    )
    return Cells(axes, {key: tuple(cells[key]) for key in order})


def of_protocol(dataset: Dataset, protocol: str) -> Dataset:
    """Return the runs tested on their own task (`projection`) or one held out."""
    held_out = protocol == "task"
    return dataset.select(lambda r: bool(r.settings.get("evaluation.task")) == held_out)


def _rank(value: Any) -> tuple[int, Any]:
    """Sort numbers by size and before texts."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return (0, value) if number else (1, str(value))
