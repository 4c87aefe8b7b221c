"""Data of the page's own widgets: effective dimension, spectra, the tree of words."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from freeproj.projection import cayley
from freeproj.storage.saved import Numbers

__all__ = ["WIDGETS", "disk_data", "script_json"]

_EVERY_FEW = [0, 4, 8, 12, 16, 20, 23]  # points of an edge: enough for a smooth arc


def script_json(data: Any) -> str:
    """Return JSON that can stand in a <script> element whatever the texts in it."""
    text = json.dumps(_plain(data), allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _plain(value: Any) -> Any:
    """Round numbers to what a screen can show and turn nan into null."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    return value


def _dimension(numbers: Numbers) -> dict[str, Any]:
    """Return the measured d_eff/d; the page itself solves for the limit."""
    n_words = numbers["n_generators"].astype(float) ** numbers["lengths"]
    names = ("lengths", "ridges", "dim", "n_samples", "n_trials")
    return {
        **{name: numbers[name].tolist() for name in names},
        "n_words": round(float(n_words[0])),
        "measured": numbers["measured_per_dimension"].tolist(),
        "deviation": numbers["deviation_per_dimension"].tolist(),
    }


def _spectra(numbers: Numbers) -> list[dict[str, Any]]:
    """Return histogram and limit of √K for each length."""
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
        {key: numbers[name][row].tolist() for key, name in keys.items()} for row in rows
    ]


def disk_data(depth: int = 5) -> dict[str, Any]:
    """Return the tree of F_2 in the Poincaré disk: points, words, parents, edges."""
    layout = cayley.arc_layout(depth)
    letters = [tuple(word[word != 0].tolist()) for word in layout.words]
    index = {word: vertex for vertex, word in enumerate(letters)}
    return {
        "words": [layout.spelled(vertex) for vertex in range(len(letters))],
        "letters": [list(word) for word in letters],
        "parents": [-1, *(index[word[:-1]] for word in letters[1:])],
        "x": np.real(layout.vertices).tolist(),
        "y": np.imag(layout.vertices).tolist(),
        "edges": [_path(points[_EVERY_FEW]) for points in layout.edges],
    }


def _path(points: np.ndarray) -> str:
    """Return the d attribute of an SVG path; in SVG, y points down."""
    places = (f"{z.real:.4f},{-z.imag:.4f}" for z in points)
    return "M" + "L".join(places)


# By figure: the data of its live version.
WIDGETS: dict[str, Callable[[Numbers], Any]] = {
    "effective-dimension": _dimension,
    "kernel-spectra": _spectra,
    "cayley": lambda numbers: disk_data(),
}
