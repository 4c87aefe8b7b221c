"""`length-curves`: held-out returns for each word length, task by task (appendix F).

A row of panels per memory, a column per task. Lines are means over seeds, bands 95 %
bootstrap intervals of that mean at each update.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from freeproj.report.figures.panels import draw_lengths, mean_text
from freeproj.report.paper.baselines import level_numbers, trials_of
from freeproj.report.paper.run_numbers import curve_numbers, ordered_tasks, read_runs
from freeproj.report.saved import Numbers
from freeproj.stats import learning_curves

__all__ = ["compute", "draw"]


def compute(
    runs: str,
    split: str = "test",
    counting: str = "episodes",
    protocol: str = "projection",
    running_maximum: bool = False,
) -> dict[str, np.ndarray]:
    """Returns the curves of all cells of a folder of runs."""
    gathered = read_runs(runs)
    curves = learning_curves(
        gathered.table,
        split=split,
        counting=counting if split == "test" else "window",
        protocol=protocol,
        running_maximum=running_maximum,
    )
    if not curves:
        raise ValueError(
            f"{runs} has no evaluations with {protocol} held out, {split}, counted by "
            f"{counting}; try --set counting=window or --set protocol=task."
        )
    tasks = ordered_tasks([curve.cell.task for curve in curves])
    return {
        **curve_numbers(curves),
        "counting": np.array(counting),
        "running_maximum": np.array(running_maximum),
        **level_numbers(tasks, trials_of(gathered.runs)),
    }


def draw(numbers: Numbers) -> Figure:
    """Draws tasks beside each other and memories below each other."""
    figure = draw_lengths(numbers, "updates", "chance", "return")
    which = "Held-out" if numbers["split"][0] == "test" else "Training"
    kind = "largest return so far" if numbers["running_maximum"] else "return"
    figure.suptitle(
        f"{which} {kind} of an episode: {mean_text(numbers['n_runs'])}",
        fontsize=8.5,
    )
    return figure
