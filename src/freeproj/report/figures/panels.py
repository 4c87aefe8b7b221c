"""What pictures of runs share: a curve with its band, lines of chance, a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from freeproj.report.figures.style import COLUMN, WIDE, length_colour
from freeproj.report.paper.labels import task_title
from freeproj.report.saved import Numbers

__all__ = [
    "draw_curve",
    "draw_lengths",
    "draw_level",
    "mean_text",
    "panel_grid",
    "seeds_text",
    "share_legend",
]

_CHANCE = {"color": "0.45", "lw": 0.8, "ls": (0, (1, 1.5)), "zorder": 1}
_BLIND = {"color": "0.45", "lw": 0.8, "ls": (0, (5, 2, 1, 2)), "zorder": 1}


def draw_curve(
    axes: Axes, x: np.ndarray, numbers: Numbers, row: int, **style: Any
) -> None:
    """Draws the points of a row that have data, with their band."""
    seen = numbers["n_seeds"][row] > 0
    band = seen & ~np.isnan(numbers["low"][row])
    marker = "o" if seen.sum() < 2 else None  # one point makes no line
    axes.plot(x[seen], numbers["mean"][row][seen], marker=marker, ms=2.5, **style)
    low, high = numbers["low"][row][band], numbers["high"][row][band]
    colour = style.get("color")
    axes.fill_between(x[band], low, high, color=colour, alpha=0.16, lw=0)


def draw_level(axes: Axes, kind: str, value: float) -> None:
    """Draws the line of `chance` or of the best `blind` policy, where it is known."""
    if np.isnan(value):
        return
    label = {"chance": "chance", "blind": "best blind policy"}[kind]
    axes.axhline(value, label=label, **(_CHANCE if kind == "chance" else _BLIND))


def draw_lengths(numbers: Numbers, x: str, level: str, ylabel: str) -> Figure:
    """Draws a colour per word length, a column of panels per task, a row per memory.

    Args:
        x: the name of the columns' places, `updates` or `trials`.
        level: the name of the line of chance.
    """
    memories = sorted(set(numbers["memory"].tolist()))
    tasks = numbers["tasks"].tolist()
    figure, panels = panel_grid(len(memories), len(tasks))
    for column, task in enumerate(tasks):
        panels[0, column].set_title(task_title(task))
        panels[-1, column].set_xlabel(x.removesuffix("s"))
        for axes, memory in zip(panels[:, column], memories, strict=True):
            _draw_panel(axes, numbers, x, task, memory)
            draw_level(axes, "chance", float(numbers[level][column]))
    for row, memory in enumerate(memories):
        panels[row, 0].set_ylabel(f"{memory.upper()}: {ylabel}")
    share_legend(figure, panels)
    return figure


def panel_grid(n_rows: int, n_columns: int) -> tuple[Figure, np.ndarray]:
    """Returns a figure as wide as its columns need, at most a page, and its panels."""
    width = min(WIDE, max(COLUMN, 1.75 * n_columns))
    figure = Figure(figsize=(width, 0.75 + 1.45 * n_rows))
    # Scales differ from task to task and are shared between the memories.
    panels = figure.subplots(
        n_rows, n_columns, squeeze=False, sharex="col", sharey="col"
    )
    for axes in panels.flat:
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(5))
    return figure, panels


def share_legend(figure: Figure, panels: np.ndarray) -> None:
    """Puts one legend of all panels below them, each entry once."""
    entries: dict[str, Any] = {}
    for axes in panels.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    longest = max(map(len, entries), default=0)
    n_columns = max(1, int(figure.get_figwidth() / (0.5 + 0.045 * longest)))
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="outside lower center",
        ncols=min(n_columns, len(entries)) or 1,
    )


def seeds_text(counts: Sequence[int] | np.ndarray) -> str:
    """Says how many seeds stand behind curves: "1 seed", "3 seeds", "2–3 seeds"."""
    low, high = int(np.min(counts)), int(np.max(counts))
    number = str(low) if low == high else f"{low}–{high}"
    return f"{number} seed" + ("" if high == 1 else "s")


def mean_text(counts: np.ndarray) -> str:
    """Says what the curves show; of one seed there is no band."""
    if np.max(counts) == 1:
        return "1 seed, so no band"
    return f"mean over {seeds_text(counts)}, 95 % band"


def _draw_panel(axes: Axes, numbers: Numbers, x: str, task: str, memory: str) -> None:
    here = np.flatnonzero((numbers["task"] == task) & (numbers["memory"] == memory))
    order = np.argsort(numbers["length"][here], kind="stable")
    for row in here[order].tolist():
        length = int(numbers["length"][row])
        label = f"ℓ = {length}" + (" (RP)" if length == 1 else "")
        colour = length_colour(length)
        draw_curve(axes, numbers[x], numbers, row, color=colour, label=label)
    if not len(here):
        # On a ground of its own: the line of chance may run through the middle.
        ground = {"facecolor": axes.get_facecolor(), "edgecolor": "none"}
        axes.text(
            0.5, 0.5, "no runs", ha="center", transform=axes.transAxes, bbox=ground
        )
