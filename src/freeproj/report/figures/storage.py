"""`storage`: held-out return against word length at n fixed matrices.

ℓ = 1 trains on n maps, longer words on n^ℓ, from the same n stored matrices. Dots: maps
that no agent has met; open dots: training.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.experiments.dataset import Dataset
from freeproj.findings.labels import seeds_text, task_title
from freeproj.findings.map_returns import map_numbers, storage_cells
from freeproj.report.figures.panels import draw_level, panel_grid, share_legend
from freeproj.report.figures.style import length_colour
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
    pairs = zip(numbers["task"].tolist(), numbers["setting"].tolist(), strict=True)
    groups = list(dict.fromkeys(pairs))
    figure, panels = panel_grid(1, len(groups))
    figure.set_figheight(2.6)
    for axes, (task, setting) in zip(panels[0], groups, strict=True):
        rows = np.flatnonzero(
            (numbers["task"] == task) & (numbers["setting"] == setting)
        )
        _draw_panel(axes, numbers, rows)
        n = "/".join(map(str, sorted(set(numbers["n_generators"][rows].tolist()))))
        axes.set_title(f"{task_title(task)}, {setting}\nn = {n} fixed matrices")
        axes.set_xlabel("word length ℓ")
    panels[0, 0].set_ylabel("return per trial")
    share_legend(figure, panels)
    seeds = seeds_text(numbers["n_runs"].tolist())
    figure.suptitle(f"Equal storage: {seeds}, 95 % intervals", fontsize=8.5)
    return figure


def _draw_panel(axes: Axes, numbers: Numbers, rows: np.ndarray) -> None:
    maps = numbers["maps"].tolist()
    test = "random" if "random" in maps else maps[0]
    rows = rows[np.argsort(numbers["length"][rows], kind="stable")]
    lengths = numbers["length"][rows]
    places = np.arange(len(rows))
    axes.set_xticks(places, [str(length) for length in lengths.tolist()])
    label = f"held out: {numbers['map_titles'][maps.index(test)]}"
    for name, text, face in (("train", "training", "none"), (test, label, None)):
        column = maps.index(name)
        mean = numbers["mean"][rows, column]
        axes.plot(places, mean, color="0.6", lw=0.8, zorder=1)
        for x, row, length in zip(places, rows.tolist(), lengths.tolist(), strict=True):
            value = numbers["mean"][row, column]
            low, high = numbers["low"][row, column], numbers["high"][row, column]
            colour = length_colour(length)
            reach = np.nan_to_num([[value - low], [high - value]])
            axes.errorbar(
                [x], [value], reach, fmt="o", ms=4.5, color=colour, mfc=face or colour
            )
        axes.plot([], [], "o", ms=4.5, label=text, color="0.3", mfc=face or "0.3")
    first = int(rows[0])
    share = numbers["n_trials"][first]
    draw_level(axes, "chance", float(numbers["chance"][first] / share))
    draw_level(axes, "blind", float(numbers["blind"][first] / share))
