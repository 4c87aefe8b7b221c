"""`table-results` and `table-lengths` as pictures: the tables of `report.tables`, set.

The numbers beside the picture are the cells as they are written, and every column of
the records behind them in full precision.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.report.levels import table_baselines
from freeproj.report.numbers import Numbers
from freeproj.report.run_numbers import read_runs
from freeproj.report.style import INK
from freeproj.report.tables import TABLES

__all__ = ["compute", "draw"]

_LINE = 0.155  # inches from line to line
_LETTER = 0.056  # inches; a mean letter of 7 points
_GAP = 2.2  # letters between columns
_NOTE_SIZE = 6.2
_PAPER = "0.45"  # the paper's rows stand back behind ours


def compute(
    runs: str,
    table: str = "table-results",
    by: str = "test-mmer",
    counting: str = "window",
    protocol: str = "projection",
) -> dict[str, np.ndarray]:
    """Returns the cells of a table and its records.

    Args:
        table: one of `freeproj.report.tables.TABLES`.
        by: how the length of FRP is chosen; the table of lengths shows every way.
    """
    if table not in TABLES:
        raise ValueError(f"No table {table!r}. Known: {', '.join(TABLES)}.")
    gathered = read_runs(runs)
    make_records, make_grid, _ = TABLES[table]
    options: dict[str, Any] = {"protocol": protocol, "counting": counting}
    if table == "table-results":
        options |= {"by": by, "baselines": table_baselines(gathered.runs)}
    records = make_records(gathered.table, **options)
    grid = make_grid(records)
    rows = [(number, row) for number, rows in enumerate(grid.groups) for row in rows]
    flat = [record.flat() for record in records]
    return {
        "title": np.array(grid.title),
        "columns": np.array(grid.columns, str),
        "cells": np.array([row for _, row in rows], str),
        "group": np.array([number for number, _ in rows], int),
        "notes": np.array(list(grid.notes), str),
        "n_text": np.array(grid.n_text),
        **{f"record_{name}": _column([row[name] for row in flat]) for name in flat[0]},
    }


def draw(numbers: Numbers) -> Figure:
    """Sets the table with rules above, below and between the groups."""
    columns, cells = numbers["columns"].tolist(), numbers["cells"].tolist()
    widths = [max(map(len, column)) + _GAP for column in zip(columns, *cells)]  # noqa: B905
    width = _LETTER * sum(widths)
    notes = _wrapped(numbers["notes"].tolist(), int(1.42 * sum(widths)))
    n_lines = 3.6 + len(cells) + 0.35 * numbers["group"].max(initial=0) + len(notes)
    figure = Figure(figsize=(width, _LINE * n_lines))
    figure.set_layout_engine("none")  # every place is given
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, sum(widths)), ylim=(n_lines, 0))
    axes.axis("off")
    places = np.cumsum([0, *widths])
    axes.text(_GAP / 2, 0.9, str(numbers["title"]), va="center", fontsize=8.5)
    _rule(axes, places[-1], 1.7, 0.9)
    _set_row(axes, places, columns, 2.3, int(numbers["n_text"]))
    _rule(axes, places[-1], 2.9, 0.5)
    bottom = _set_body(axes, places, numbers)
    _rule(axes, places[-1], bottom, 0.9)
    for line, note in enumerate(notes):
        at = bottom + 0.7 + 0.95 * line
        axes.text(_GAP / 2, at, note, fontsize=_NOTE_SIZE, va="center", color="0.35")
    return figure


def _set_body(axes: Axes, places: np.ndarray, numbers: Numbers) -> float:
    """Sets the rows; returns the height below the last of them."""
    at, group = 3.45, 0
    for row, number in zip(
        numbers["cells"].tolist(), numbers["group"].tolist(), strict=True
    ):
        if number != group:
            _rule(axes, places[-1], at - 0.4, 0.25)
            at, group = at + 0.35, number
        colour = _PAPER if "paper" in row else INK
        _set_row(axes, places, row, at, int(numbers["n_text"]), colour)
        at += 1
    return at - 0.4


def _set_row(
    axes: Axes,
    places: np.ndarray,
    row: Sequence[str],
    at: float,
    n_text: int,
    colour: str = INK,
) -> None:
    for column, text in enumerate(row):
        left = column < n_text
        x = places[column] + _GAP / 2 if left else places[column + 1] - _GAP / 2
        indent = 1.5 if text.startswith("  ") else 0
        align = "left" if left else "right"
        # The dollar of a task's name would be taken for mathematics.
        plain = text.strip().replace("$", r"\$")
        place: dict[str, Any] = {"ha": align, "va": "center"}
        axes.text(x + indent, at, plain, fontsize=7, color=colour, **place)


def _rule(axes: Axes, width: float, at: float, weight: float) -> None:
    axes.plot([_GAP / 4, width - _GAP / 4], [at, at], color=INK, lw=weight)


def _wrapped(notes: list[str], width: int) -> list[str]:
    return [line for note in notes for line in textwrap.wrap(note, width)]


def _column(values: list[Any]) -> np.ndarray:
    """Returns a column without Python objects; what is not known is nan or empty."""
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else str(value) for value in values])
    return np.array([np.nan if value is None else value for value in values], float)
