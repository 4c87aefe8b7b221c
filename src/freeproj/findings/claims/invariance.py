"""The questions about agents that see coordinates in a frame (`encoder = "frame"`).

The arms of the study `invariant`: frame, frame trained under one fixed projection, RP
(ℓ = 1), FRP (ℓ = 4), plain, and trained blind. They differ in the projection, so they
are paired by task, memory and what an episode is.
"""

from __future__ import annotations

from freeproj.experiments.dataset import Dataset
from freeproj.findings.questions import Contrast, Question, Settings

__all__ = ["QUESTIONS"]

_MATCH = ("task", "memory", "trials", "previous_reward", "n_trials")
_NEEDS = 'runs with encoder = "frame"'


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


def _ordinary(settings: Settings) -> bool:
    return (
        _sees(settings) == "projected"
        and settings.get("encoder", "none") == "none"
        and settings.get("projection.family", "haar") == "haar"
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
    from freeproj.experiments.measures import tested_maps

    played = set.intersection(*(set(tested_maps(run)) for run in dataset.runs))
    return tuple(
        Contrast(what=f"random projections minus {name.replace('_', ' ')}", minus=name)
        for name in ("tile", "minus_tile", "pad")
        if name in played
    )


QUESTIONS = (
    Question(
        "frame-invariance",
        "Agents that see coordinates in a frame earn the same on every isometric "
        "projection, within 10 % of the headroom.",
        "Theorem: coordinates in a frame do not depend on the projection",
        _only_frames,
        _on_every_projection,
        expects="same",
        study="invariant",
        section="invariance",
        opens=True,
        needs=f"{_NEEDS}, tested on random, tile and minus_tile.",
    ),
    Question(
        "frame-reaches-plain",
        "On unseen projections agents with a frame reach 90 % of what the same agents "
        "earn without a projection (counted from the best open-loop policy).",
        "Theorem: restricting an agent to a frame loses nothing",
        _arms,
        (
            Contrast(
                what="frame minus 90 % of plain",
                first=_frame,
                second=_plain,
                match=_MATCH,
                share=0.9,
            ),
        ),
        study="invariant",
        section="invariance",
        opens=True,
        needs=f'{_NEEDS}, and observation = "plain" of the same task.',
    ),
    Question(
        "frame-one-projection",
        "Trained under one fixed projection, agents with a frame are as good on unseen "
        "projections as those trained under many, within 10 % of the headroom.",
        "Theorem: the training distribution of coordinates is the same",
        _arms,
        (
            Contrast(
                what="one projection minus many",
                first=_frame_one,
                second=_frame,
                match=_MATCH,
            ),
        ),
        expects="same",
        study="invariant",
        section="invariance",
        opens=True,
        needs=f"{_NEEDS}, also with n_words = 1 and redraw_every = 0.",
    ),
    Question(
        "ordinary-below-frame",
        "Ordinary agents, with RP or FRP, earn less than agents with a frame on unseen "
        "projections at this budget.",
        "Measured; with enough training they may catch up",
        _arms,
        (
            Contrast(
                what="RP minus frame",
                first=lambda s: _ordinary(s) and s["projection.length"] == 1,
                second=_frame,
                match=_MATCH,
            ),
            Contrast(
                what="FRP minus frame",
                first=lambda s: _ordinary(s) and s["projection.length"] > 1,
                second=_frame,
                match=_MATCH,
            ),
        ),
        expects="less",
        study="invariant",
        section="invariance",
        opens=True,
        needs=f'{_NEEDS}, and encoder = "none" of the same task.',
    ),
)
