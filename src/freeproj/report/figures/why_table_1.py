"""`why-table-1`: returns on tile, minus tile, random projections and blanked.

Uncorrected QR beside Haar, redrawn beside fixed bases, a row per task. A dot per word
length: if ℓ = 1 falls below chance on tile and rises above it on minus tile, with raw
QR only, the sign of QR is the cause. The paper's own raw returns are the diamonds.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.experiments.dataset import Dataset
from freeproj.findings.labels import seeds_text, task_title
from freeproj.findings.map_returns import map_numbers, paper_numbers, why_cells
from freeproj.report.figures import panels
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
    kinds = panels.groups_of(numbers, "bases", "family")
    columns = [
        (b, f) for b in ("redrawn", "fixed") for f in _FAMILIES if (b, f) in kinds
    ]
    tasks = panels.groups_of(numbers, "task", "setting")
    figure = Figure(figsize=(WIDE, 0.9 + 1.5 * len(tasks)))
    grid = figure.subplots(len(tasks), len(columns), squeeze=False, sharey="row")
    for line, ((task, setting), rows) in zip(grid, tasks.items(), strict=True):
        for axes, kind in zip(line, columns, strict=True):
            _draw_panel(axes, numbers, np.intersect1d(rows, kinds[kind]))
        line[0].set_ylabel(f"{task_title(task)}\n{setting}\nreturn per trial")
    for axes, (bases, family) in zip(grid[0], columns, strict=True):
        axes.set_title(f"{_FAMILIES[family]}, {bases} bases")
    panels.share_legend(figure, grid)
    figure.suptitle(
        "Where Table 1 comes from: held-out return on four test maps, "
        f"{seeds_text(numbers['n_runs'].tolist())}, 95 % intervals",
        fontsize=8.5,
    )
    return figure


def _draw_panel(axes: Axes, numbers: Numbers, rows: np.ndarray) -> None:
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
        x = np.arange(len(titles)) + places[length]
        label = f"ℓ = {length}" + " (RP)" * (length == 1)
        panels.draw_points(axes, x, numbers, row, ms=3.5, lw=1.1, label=label)
    first = int(rows[0])
    panels.draw_levels(axes, numbers, first, "chance")
    if numbers["family"][first] == "qr":
        _draw_paper(axes, numbers, first, places)


def _draw_paper(axes: Axes, numbers: Numbers, row: int, places: dict) -> None:
    """Mark the paper's raw returns on tile, in the colour of their word length."""
    memory = str(numbers["setting"][row]).split(",")[0].lower()
    task = numbers["task"][row]
    mine = (numbers["paper_task"] == task) & (numbers["paper_memory"] == memory)
    for each in np.flatnonzero(mine).tolist():
        length = int(numbers["paper_length"][each])
        x, mean = places.get(length, 0.0) + 0.07, numbers["paper_mean"][each]
        label = "the paper's RP" if length == 1 else "the paper's FRP"
        look = {"mfc": "none", "mec": length_colour(length), "ms": 4.5}
        axes.plot([x], [mean], "D", label=label, **look)
