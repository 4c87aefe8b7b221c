"""Curves of runs: `study`, `invariant`, `length-curves`, `cartpole-curves`, …

Lines are means over seeds, bands 95 % intervals of that mean, from three seeds on.

Training returns count what ended while collecting, held-out ones the first episode of
every environment. In `adaptation` weights are frozen and trials restart alike, so what
rises was learned from the trials before.
"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from freeproj.experiments.dataset import Dataset
from freeproj.findings import labels
from freeproj.findings.cells import Cells
from freeproj.findings.figure_numbers import curve_numbers, need_runs, trial_numbers
from freeproj.findings.selection import arm
from freeproj.report.figures.panels import draw_panels, mean_text, one_panel
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

# The arms that are shown, in the order of their colours, and their names.
_AGENTS = {"none": "trained blind", "frame": "frame", "plain": "no projection"}
_AGENTS |= {"RP": "RP", "FRP": "FRP"}
_SPLITS = {"train": "training, random words", "test": "held-out map"}


def compute(
    dataset: Dataset,
    show: str = "test",
    task: str = "",
    protocol: str = "projection",
    on: str = "",
) -> dict[str, np.ndarray]:
    """Return the curves of all cells of a dataset, a row each.

    Args:
        show: `test` or `train` over updates, `both`, `trials` of an episode, `study`
            (`test` per trial, on the same projection for all), or `agents`.
        task: only this one.
        on: the test projection; by default each run's first one, and
            `dataset.test_map` for `study`.
    """
    if show == "study" and all(r.settings.get("evaluation.task") for r in dataset.runs):
        protocol = "task"
    cells = need_runs(dataset, protocol)
    known = list(dict.fromkeys(cells.task(key) for key in cells.runs))
    if task and task not in known:
        there = f"Tasks there: {', '.join(known)}; choose one with --set task=NAME."
        raise ValueError(f"No {task} in these runs. {there}")
    if task:
        cells = cells.where(lambda key: cells.task(key) == task)
    if show == "trials":
        return trial_numbers(cells)
    if show == "agents":
        return _agents(cells)
    if show == "study":
        on = on or dataset.test_map
        numbers = curve_numbers(cells, on=on)
        same = {*cells.axes} - {*cells.varied("task")}
        names = {cells.label(key): cells.label(key, *same) for key in cells.runs}
        lines = [names[name] or "all runs" for name in numbers["name"].tolist()]
        return one_panel(numbers, lines) | {"on": np.array(labels.map_title(on))}
    if show != "both":
        return curve_numbers(cells, show, on)
    train, test = (curve_numbers(cells, split, on) for split in _SPLITS)
    return {**{f"train_{name}": column for name, column in train.items()}, **test}


def _agents(cells: Cells) -> dict[str, np.ndarray]:
    """Return the curves of the tasks with a frame and both ordinary agents.

    If there are none, of all tasks with a frame; memories stand in rows of their own.
    """
    named = {
        k: _AGENTS.get(arm(runs[0].settings), "") for k, runs in cells.runs.items()
    }
    agents: dict[str, set[str]] = {}
    for key, name in named.items():
        agents.setdefault(cells.task(key), set()).add(name)
    full = [task for task, each in agents.items() if {"frame", "RP", "FRP"} <= each]
    shown = full or [task for task, each in agents.items() if "frame" in each]
    if not shown:
        raise ValueError("No run of an agent with a frame (encoder = frame) in these.")
    kept = cells.where(lambda key: bool(named[key]) and cells.task(key) in shown)
    numbers = curve_numbers(kept, on="random", over="steps")
    numbers["steps"] = numbers["steps"] / 1e6
    labelled = {kept.label(key): key for key in kept.runs}
    keys = [labelled[name] for name in numbers["name"].tolist()]
    memories = [labels.value_text("memory", kept.get(key, "memory")) for key in keys]
    panels = memories if len(set(memories)) > 1 else [""] * len(keys)
    lines = one_panel(numbers, [named[key] for key in keys], [*_AGENTS.values()])
    return lines | {"panel": np.array(panels)}


def draw(numbers: Numbers) -> Figure:
    """Draw tasks beside each other and other settings below each other."""
    told = mean_text(numbers["n_runs"])
    share: dict[str, Any] = {"per_trial": True, "ylabel": "return per trial"}
    if "trials" in numbers:
        figure = draw_panels(numbers, "trials", per_trial=True)
        title = f"Return of each trial of an episode, last evaluation: {told}"
    elif "steps" in numbers:
        figure = draw_panels(numbers, "steps", **share)
        for axes in figure.axes:
            axes.set_xlabel("million steps" * bool(axes.get_xlabel()))
        figure.set_figheight(1.45 + 1.45 * len(set(numbers["panel"].tolist())))
        title = f"On projections not seen in training: {told}"
    elif "on" in numbers:
        figure = draw_panels(numbers, **share)
        n_lines = len(set(numbers["line"].tolist()))
        figure.set_figheight(2.4 + 0.16 * n_lines)  # the legend stands below
        title = f"On {numbers['on']}: {told}"
    elif "train_mean" in numbers:
        train = {n[6:]: v for n, v in numbers.items() if n.startswith("train_")}
        task, parts = str(numbers["task"][0]), {"train": train, "test": numbers}
        columns = [(title, parts[split], task) for split, title in _SPLITS.items()]
        figure = draw_panels(numbers, columns=columns, ylabel="return of an episode")
        title = f"{labels.task_title(task)}: return, {told}"
    else:
        figure = draw_panels(numbers)
        which = "Held-out" if numbers["split"] == "test" else "Training"
        title = f"{which} return of an episode: {told}"
    figure.suptitle(title, fontsize=8.5)
    return figure
