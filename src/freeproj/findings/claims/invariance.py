"""The questions about agents that see coordinates in a frame (`encoder = "frame"`).

The arms of the study `invariant`: frame, frame trained under one fixed projection, RP
(ℓ = 1), FRP (ℓ = 4), plain, and trained blind. They differ in the projection, so they
are paired by task, memory and what an episode is.
"""

import functools
from typing import Any

from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import Cells, Keep, of_protocol
from freeproj.findings.claims.training import earned, earned_along, pairs
from freeproj.findings.questions import Contrast, stated
from freeproj.findings.selection import arm
from freeproj.findings.telling import short_task

__all__ = ["QUESTIONS"]

_MATCH = ("task", "memory", "projection.dim", "trials", "previous_reward", "n_trials")


def _are(*arms: str) -> Keep:
    return lambda settings: arm(settings) in arms


_FRAMED = _are("frame", "frame, one projection")
_FRAME, _PLAIN, _ORDINARY = _are("frame"), _are("plain"), _are("RP", "FRP")


def _trained(keep: Keep, dataset: Dataset) -> Dataset:
    """Return the runs of such agents that were tested on their own task."""
    own = of_protocol(dataset, "projection")
    return own.select(lambda run: keep(run.settings))


def _arms(dataset: Dataset) -> Dataset:
    """Return all arms of the tasks that some frame agent was trained on."""
    tasks = {run.settings["task"] for run in _trained(_FRAMED, dataset).runs}
    return _trained(lambda settings: settings["task"] in tasks, dataset)


def _against(what: str, first: str, second: str = "frame", **more: Any) -> Contrast:
    sides = {"first": _are(first), "second": _are(second)}
    return Contrast(what=what, match=_MATCH, **sides, **more)


def _of_task(cells: Cells, task: str) -> Cells:
    return cells.where(lambda key: cells.task(key) == task)


def _pairs(first: Keep, second: Keep, on: str, form: str, cells: Cells) -> dict:
    """Give returns of two arms, for the tasks with most seeds."""
    framed = cells.where(lambda key: _FRAME(cells.runs[key][0].settings)).runs
    seeds = {cells.task(key): len(runs) for key, runs in framed.items()}
    told = []
    for task in (task for task, n in seeds.items() if n == max(seeds.values())):
        own = _of_task(cells, task)
        both = form.format(earned(own, "random", first), earned(own, on, second))
        told.append(f"{short_task(task)} {both}")
    return {"pairs": ", ".join(told)}


def _in_dimensions(keep: Keep, dataset: Dataset) -> Dataset:
    """Return the runs of such agents whose tasks were run at several d."""
    chosen = _trained(keep, dataset)
    groups = chosen.group_by("task") if chosen.runs else {}
    several = {t for (t,), g in groups.items() if len(g.values("projection.dim")) > 1}
    return chosen.select(lambda run: run.settings["task"] in several)


def _against_smallest(dataset: Dataset) -> tuple[Contrast, ...]:
    """Compare every d with the smallest of its task."""
    return tuple(
        Contrast(
            what="larger d minus the smallest",
            first=lambda s, task=task: s["task"] == task,
            along="projection.dim",
            reference=runs.values("projection.dim")[0],
        )
        for (task,), runs in dataset.group_by("task").items()
    )


def _dimension_values(cells: Cells) -> dict[str, str]:
    """Give returns at every d, task by task."""
    told = []
    for task in dict.fromkeys(map(cells.task, cells.runs)):
        axis = "projection.dim"
        dims, values = map("/".join, earned_along(_of_task(cells, task), axis))
        told.append(f"{short_task(task)} {values} at d = {dims}")
    return {"returns": ", ".join(told)}


_PAIRS = pairs(("random", "tile"), ("random", "minus_tile"), ("random", "pad"))
_REACHES = (_against("frame on random projections", "frame", "plain", share=0.9),)
_ONE = (_against("one projection minus many", "frame, one projection"),)
_BELOW = (_against("RP minus frame", "RP"), _against("FRP minus frame", "FRP"))
_frame_and_plain = functools.partial(_pairs, _FRAME, _PLAIN, "pad", "{} of {}")
_both = functools.partial(_pairs, _ORDINARY, _FRAME, "random", "{} against {}")
_ordinary_in_dimensions = functools.partial(_in_dimensions, _ORDINARY)
_frame_in_dimensions = functools.partial(_in_dimensions, _FRAME)
_BY_DIMENSION = _against_smallest, _dimension_values

QUESTIONS = (
    stated("frame-invariance", functools.partial(_trained, _FRAMED), _PAIRS),
    stated("frame-reaches-plain", _arms, _REACHES, _frame_and_plain),
    stated("frame-one-projection", _arms, _ONE),
    stated("ordinary-below-frame", _arms, _BELOW, _both),
    stated("dimension", _ordinary_in_dimensions, *_BY_DIMENSION),
    stated("dimension-frame", _frame_in_dimensions, *_BY_DIMENSION),
)
