"""`study`: what differs between the runs of a folder, overlaid, task by task.

A panel per task; a line per configuration, named by the settings that vary, with its
95 % band from three seeds on. Returns are per trial, on random projections where the
runs were tested on them.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import make_cells
from freeproj.findings.curves import curve_numbers
from freeproj.findings.labels import map_title, settings_text, task_title
from freeproj.report.figures.panels import (
    draw_curve,
    draw_level,
    mean_text,
    panel_grid,
    share_legend,
)
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#9b4f8a", "#3d8fc4")
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))


def compute(dataset: Dataset, on: str = "") -> dict[str, np.ndarray]:
    """Return the curves of all configurations, a row each.

    Args:
        on: the test projection; by default `dataset.test_map`.
    """
    on = on or dataset.test_map
    own = [run for run in dataset.runs if not run.settings.get("evaluation.task")]
    cells = make_cells(dataset, "projection" if own else "task")
    if not cells.runs:
        raise ValueError("No runs; `freeproj sweep quick --out runs` makes some.")
    numbers = curve_numbers(cells, on=on)
    varied = [
        axis
        for place, axis in enumerate(cells.axes)
        if axis != "task" and len({key[place] for key in cells.runs}) > 1
    ]
    labels = {
        cells.label(key): settings_text(
            {axis: cells.settings(key)[axis] for axis in varied}
        )
        for key in cells.runs
    }
    lines = [labels[name] or "all runs" for name in numbers["name"].tolist()]
    order = {line: i for i, line in enumerate(dict.fromkeys(lines))}
    share = numbers["n_trials"][:, None]
    return {
        **numbers,
        **{name: numbers[name] / share for name in ("mean", "low", "high")},
        "panel": np.full(len(lines), ""),
        "line": np.array(lines),
        "colour": np.array([order[line] for line in lines]),
        "on": np.array(map_title(on)),
    }


def draw(numbers: Numbers) -> Figure:
    """Draw tasks beside each other, all configurations of a task in one panel."""
    tasks = list(dict.fromkeys(numbers["task"].tolist()))
    figure, panels = panel_grid(1, len(tasks))
    n_lines = len(set(numbers["line"].tolist()))
    figure.set_figheight(2.4 + 0.16 * n_lines)  # the legend stands below
    for axes, task in zip(panels[0], tasks, strict=True):
        rows = np.flatnonzero(numbers["task"] == task).tolist()
        for row in rows:
            place = int(numbers["colour"][row])
            draw_curve(
                axes,
                numbers["updates"],
                numbers,
                row,
                color=_COLOURS[place % len(_COLOURS)],
                ls=_DASHES[place // len(_COLOURS) % len(_DASHES)],
                label=str(numbers["line"][row]),
            )
        chance = numbers["chance"][rows[0]] / numbers["n_trials"][rows[0]]
        draw_level(axes, "chance", float(chance))
        axes.set(title=task_title(task), xlabel="update")
    panels[0, 0].set_ylabel("return per trial")
    share_legend(figure, panels)
    figure.suptitle(f"On {numbers['on']}: {mean_text(numbers['n_runs'])}", fontsize=8.5)
    return figure
