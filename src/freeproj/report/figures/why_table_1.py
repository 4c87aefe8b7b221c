"""`why-table-1`: returns on tile, minus tile, random projections and blanked.

Uncorrected QR beside Haar, redrawn beside fixed bases, a row per task. A dot per word
length: if ℓ = 1 falls below chance on tile and rises above it on minus tile, with raw
QR only, the sign of QR is the cause. The paper's own raw returns are the diamonds.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.experiments.dataset import Dataset
from freeproj.findings.labels import seeds_text, task_title
from freeproj.findings.map_returns import map_numbers, paper_numbers, why_cells
from freeproj.report.figures.panels import draw_level, share_legend
from freeproj.report.figures.style import WIDE, length_colour
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_FAMILIES = {"qr": "uncorrected QR", "haar": "Haar"}


def compute(dataset: Dataset) -> dict[str, np.ndarray]:
    """Return returns per trial on every map, with the paper's raw returns."""
    cells = why_cells(dataset)
    return {**map_numbers(cells), **paper_numbers(cells)}


def draw(numbers: Numbers) -> Figure:
    """Draw a row per task and setting, a column per family and kind of bases."""
    columns = [
        (bases, family)
        for bases in ("redrawn", "fixed")
        for family in _FAMILIES
        if _rows(numbers, bases=bases, family=family).size
    ]
    pairs = zip(numbers["task"].tolist(), numbers["setting"].tolist(), strict=True)
    rows = list(dict.fromkeys(pairs))
    figure = Figure(figsize=(WIDE, 0.9 + 1.5 * len(rows)))
    panels = figure.subplots(len(rows), len(columns), squeeze=False, sharey="row")
    for line, (task, setting) in zip(panels, rows, strict=True):
        for axes, (bases, family) in zip(line, columns, strict=True):
            here = _rows(
                numbers, task=task, setting=setting, bases=bases, family=family
            )
            _draw_panel(axes, numbers, here, task, family)
        line[0].set_ylabel(f"{task_title(task)}\n{setting}\nreturn per trial")
    for axes, (bases, family) in zip(panels[0], columns, strict=True):
        axes.set_title(f"{_FAMILIES[family]}, {bases} bases")
    share_legend(figure, panels)
    figure.suptitle(
        "Where Table 1 comes from: held-out return on four test maps, "
        f"{seeds_text(numbers['n_runs'].tolist())}, 95 % intervals",
        fontsize=8.5,
    )
    return figure


def _rows(numbers: Numbers, **wanted: str) -> np.ndarray:
    keep = np.ones(len(numbers["task"]), bool)
    for name, value in wanted.items():
        keep &= numbers[name] == value
    return np.flatnonzero(keep)


def _draw_panel(
    axes: Axes, numbers: Numbers, rows: np.ndarray, task: str, family: str
) -> None:
    if not rows.size:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "not run", ha="center", transform=axes.transAxes)
        return
    titles = numbers["map_titles"].tolist()
    axes.set_xticks(range(len(titles)), [t.replace(" ", "\n", 1) for t in titles])
    axes.set_xlim(-0.5, len(titles) - 0.5)
    lengths = sorted(set(numbers["length"].tolist()))
    spread = np.linspace(-0.27, 0.27, len(lengths)) if len(lengths) > 1 else [0.0]
    places = dict(zip(lengths, spread, strict=True))
    for row in rows.tolist():
        length = int(numbers["length"][row])
        mean = numbers["mean"][row]
        reach = np.nan_to_num([mean - numbers["low"][row], numbers["high"][row] - mean])
        axes.errorbar(
            np.arange(len(titles)) + places[length],
            mean,
            reach,
            fmt="o",
            ms=3.5,
            lw=1.1,
            color=length_colour(length),
            label=f"ℓ = {length}" + " (RP)" * (length == 1),
        )
    first = int(rows[0])
    draw_level(
        axes, "chance", float(numbers["chance"][first] / numbers["n_trials"][first])
    )
    if family == "qr":
        _draw_paper(axes, numbers, task, str(numbers["setting"][first]), places)


def _draw_paper(
    axes: Axes, numbers: Numbers, task: str, setting: str, places: dict[int, float]
) -> None:
    """Mark the paper's raw returns on tile, in the colour of their word length."""
    memory = setting.split(",")[0].lower()
    mine = (numbers["paper_task"] == task) & (numbers["paper_memory"] == memory)
    for row in np.flatnonzero(mine).tolist():
        length = int(numbers["paper_length"][row])
        axes.plot(
            [places.get(length, 0.0) + 0.07],
            [numbers["paper_mean"][row]],
            "D",
            ms=4.5,
            mfc="none",
            mec=length_colour(length),
            label="the paper's RP" if length == 1 else "the paper's FRP",
        )
