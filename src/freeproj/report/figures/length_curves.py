"""`length-curves`: held-out returns for each word length, task by task (appendix F).

A column of panels per task, a row per memory and whatever else the runs vary. Lines are
means over seeds, bands 95 % intervals of that mean at each update.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from freeproj.experiments.dataset import Dataset
from freeproj.findings.curves import curve_numbers, need_runs
from freeproj.report.figures.panels import draw_panels, mean_text
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]


def compute(
    dataset: Dataset,
    split: str = "test",
    protocol: str = "projection",
    running_maximum: bool = False,
) -> dict[str, np.ndarray]:
    """Return the curves of all cells of a dataset."""
    return curve_numbers(need_runs(dataset, protocol), split, running_maximum)


def draw(numbers: Numbers) -> Figure:
    """Draw tasks beside each other and other settings below each other."""
    figure = draw_panels(numbers, "updates", False, "return")
    which = "Held-out" if numbers["split"] == "test" else "Training"
    kind = "largest return so far" if numbers["running_maximum"] else "return"
    figure.suptitle(
        f"{which} {kind} of an episode: {mean_text(numbers['n_runs'])}", fontsize=8.5
    )
    return figure
