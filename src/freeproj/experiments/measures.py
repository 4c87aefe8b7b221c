"""Numbers of a dataset: one for each run, curves over updates."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from freeproj.experiments.records import RunRecord
from freeproj.storage.checks import at_least, one_of

__all__ = ["REDUCTIONS", "Cell", "Curve", "Curves", "Scores", "align", "last"]
__all__ += ["length_of", "map_of", "metric_of", "mmer", "present", "running_maximum"]
__all__ += ["score", "tested_maps"]

Cell = tuple[Any, ...]
_Reduced = Float[np.ndarray, "..."] | np.floating
_Reduce = str | Callable[[np.ndarray], Any]


class Scores(NamedTuple):
    """One number for each run; nan where there is no data."""

    axes: tuple[str, ...]
    cells: tuple[Cell, ...]  # the values of the axes, run by run
    seeds: tuple[int, ...]
    values: Float[np.ndarray, " runs"]

    def by_cell(self) -> dict[Cell, dict[int, float]]:
        """Return cell -> seed -> value, without runs that have no data."""
        found: dict[Cell, dict[int, float]] = {cell: {} for cell in self.cells}
        for cell, seed, value in zip(self.cells, self.seeds, self.values, strict=True):
            if not math.isnan(value):
                found[cell][seed] = float(value)
        return found


class Curve(NamedTuple):
    """A cell's values over updates, a row for each seed; nan where there is no data."""

    updates: Int[np.ndarray, " n"]
    seeds: tuple[int, ...]
    values: Float[np.ndarray, "seeds n"]


class Curves(NamedTuple):
    """Values over updates for each cell."""

    axes: tuple[str, ...]
    cells: Mapping[Cell, Curve]


def metric_of(test_map: str, counting: str = "episodes") -> str:
    """Return the log's column of the returns on a test projection, or on `train`."""
    if test_map == "train":
        return "train/episode_return"
    return f"test/{test_map}/{counting}/episode_return"


def tested_maps(run: RunRecord) -> tuple[str, ...]:
    """Return the test projections that a run has returns on, its first one first."""
    maps = run.settings.get("evaluation.maps", ("tile",))
    names = maps.split("+") if isinstance(maps, str) else list(maps)
    parts = (name.split("/") for name in run.metrics)
    names += [part[1] for part in parts if part[0] == "test" and len(part) == 4]
    return tuple(n for n in dict.fromkeys(names) if metric_of(n) in run.metrics)


def map_of(run: RunRecord, wanted: str = "") -> str:
    """Return the test projection that a run is scored on: the wanted one, or its first.

    Agents that see no projection (plain, or trained blind) are scored on the one
    observation that they have, whatever projection is wanted.
    """
    played = tested_maps(run)
    controls = run.settings.get("observation", "projected") != "projected"
    if wanted and (wanted in played or wanted == "train" or not controls):
        return wanted
    return played[0] if played else "tile"


def length_of(settings: Mapping[str, Any], on: str = "") -> int:
    """Return how many trials an episode has, in tests or on `train`."""
    trained = int(settings.get("n_trials", 16))
    tested = int(settings.get("evaluation.n_trials", 0))
    return trained if on == "train" else tested or trained


def present(run: RunRecord, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the updates at which a metric was measured, and its values there.

    A mean over no finished episode is nan, yet it was measured: its `n_finished` is 0.
    """
    column = run.metrics.get(metric)
    if column is None:
        return np.zeros(0, int), np.zeros(0)
    count = run.metrics.get(metric.rpartition("/")[0] + "/n_finished", column)
    there = ~np.isnan(count if count.ndim == 1 else count[:, 0])
    return run.updates[there], column[there]


def align(runs: Sequence[RunRecord], metric: str) -> Curve:
    """Put the values of one cell's runs side by side, by update."""
    parts = [present(run, metric) for run in runs]
    updates = np.unique(np.concatenate([found for found, _ in parts]))
    values = np.full((len(parts), len(updates)), math.nan)
    for row, (found, column) in zip(values, parts, strict=True):
        row[np.searchsorted(updates, found)] = column
    return Curve(updates, tuple(run.seed for run in runs), values)


def last(curve: ArrayLike, n_evaluations: int = 3) -> _Reduced:
    """Mean of the last evaluations along the last axis.

    Evaluations in which nothing finished (nan) are left out; nan if all of them are.
    """
    at_least(1, n_evaluations=n_evaluations)
    ends = np.asarray(curve, float)[..., -n_evaluations:]
    seen = ~np.isnan(ends)
    total, n = np.where(seen, ends, 0).sum(axis=-1), seen.sum(axis=-1)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)[()]


def mmer(curve: ArrayLike) -> _Reduced:
    """Largest evaluation along the last axis; nan if no evaluation has data."""
    return np.fmax.reduce(np.asarray(curve, float), axis=-1, initial=np.nan)


def running_maximum(curve: ArrayLike) -> Float[np.ndarray, "..."]:
    """Largest evaluation so far, which ends at MMER."""
    return np.fmax.accumulate(np.asarray(curve, float), axis=-1)


# How a curve becomes a number; "final" is the last evaluation alone.
REDUCTIONS: Mapping[str, Callable[[np.ndarray], Any]] = {
    "last3": last,
    "final": lambda curve: last(curve, 1),
    "max": mmer,
}


def score(run: RunRecord, metric: str, reduce: _Reduce = "last3") -> float:
    """Return one number of a run: one of `REDUCTIONS`, or a function, of its values."""
    if isinstance(reduce, str):
        one_of(REDUCTIONS, reduce=reduce)
        reduce = REDUCTIONS[reduce]
    values = present(run, metric)[1]
    return float(reduce(values)) if len(values) else math.nan
