"""What figures of runs share: a curve with its band, lines of chance, a grid."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from freeproj.findings.labels import method, seeds_text, task_title
from freeproj.report.figures.style import COLUMN, WIDE, length_colour, same_limits
from freeproj.storage.saved import Numbers

__all__ = ["draw_levels", "draw_log", "draw_panels", "draw_points", "groups_of"]
__all__ += ["mean_text", "one_panel", "panel_grid", "share_legend"]

_LEVELS = {"chance": "chance", "blind": "best open-loop policy"}
_LEVEL_DASHES = {"chance": (0, (1, 1.5)), "blind": (0, (5, 2, 1, 2))}
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#9b4f8a", "#3d8fc4")
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))


def one_panel(
    numbers: Numbers, lines: Sequence[str], order: Sequence[str] = ()
) -> dict[str, np.ndarray]:
    """Return curves per trial, a panel per task; colours go by `order`, then lines'."""
    order, share = list(dict.fromkeys([*order, *lines])), numbers["n_trials"][:, None]
    return {
        **numbers,
        **{name: numbers[name] / share for name in ("mean", "low", "high")},
        "panel": np.full(len(lines), ""),
        "line": np.array(lines),
        "colour": np.array([order.index(line) for line in lines]),
    }


def draw_panels(
    numbers: Numbers,
    x: str = "updates",  # or `steps`, `trials`: the name of the columns' places
    *,
    per_trial: bool = False,  # the returns are those of one trial
    ylabel: str = "return",
    columns: Sequence[tuple[str, Numbers, str]] = (),  # title, numbers, task; one scale
) -> Figure:
    """Draw a line per cell, a column per task, a row per other settings."""
    rows = list(dict.fromkeys(numbers["panel"].tolist()))
    tasks = list(dict.fromkeys(numbers["task"].tolist()))
    chosen = columns or [(task_title(task), numbers, task) for task in tasks]
    figure, panels = panel_grid(len(rows), len(chosen))
    for column, (title, part, task) in zip(panels.T, chosen, strict=True):
        column[0].set_title(title)
        column[-1].set_xlabel(x.removesuffix("s"))
        for axes, panel in zip(column, rows, strict=True):
            here = (part["task"] == task) & (part["panel"] == panel)
            _draw_panel(axes, part, x, np.flatnonzero(here), per_trial)
    for axes, panel in zip(panels[:, 0], rows, strict=True):
        axes.set_ylabel(f"{panel.replace(', ', chr(10))}\n{ylabel}".lstrip())
    if columns:
        same_limits(list(panels.flat))
    share_legend(figure, panels)
    return figure


def _draw_panel(
    axes: Axes, numbers: Numbers, x: str, rows: np.ndarray, per_trial: bool
) -> None:
    if not len(rows):
        axes.set_axis_off()
        return
    order = rows[np.argsort(numbers["length"][rows], kind="stable")].tolist()
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
    above = numbers["blind"][order[0]] > numbers["chance"][order[0]]
    kinds = ("chance", "blind") if above else ("chance",)
    draw_levels(axes, numbers, order[0], *kinds, per_trial=per_trial)


def _draw_curve(axes: Axes, x: np.ndarray, numbers: Numbers, row: int, **style) -> None:
    """Draw the points of a row that have data, with their band."""
    mean, low, high = (numbers[name][row] for name in ("mean", "low", "high"))
    seen = numbers["n_seeds"][row] > 0
    band = seen & ~np.isnan(low)
    marker = "o" if seen.sum() < 2 else None  # one point makes no line
    axes.plot(x[seen], mean[seen], marker=marker, ms=2.5, **style)
    colour = style["color"]
    axes.fill_between(x[band], low[band], high[band], color=colour, alpha=0.16, lw=0)


def draw_points(
    axes: Axes, x: Any, numbers: Numbers, row: int, columns: Any = slice(None), **style
) -> None:
    """Draw means of a row as dots, with intervals, in its word length's colour."""
    mean, low, high = (numbers[name][row, columns] for name in ("mean", "low", "high"))
    reach = np.nan_to_num([mean - low, high - mean])
    colour = length_colour(int(numbers["length"][row]))
    axes.errorbar(x, mean, reach, fmt="o", color=colour, **style)


def draw_levels(
    axes: Axes, numbers: Numbers, row: int, *kinds: str, per_trial: bool = True
) -> None:
    """Draw lines of `chance` and `blind`, the best open-loop policy, where known."""
    for kind in kinds:
        value = numbers[kind][row] / (numbers["n_trials"][row] if per_trial else 1)
        if not np.isnan(value):
            style = {"ls": _LEVEL_DASHES[kind], "color": "0.45", "lw": 0.8, "zorder": 1}
            axes.axhline(value, label=_LEVELS[kind], **style)


def draw_log(lines: Mapping[str, tuple[Sequence, Sequence]], ylabel: str) -> Figure:
    """Draw columns of one run's log against updates."""
    figure = Figure(figsize=(WIDE, 2.4), layout="constrained")
    axes = figure.subplots()
    for name, (updates, values) in lines.items():
        axes.plot(updates, values, label=name)
    axes.set(xlabel="update", ylabel=ylabel)
    axes.legend(frameon=False)
    return figure


def groups_of(numbers: Numbers, *names: str) -> dict[tuple, np.ndarray]:
    """Return the rows that share the values of these columns, by these values."""
    keys = list(zip(*(numbers[name].tolist() for name in names), strict=True))
    return {key: np.flatnonzero([each == key for each in keys]) for key in keys}


def panel_grid(n_rows: int, n_columns: int) -> tuple[Figure, np.ndarray]:
    """Return a figure as wide as its columns need, at most a page, and its panels."""
    width = min(WIDE, max(COLUMN, 1.75 * n_columns))
    figure = Figure(figsize=(width, 0.75 + 1.45 * n_rows))
    # Scales differ from task to task and are shared between the rows.
    shared: Any = {"sharex": "col", "sharey": "col"}
    panels = figure.subplots(n_rows, n_columns, squeeze=False, **shared)
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
    labels = sorted(entries, key=_place)
    handles = [entries[label] for label in labels]
    room = figure.get_figwidth() / (0.5 + 0.045 * max(map(len, labels), default=0))
    n_columns = max(1, min(int(room), len(labels)))
    figure.legend(handles, labels, loc="outside lower center", ncols=n_columns)


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
