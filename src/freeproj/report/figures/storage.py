"""`storage`: held-out return against word length at n fixed matrices.

ℓ = 1 trains on n maps, longer words on n^ℓ, from the same n stored matrices. Dots: maps
that no agent has met; open dots: training.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.experiments.dataset import Dataset
from freeproj.findings.labels import seeds_text, task_title
from freeproj.findings.map_returns import map_numbers, storage_cells
from freeproj.report.figures import panels
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]


def compute(dataset: Dataset) -> dict[str, np.ndarray]:
    """Return returns per trial by word length, held out and in training."""
    cells = storage_cells(dataset)
    n_generators = [cells.get(key, "projection.n_generators") for key in cells.runs]
    numbers = map_numbers(cells, with_training=True)
    return {**numbers, "n_generators": np.array(n_generators)}


def draw(numbers: Numbers) -> Figure:
    """Draw a panel per task and setting."""
    groups = panels.groups_of(numbers, "task", "setting")
    figure, grid = panels.panel_grid(1, len(groups))
    figure.set_figheight(2.6)
    for axes, ((task, setting), rows) in zip(grid[0], groups.items(), strict=True):
        _draw_panel(axes, numbers, rows)
        n = "/".join(map(str, sorted(set(numbers["n_generators"][rows].tolist()))))
        axes.set_title(f"{task_title(task)}, {setting}\nn = {n} fixed matrices")
        axes.set_xlabel("word length ℓ")
    grid[0, 0].set_ylabel("return per trial")
    panels.share_legend(figure, grid)
    seeds = seeds_text(numbers["n_runs"].tolist())
    figure.suptitle(f"Equal storage: {seeds}, 95 % intervals", fontsize=8.5)
    return figure


def _draw_panel(axes: Axes, numbers: Numbers, rows: np.ndarray) -> None:
    maps = numbers["maps"].tolist()
    test = "random" if "random" in maps else maps[0]
    rows = rows[np.argsort(numbers["length"][rows], kind="stable")]
    places = np.arange(len(rows))
    axes.set_xticks(places, map(str, numbers["length"][rows].tolist()))
    label = f"held out: {numbers['map_titles'][maps.index(test)]}"
    for name, text, face in (("train", "training", "none"), (test, label, None)):
        column = maps.index(name)
        axes.plot(places, numbers["mean"][rows, column], color="0.6", lw=0.8, zorder=1)
        for x, row in zip(places, rows.tolist(), strict=True):
            panels.draw_points(axes, x, numbers, row, [column], ms=4.5, mfc=face)
        axes.plot([], [], "o", ms=4.5, label=text, color="0.3", mfc=face)
    panels.draw_levels(axes, numbers, int(rows[0]), "chance", "blind")
