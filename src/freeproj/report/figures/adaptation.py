"""`adaptation`: the return of trial 1, 2, … 16 within an episode (beyond the paper).

What in-context learning looks like: weights are frozen, the start is the same in every
trial, so whatever rises from left to right was learned from the trials before. The last
evaluation of each run, under the map it was never trained on.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from freeproj.report.figures.panels import draw_lengths, mean_text
from freeproj.report.paper.baselines import level_numbers, trials_of
from freeproj.report.paper.run_numbers import (
    adaptation_numbers,
    ordered_tasks,
    read_runs,
)
from freeproj.report.saved import Numbers

__all__ = ["compute", "draw"]


def compute(runs: str) -> dict[str, np.ndarray]:
    """Returns mean return and interval by trial, for every cell of a folder of runs."""
    gathered = read_runs(runs)
    if not gathered.adaptations:
        raise ValueError(
            f"{runs} has no returns trial by trial; they are logged by runs with "
            "evaluation.episodes = true."
        )
    tasks = ordered_tasks([each.task for each in gathered.adaptations])
    return {
        **adaptation_numbers(gathered.adaptations),
        **level_numbers(tasks, trials_of(gathered.runs)),
    }


def draw(numbers: Numbers) -> Figure:
    """Draws tasks beside each other and memories below each other."""
    figure = draw_lengths(numbers, "trials", "trial_chance", "return")
    figure.suptitle(
        "Return of each trial of an episode, last evaluation: "
        f"{mean_text(numbers['n_runs'])}",
        fontsize=8.5,
    )
    return figure
