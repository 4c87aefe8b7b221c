"""`invariant`: what agents earn on unseen projections, against steps of training.

Five agents in each task: one that sees the frame's coordinates; ordinary ones, trained
with RP and with FRP; one that is trained and tested without a projection; and one that
never gets an observation. Lines are means over seeds, bands 95 % intervals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from freeproj.experiments.dataset import Dataset
from freeproj.findings.curves import curve_numbers, need_runs
from freeproj.report.figures.panels import draw_panels, mean_text
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_AGENTS = ("trained blind", "frame", "no projection", "RP", "FRP")  # in colours' order


def compute(dataset: Dataset) -> dict[str, np.ndarray]:
    """Return the curves of the tasks in which several kinds of agents were trained.

    Tasks with a frame and both ordinary agents come first; if there are none, all that
    have a frame.
    """
    cells = need_runs(dataset, "projection")
    named = {key: _agent(cells.settings(key)) for key in cells.runs}
    agents: dict[str, set[str]] = {}
    for key, name in named.items():
        agents.setdefault(cells.task(key), set()).add(name)
    full = [task for task, each in agents.items() if {"frame", "RP", "FRP"} <= each]
    shown = full or [task for task, each in agents.items() if "frame" in each]
    if not shown:
        raise ValueError("No run of an agent with a frame (encoder = frame) in these.")
    kept = cells.where(lambda key: bool(named[key]) and cells.task(key) in shown)
    numbers = curve_numbers(kept, on="random", over="steps")
    lines = [named[key] for key in kept.runs]
    share = numbers["n_trials"][:, None]
    return {
        **numbers,
        **{name: numbers[name] / share for name in ("mean", "low", "high")},
        "steps": numbers["steps"] / 1e6,
        "panel": np.full(len(lines), ""),
        "line": np.array(lines),
        "colour": np.array([_AGENTS.index(line) for line in lines]),
    }


def draw(numbers: Numbers) -> Figure:
    """Draw a panel per task."""
    figure = draw_panels(numbers, "steps", per_trial=True, ylabel="return per trial")
    for axes in figure.axes:
        axes.set_xlabel("million steps")
    figure.set_figheight(2.9)
    told = mean_text(numbers["n_runs"])
    figure.suptitle(f"On projections not seen in training: {told}", fontsize=8.5)
    return figure


def _agent(settings: Mapping[str, Any]) -> str:
    """Return the name of a kind of agent, "" for those trained on one projection."""
    if settings.get("projection.n_words") == 1:
        return ""
    seen = settings.get("observation", "projected")
    if seen != "projected":
        return {"none": "trained blind", "plain": "no projection"}.get(str(seen), "")
    if settings.get("encoder") == "frame":
        return "frame"
    return "RP" if settings.get("projection.length") == 1 else "FRP"
