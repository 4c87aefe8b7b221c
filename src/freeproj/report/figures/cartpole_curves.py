"""`cartpole-curves`: training and held-out returns of RP and FRP, GRU and S5 (Fig. 3).

FRP has the length ℓ > 1 of the best test MMER, as in the paper. Lines are means over
seeds, bands 95 % bootstrap intervals of that mean at each update. Training returns
count what ended while collecting, held-out ones every environment's first episode.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.report.figures.panels import (
    draw_curve,
    draw_level,
    mean_text,
    panel_grid,
    seeds_text,
    share_legend,
)
from freeproj.report.figures.style import PALETTE
from freeproj.report.gathering import Gathered
from freeproj.report.paper.baselines import level_numbers, trials_of
from freeproj.report.paper.labels import task_title
from freeproj.report.paper.run_numbers import curve_numbers, read_runs
from freeproj.report.saved import Numbers
from freeproj.stats import Curve, best_lengths, learning_curves

__all__ = ["compute", "draw"]

_TITLES = {"train": "training, random words", "test": "held-out projection"}
_STYLES = {"gru": "-", "s5": (0, (3.5, 1.2))}


def compute(
    runs: str,
    task: str = "StatelessCartPole",
    by: str = "test-mmer",
    counting: str = "episodes",
    protocol: str = "projection",
    running_maximum: bool = False,
) -> dict[str, np.ndarray]:
    """Returns the curves of ℓ = 1 and of the best ℓ > 1, train and test.

    Args:
        runs: a folder of runs, at any depth.
        by: how the length of FRP is chosen, see `freeproj.stats.CRITERIA`.
        counting: of the held-out returns, `episodes` or the paper's `window`.
    """
    gathered = read_runs(runs)
    same = {"protocol": protocol, "running_maximum": running_maximum}
    free = best_lengths(
        gathered.table, by=by, only_free=True, protocol=protocol, counting=counting
    )
    chosen = {choice.best for choice in free.values()}
    curves = [
        curve
        for split, count in (("train", "window"), ("test", counting))
        for curve in learning_curves(
            gathered.table, split=split, counting=count, **same
        )
        if curve.cell.task == task and (curve.cell.length == 1 or curve.cell in chosen)
    ]
    _check_curves(curves, gathered, task, protocol)
    return {
        **curve_numbers(curves),
        "counting": np.array(counting),
        "chosen_by": np.array(by),
        "running_maximum": np.array(running_maximum),
        **level_numbers([task], trials_of(gathered.runs)),
    }


def draw(numbers: Numbers) -> Figure:
    """Draws training beside test; colour is the method, the line's style the memory."""
    figure, panels = panel_grid(1, 2)
    figure.set_figheight(2.5)
    for axes, (split, title) in zip(panels[0], _TITLES.items(), strict=True):
        axes.set_title(title)
        axes.set_xlabel("update")
        _draw_split(axes, numbers, split)
    low = min(axes.get_ylim()[0] for axes in panels[0])
    high = max(axes.get_ylim()[1] for axes in panels[0])
    for axes in panels[0]:
        axes.set_ylim(low, high)
    kind = "largest return so far" if numbers["running_maximum"] else "return"
    panels[0, 0].set_ylabel(f"{kind} of an episode")
    share_legend(figure, panels)
    figure.suptitle(
        f"{task_title(str(numbers['tasks'][0]))}: {mean_text(numbers['n_runs'])}",
        fontsize=8.5,
    )
    return figure


def _check_curves(
    curves: list[Curve], gathered: Gathered, task: str, protocol: str
) -> None:
    if not curves:
        known = ", ".join(sorted(set(gathered.table.task.tolist()))) or "none"
        raise ValueError(
            f"No {task} with {protocol} held out in these runs. Tasks there: {known}; "
            "choose one with --set task=NAME."
        )


def _draw_split(axes: Axes, numbers: Numbers, split: str) -> None:
    for row in np.flatnonzero(numbers["split"] == split).tolist():
        length, memory = int(numbers["length"][row]), str(numbers["memory"][row])
        method = "RP" if length == 1 else f"FRP ℓ={length}"
        count = seeds_text(numbers["n_runs"][[row]])
        draw_curve(
            axes,
            numbers["updates"],
            numbers,
            row,
            color=PALETTE[0 if length == 1 else 1],
            ls=_STYLES.get(memory, ":"),
            label=f"{method}, {memory.upper()} ({count})",
        )
    draw_level(axes, "chance", float(numbers["chance"][0]))
    if numbers["blind"][0] > numbers["chance"][0]:
        draw_level(axes, "blind", float(numbers["blind"][0]))
