"""`cartpole-curves`: training and held-out returns of RP and FRP (Fig. 3).

A row of panels per memory and whatever else the runs vary; all word lengths are shown,
so none has to be chosen. Training returns count what ended while collecting, held-out
ones the first episode of every environment.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from freeproj.experiments.dataset import Dataset
from freeproj.findings.curves import curve_numbers, need_runs
from freeproj.findings.labels import task_title
from freeproj.report.figures.panels import (
    draw_curve,
    draw_level,
    line_label,
    mean_text,
    panel_grid,
    share_legend,
)
from freeproj.report.figures.style import length_colour
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_TITLES = {"train": "training, random words", "test": "held-out map"}


def compute(
    dataset: Dataset,
    task: str = "StatelessCartPole",
    protocol: str = "projection",
    running_maximum: bool = False,
) -> dict[str, np.ndarray]:
    """Return the curves of one task, training and held out."""
    cells = need_runs(dataset, protocol)
    known = list(dict.fromkeys(cells.task(key) for key in cells.runs))
    if task not in known:
        raise ValueError(
            f"No {task} in these runs. Tasks there: {', '.join(known)}; choose one "
            "with --set task=NAME."
        )
    here = cells.where(lambda key: cells.task(key) == task)
    both = [curve_numbers(here, split, running_maximum) for split in _TITLES]
    numbers = {f"train_{name}": column for name, column in both[0].items()}
    return {**numbers, **both[1]}


def draw(numbers: Numbers) -> Figure:
    """Draw training beside test, a colour per word length."""
    rows = list(dict.fromkeys(numbers["panel"].tolist()))
    figure, panels = panel_grid(len(rows), 2)
    for (split, title), column in zip(_TITLES.items(), panels.T, strict=True):
        column[0].set_title(title)
        column[-1].set_xlabel("update")
        prefix = "train_" if split == "train" else ""
        part = {
            n.removeprefix(prefix): v for n, v in numbers.items() if n[:6] == "train_"
        }
        shown = part if prefix else numbers
        for axes, panel in zip(column, rows, strict=True):
            for row in np.flatnonzero(shown["panel"] == panel).tolist():
                colour = length_colour(int(shown["length"][row]))
                label = line_label(shown, row)
                draw_curve(
                    axes, shown["updates"], shown, row, color=colour, label=label
                )
            draw_level(axes, "chance", float(numbers["chance"][0]))
            if numbers["blind"][0] > numbers["chance"][0]:
                draw_level(axes, "blind", float(numbers["blind"][0]))
    _level_scales(panels)
    for axes, panel in zip(panels[:, 0], rows, strict=True):
        axes.set_ylabel(f"{panel}\nreturn of an episode")
    share_legend(figure, panels)
    kind = "largest return so far, " if numbers["running_maximum"] else ""
    title = (
        f"{task_title(str(numbers['task'][0]))}: {kind}{mean_text(numbers['n_runs'])}"
    )
    figure.suptitle(title, fontsize=8.5)
    return figure


def _level_scales(panels: np.ndarray) -> None:
    ends = [axes.get_ylim() for axes in panels.flat]
    for axes in panels.flat:
        axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
