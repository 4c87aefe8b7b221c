"""The data behind the page's interactive plots: plain lists, ready for JSON.

What is computed here is numbers only; how they look is decided on the page, where the
reader's choice of light or dark is known. No data is null.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from freeproj import geometry
from freeproj.report.figures.style import PALETTE
from freeproj.report.gathering import Gathered
from freeproj.report.paper.baselines import episode_levels, trials_of
from freeproj.report.paper.labels import task_title
from freeproj.report.paper.run_numbers import (
    adaptation_numbers,
    curve_numbers,
    ordered_tasks,
)
from freeproj.report.saved import Numbers
from freeproj.stats import learning_curves

__all__ = [
    "adaptation_data",
    "curves_data",
    "dimension_data",
    "disk_data",
    "script_json",
    "spectra_data",
    "task_data",
]

_VIEWS = {
    "test-episodes": ("test", "episodes"),
    "test-window": ("test", "window"),
    "train": ("train", "window"),
}
_DIGITS = 5
_EVERY_FEW = [0, 4, 8, 12, 16, 20, 23]  # points of an edge: enough for a smooth arc


def task_data(gathered: Gathered) -> list[dict[str, Any]]:
    """Returns the tasks that were run, with the lines to compare their returns with."""
    trials = trials_of(gathered.runs)
    return [
        {
            "name": task,
            "title": task_title(task),
            **_plain(episode_levels(task, trials[task])._asdict()),
        }
        for task in ordered_tasks(list(trials))
    ]


def curves_data(gathered: Gathered) -> dict[str, list[dict[str, Any]]]:
    """Returns the curves of every cell: held out in both ways to count, and training.

    They are of runs with the projection held out; without such, with the task.
    """
    table, views = gathered.table, {}
    protocol = "projection" if len(table.where(protocol="projection")) else "task"
    for name, (split, counting) in _VIEWS.items():
        curves = learning_curves(
            table, split=split, counting=counting, protocol=protocol
        )
        rows = _rows(curve_numbers(curves), "updates")
        views[name] = [row for row in rows if row["x"]]
    return views


def adaptation_data(gathered: Gathered) -> list[dict[str, Any]]:
    """Returns return by trial in the last evaluation, for every cell."""
    return _rows(adaptation_numbers(gathered.adaptations), "trials")


def dimension_data(numbers: Numbers) -> dict[str, Any]:
    """Returns what was measured of d_eff/d; the limit is solved for on the page."""
    n_words = numbers["n_generators"].astype(float) ** numbers["lengths"]
    names = ("lengths", "ridges", "dim", "n_samples", "n_trials")
    return {
        **{name: _plain(numbers[name].tolist()) for name in names},
        "n_words": round(float(n_words[0])),
        "measured": _plain(numbers["measured_per_dimension"].tolist()),
        "deviation": _plain(numbers["deviation_per_dimension"].tolist()),
    }


def spectra_data(numbers: Numbers) -> list[dict[str, Any]]:
    """Returns histogram and limit of √K for each length."""
    keys = {
        "length": "lengths",
        "n": "n_generators",
        "edges": "bin_edges",
        "heights": "histogram",
        "places": "limit_places",
        "density": "limit_density",
    }
    rows = range(len(numbers["lengths"]))
    return [
        {key: _plain(numbers[name][row].tolist()) for key, name in keys.items()}
        for row in rows
    ]


def disk_data(depth: int = 5) -> dict[str, Any]:
    """Returns the tree of F_2 in the Poincaré disk: places, words, parents, edges."""
    layout = geometry.arc_layout(depth)
    letters = [tuple(word[word != 0].tolist()) for word in layout.words]
    index = {word: vertex for vertex, word in enumerate(letters)}
    return {
        "colours": list(PALETTE[:2]),
        "words": [layout.spelled(vertex) for vertex in range(len(letters))],
        "letters": [list(word) for word in letters],
        "parents": [-1, *(index[word[:-1]] for word in letters[1:])],
        "x": _plain(np.real(layout.vertices).tolist()),
        "y": _plain(np.imag(layout.vertices).tolist()),
        "edges": [_path(points[_EVERY_FEW]) for points in layout.edges],
    }


def script_json(data: Any) -> str:
    """Returns JSON that can stand in a <script> element whatever the texts in it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _rows(numbers: Numbers, x: str) -> list[dict[str, Any]]:
    """A curve per cell, without the points where no seed has data."""
    found = []
    for row in range(len(numbers["task"])):
        seen = numbers["n_seeds"][row] > 0
        curve = {
            "task": str(numbers["task"][row]),
            "memory": str(numbers["memory"][row]),
            "length": int(numbers["length"][row]),
            "runs": int(numbers["n_runs"][row]),
            "x": numbers[x][seen].tolist(),
            "n": numbers["n_seeds"][row][seen].tolist(),
        }
        for name in ("mean", "low", "high"):
            curve[name] = _plain(numbers[name][row][seen].tolist())
        found.append(curve)
    return found


def _path(points: np.ndarray) -> str:
    """The d attribute of an SVG path; y points down there."""
    places = (f"{z.real:.4f},{-z.imag:.4f}" for z in points)
    return "M" + "L".join(places)


def _plain(value: Any) -> Any:
    """Rounds numbers to what a screen can show and turns nan into null."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    return value
