"""Returns per trial on every test map, per word length: `why-table-1` and `storage`."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import Cells, Key, make_cells
from freeproj.findings.curves import cell_columns
from freeproj.findings.labels import map_title, settings_text
from freeproj.findings.numbers import PAPER_LENGTHS, PAPER_RESULTS
from freeproj.findings.selection import Kind, of_kind, stored
from freeproj.stats.intervals import Summary, summarise

__all__ = ["MAPS", "map_numbers", "paper_numbers", "possible", "storage_cells"]
__all__ += ["why_cells"]

# In this order, as far as they were played; tile_unit is the release's.
MAPS = ("tile_unit", "minus_tile_unit", "tile", "minus_tile", "random", "zero")


def why_cells(dataset: Dataset) -> Cells:
    """Return the cells of uncorrected QR and Haar that were tested on several maps."""
    runs = of_kind(dataset, Kind.NO_REWARD, Kind.RAW_QR, maps=("minus_tile",))
    every = make_cells(runs).per_agent()
    cells = every.where(
        lambda key: (
            _family(every, key) in ("haar", "qr")
            and not every.get(key, "previous_reward", False)
        )
    )
    panels = {key: (cells.task(key), _setting(cells, key)) for key in cells.runs}
    raw = {panels[key] for key in cells.runs if _family(cells, key) == "qr"}
    if raw:  # Haar stands beside uncorrected QR, not alone
        cells = cells.where(lambda key: panels[key] in raw)
    maps = '["tile_unit", "minus_tile", "random"]'
    return _suited(
        cells, f"projection.family = haar or qr, tested on evaluation.maps = {maps}"
    )


def storage_cells(dataset: Dataset) -> Cells:
    """Return the cells with n fixed matrices, n the same for several word lengths."""
    return _suited(
        make_cells(stored(dataset)).per_agent(),
        "redraw_every = 0 with one projection.n_generators and several values of "
        "projection.length",
    )


def map_numbers(cells: Cells, with_training: bool = False) -> dict[str, np.ndarray]:
    """Return mean and interval per trial, a row per cell, a column per test map."""
    keys = list(cells.runs)
    played = {name for key in keys for name in cells.maps(key)}
    maps = [name for name in MAPS if name in played] + ["train"] * with_training
    fixed = (cells.get(key, "redraw_every", 1) == 0 for key in keys)
    return {
        **cell_columns(cells, keys),
        "family": np.array([_family(cells, key) for key in keys]),
        "bases": np.array(["fixed" if each else "redrawn" for each in fixed]),
        "setting": np.array([_setting(cells, key) for key in keys]),
        "maps": np.array(maps),
        "map_titles": np.array([map_title(name) for name in maps]),
        **_summaries(cells, keys, maps),
    }


def paper_numbers(cells: Cells) -> dict[str, np.ndarray]:
    """Return the paper's raw returns per trial (of 16): task, memory, ℓ, value."""
    pairs = {(cells.task(k), str(cells.get(k, "memory"))): None for k in cells.runs}
    rows = [
        (task, memory, 1 if name == "RP" else PAPER_LENGTHS[task, memory], found.raw)
        for task, memory in pairs
        for name in ("RP", "FRP")
        if (found := PAPER_RESULTS.get((task, name, memory)))
    ]
    return {
        "paper_task": np.array([row[0] for row in rows], str),
        "paper_memory": np.array([row[1] for row in rows], str),
        "paper_length": np.array([row[2] for row in rows], int),
        "paper_mean": np.array([row[3].mean / 16 for row in rows], float),
    }


def possible(summary: Summary, ceiling: float) -> Summary:
    """Cut the interval at the ceiling: no mean lies above it."""
    if summary.interval is None or not summary.interval.high > ceiling:
        return summary
    return summary._replace(interval=summary.interval._replace(high=ceiling))


def _suited(cells: Cells, needs: str) -> Cells:
    if not cells.runs:
        raise ValueError(f"No run suits this figure: it needs {needs}.")
    return cells


def _family(cells: Cells, key: Key) -> str:
    return str(cells.get(key, "projection.family", "haar"))


def _setting(cells: Cells, key: Key) -> str:
    """Return what else tells panels apart: the memory, and any further axis."""
    apart = ("task", "projection.length", "projection.family", "redraw_every")
    return settings_text(cells.settings(key, *apart))


def _summaries(
    cells: Cells, keys: Sequence[Key], maps: Sequence[str]
) -> dict[str, np.ndarray]:
    shape = (len(keys), len(maps))
    found = {name: np.full(shape, math.nan) for name in ("mean", "low", "high")}
    counts = np.zeros(shape, int)
    pairs = itertools.product(enumerate(keys), enumerate(maps))
    for (row, key), (column, name) in pairs:
        levels = cells.levels(key)
        values = [score / levels.n_trials for score in cells.scores(key, name).values()]
        summary = possible(summarise(values), levels.ceiling / levels.n_trials)
        low, high = (summary.interval or (math.nan, math.nan))[:2]
        for field, value in zip(found, (summary.mean, low, high), strict=True):
            found[field][row, column] = value
        counts[row, column] = summary.n
    return {**found, "n_seeds": counts}
