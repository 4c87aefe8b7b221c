"""The questions about agents that see coordinates in a frame (`encoder = "frame"`).

The arms of the study `invariant`: frame, frame trained under one fixed projection, RP
(ℓ = 1), FRP (ℓ = 4), plain, and trained blind. They differ in the projection, so they
are paired by task, memory and what an episode is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from freeproj.experiments.dataset import Dataset
from freeproj.experiments.measures import tested_maps
from freeproj.findings.cells import Cells
from freeproj.findings.claims.texts import stated, value_of
from freeproj.findings.questions import Contrast, Settings
from freeproj.findings.telling import short_task

__all__ = ["QUESTIONS"]

_MATCH = ("task", "memory", "projection.dim", "trials", "previous_reward", "n_trials")


def _sees(settings: Settings) -> str:
    return str(settings.get("observation", "projected"))


def _one_projection(settings: Settings) -> bool:
    return (
        settings.get("projection.n_words") == 1 and settings.get("redraw_every", 1) == 0
    )


def _framed(settings: Settings) -> bool:
    return settings.get("encoder", "none") == "frame" and _sees(settings) == "projected"


def _frame(settings: Settings) -> bool:
    return _framed(settings) and not _one_projection(settings)


def _frame_one(settings: Settings) -> bool:
    return _framed(settings) and _one_projection(settings)


def _plain(settings: Settings) -> bool:
    return _sees(settings) == "plain"


def _ordinary(settings: Settings, longer: bool) -> bool:
    return (
        _sees(settings) == "projected"
        and settings.get("encoder", "none") == "none"
        and settings.get("projection.family", "haar") == "haar"
        and (settings["projection.length"] > 1) == longer
    )


def _arms(dataset: Dataset) -> Dataset:
    """Return all arms of the tasks that some frame agent was trained on."""
    own = dataset.select(lambda run: not run.settings.get("evaluation.task"))
    tasks = {run.settings["task"] for run in own.runs if _framed(run.settings)}
    return own.select(lambda run: run.settings["task"] in tasks)


def _only_frames(dataset: Dataset) -> Dataset:
    return _arms(dataset).select(lambda run: _framed(run.settings))


def _on_every_projection(dataset: Dataset) -> tuple[Contrast, ...]:
    """Compare random projections with each fixed isometry of the same norm."""
    played = set.intersection(*(set(tested_maps(run)) for run in dataset.runs))
    return tuple(
        Contrast(what=f"random projections minus {name.replace('_', ' ')}", minus=name)
        for name in ("tile", "minus_tile", "pad")
        if name in played
    )


def _against(
    what: str,
    first: Callable[[Settings], bool],
    second: Callable[[Settings], bool] = _frame,
    **more: Any,
) -> Contrast:
    return Contrast(what=what, first=first, second=second, match=_MATCH, **more)


def _pairs(
    cells: Cells,
    first: Callable[[Settings], bool],
    second: Callable,
    on: str,
    form: str,
) -> str:
    """Give returns of two arms, for the tasks with most seeds."""
    seeds = {
        cells.task(key): len(runs)
        for key, runs in cells.runs.items()
        if _frame(runs[0].settings)
    }

    def told(task: str, arm: Callable[[Settings], bool], name: str) -> str:
        return value_of(
            cells.where(lambda key: cells.task(key) == task).mean_return(name, arm)
        )

    return ", ".join(
        f"{short_task(task)} "
        + form.format(told(task, first, "random"), told(task, second, on))
        for task, n in seeds.items()
        if n == max(seeds.values())
    )


def _plain_values(cells: Cells) -> dict[str, str]:
    return {"pairs": _pairs(cells, _frame, _plain, "pad", "{} of {}")}


def _ordinary_values(cells: Cells) -> dict[str, str]:
    """Take RP and FRP together."""

    return {"pairs": _pairs(cells, _any_ordinary, _frame, "random", "{} against {}")}


def _in_dimensions(dataset: Dataset, keep: Callable[[Settings], bool]) -> Dataset:
    """Return the runs of such agents whose tasks were run at several d."""
    chosen = dataset.select(
        lambda run: keep(run.settings) and not run.settings.get("evaluation.task")
    )
    several = {
        task
        for (task,), runs in (chosen.group_by("task").items() if chosen.runs else ())
        if len(runs.values("projection.dim")) > 1
    }
    return chosen.select(lambda run: run.settings["task"] in several)


def _any_ordinary(settings: Settings) -> bool:
    return any(_ordinary(settings, longer) for longer in (False, True))


def _against_smallest(dataset: Dataset) -> tuple[Contrast, ...]:
    """Compare every d with the smallest of its task."""
    tasks = dataset.group_by("task").items()
    return tuple(
        Contrast(
            what="larger d minus the smallest",
            first=lambda s, task=task: s["task"] == task,
            along="projection.dim",
            reference=smallest,
        )
        for (task,), runs in tasks
        for smallest in runs.values("projection.dim")[:1]
    )


def _dimension_values(cells: Cells) -> dict[str, str]:
    """Give returns at every d, task by task."""
    tasks = dict.fromkeys(map(cells.task, cells.runs))
    told = []
    for task in tasks:
        own = cells.where(lambda key, task=task: cells.task(key) == task)
        dims = sorted({own.get(key, "projection.dim") for key in own.runs})
        values = (
            value_of(own.mean_return("random", lambda s, d=d: s["projection.dim"] == d))
            for d in dims
        )
        at = "/".join(map(str, dims))
        told.append(f"{short_task(task)} {'/'.join(values)} at d = {at}")
    return {"returns": ", ".join(told)}


QUESTIONS = (
    stated("frame-invariance", _only_frames, _on_every_projection),
    stated(
        "frame-reaches-plain",
        _arms,
        (_against("frame on random projections", _frame, _plain, share=0.9),),
        _plain_values,
    ),
    stated(
        "frame-one-projection",
        _arms,
        (_against("one projection minus many", _frame_one),),
    ),
    stated(
        "ordinary-below-frame",
        _arms,
        (
            _against("RP minus frame", functools.partial(_ordinary, longer=False)),
            _against("FRP minus frame", functools.partial(_ordinary, longer=True)),
        ),
        _ordinary_values,
    ),
    stated(
        "dimension",
        functools.partial(_in_dimensions, keep=_any_ordinary),
        _against_smallest,
        _dimension_values,
    ),
    stated(
        "dimension-frame",
        functools.partial(_in_dimensions, keep=_frame),
        _against_smallest,
        _dimension_values,
    ),
)
