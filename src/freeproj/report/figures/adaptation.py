"""`adaptation`: the return of trial 1, 2, … within an episode (beyond the paper).

What in-context learning looks like: weights are frozen and trials restart alike, so
whatever rises from left to right was learned from the trials before. The last
evaluation of each run, under a map it was never trained on.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from freeproj.experiments.dataset import Dataset
from freeproj.findings.curves import need_runs, trial_numbers
from freeproj.report.figures.panels import draw_panels, mean_text
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]


def compute(dataset: Dataset) -> dict[str, np.ndarray]:
    """Return mean return and interval by trial, for every cell of a dataset."""
    return trial_numbers(need_runs(dataset))


def draw(numbers: Numbers) -> Figure:
    """Draw tasks beside each other and other settings below each other."""
    figure = draw_panels(numbers, "trials", True, "return")
    figure.suptitle(
        "Return of each trial of an episode, last evaluation: "
        f"{mean_text(numbers['n_runs'])}",
        fontsize=8.5,
    )
    return figure
