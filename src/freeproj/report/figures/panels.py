"""What figures of runs share: a curve with its band, lines of chance, a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from freeproj.findings.labels import method, seeds_text, task_title
from freeproj.report.figures.style import COLUMN, WIDE, length_colour
from freeproj.storage.saved import Numbers

__all__ = [
    "draw_level",
    "draw_log",
    "draw_panels",
    "mean_text",
    "panel_grid",
    "share_legend",
]

_CHANCE = {"color": "0.45", "lw": 0.8, "ls": (0, (1, 1.5)), "zorder": 1}
_BLIND = {"color": "0.45", "lw": 0.8, "ls": (0, (5, 2, 1, 2)), "zorder": 1}
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#9b4f8a", "#3d8fc4")
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))


def _draw_curve(
    axes: Axes, x: np.ndarray, numbers: Numbers, row: int, **style: Any
) -> None:
    """Draw the points of a row that have data, with their band."""
    seen = numbers["n_seeds"][row] > 0
    band = seen & ~np.isnan(numbers["low"][row])
    marker = "o" if seen.sum() < 2 else None  # one point makes no line
    axes.plot(x[seen], numbers["mean"][row][seen], marker=marker, ms=2.5, **style)
    low, high = numbers["low"][row][band], numbers["high"][row][band]
    colour = style.get("color")
    axes.fill_between(x[band], low, high, color=colour, alpha=0.16, lw=0)


def draw_level(axes: Axes, kind: str, value: float) -> None:
    """Draw the line of `chance` or of the best open-loop policy, where it is known."""
    if np.isnan(value):
        return
    label = {"chance": "chance", "blind": "best open-loop policy"}[kind]
    axes.axhline(value, label=label, **(_CHANCE if kind == "chance" else _BLIND))


def draw_panels(
    numbers: Numbers,
    x: str = "updates",
    *,
    per_trial: bool = False,
    ylabel: str = "return",
    columns: Sequence[tuple[str, Numbers, str]] = (),
) -> Figure:
    """Draw a line per cell, a column per task, a row per other settings.

    Args:
        x: the name of the columns' places, `updates` or `trials`.
        per_trial: the returns are those of one trial.
        columns: title, numbers and task of each, if not all tasks; on one scale.
    """
    rows = list(dict.fromkeys(numbers["panel"].tolist()))
    tasks = list(dict.fromkeys(numbers["task"].tolist()))
    chosen = columns or [(task_title(task), numbers, task) for task in tasks]
    figure, panels = panel_grid(len(rows), len(chosen))
    for column, (title, part, task) in zip(panels.T, chosen, strict=True):
        column[0].set_title(title)
        column[-1].set_xlabel(x.removesuffix("s"))
        for axes, panel in zip(column, rows, strict=True):
            _draw_panel(axes, part, x, task, panel, per_trial)
    for axes, panel in zip(panels[:, 0], rows, strict=True):
        axes.set_ylabel(f"{panel.replace(', ', chr(10))}\n{ylabel}".lstrip())
    if columns:
        ends = [axes.get_ylim() for axes in panels.flat]
        for axes in panels.flat:
            axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    share_legend(figure, panels)
    return figure


def draw_log(
    lines: Mapping[str, tuple[Sequence[int], Sequence[float]]], ylabel: str
) -> Figure:
    """Draw columns of one run's log against updates."""
    figure = Figure(figsize=(WIDE, 2.4), layout="constrained")
    axes = figure.subplots()
    for name, (updates, values) in lines.items():
        axes.plot(updates, values, label=name)
    axes.set(xlabel="update", ylabel=ylabel)
    axes.legend(frameon=False)
    return figure


def panel_grid(n_rows: int, n_columns: int) -> tuple[Figure, np.ndarray]:
    """Return a figure as wide as its columns need, at most a page, and its panels."""
    width = min(WIDE, max(COLUMN, 1.75 * n_columns))
    figure = Figure(figsize=(width, 0.75 + 1.45 * n_rows))
    # Scales differ from task to task and are shared between the rows.
    panels = figure.subplots(
        n_rows, n_columns, squeeze=False, sharex="col", sharey="col"
    )
    for axes in panels.flat:
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(5))
    return figure, panels


def share_legend(figure: Figure, panels: np.ndarray) -> None:
    """Put one legend of all panels below them, each entry once."""
    entries: dict[str, Any] = {}
    for axes in panels.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    entries = dict(sorted(entries.items(), key=lambda entry: _place(entry[0])))
    longest = max(map(len, entries), default=0)
    n_columns = max(1, int(figure.get_figwidth() / (0.5 + 0.045 * longest)))
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="outside lower center",
        ncols=min(n_columns, len(entries)) or 1,
    )


def _place(label: str) -> tuple[int, str]:
    """Sort key of a legend entry: word lengths, the paper's, lines to compare with."""
    kinds = ("ℓ", "the paper", "training", "held out", "chance", "best open-loop")
    found = [i for i, kind in enumerate(kinds) if label.startswith(kind)]
    return (found or [len(kinds)])[0], "" if found else label


def mean_text(counts: np.ndarray) -> str:
    """Say what the curves show; below three seeds there is no band."""
    counts = np.atleast_1d(counts)
    band = ", 95 % band" if np.max(counts) > 2 else ", too few for a band"
    return f"mean over {seeds_text(counts.tolist())}{band}"


def _draw_panel(
    axes: Axes, numbers: Numbers, x: str, task: str, panel: str, per_trial: bool
) -> None:
    here = np.flatnonzero((numbers["task"] == task) & (numbers["panel"] == panel))
    if not len(here):
        axes.set_axis_off()
        return
    order = here[np.argsort(numbers["length"][here], kind="stable")].tolist()
    seen: dict[int, int] = {}
    for row in order:
        length, label = int(numbers["length"][row]), str(numbers["line"][row])
        if "colour" in numbers:  # not by word length
            number, place = divmod(int(numbers["colour"][row]), len(_COLOURS))
            colour = _COLOURS[place]
        else:
            number, colour = seen.setdefault(length, 0), length_colour(length)
            label += " (RP)" * (method(length) == "RP")
        seen[length] = number + 1
        style = {"color": colour, "ls": _DASHES[number % len(_DASHES)]}
        _draw_curve(axes, numbers[x], numbers, row, label=label, **style)
    share = numbers["n_trials"][order[0]] if per_trial else 1
    chance, blind = (float(numbers[n][order[0]] / share) for n in ("chance", "blind"))
    draw_level(axes, "chance", chance)
    if blind > chance:
        draw_level(axes, "blind", blind)
