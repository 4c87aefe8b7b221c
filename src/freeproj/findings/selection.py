"""Choose the runs a question is about by settings: a dataset may mix several studies.

A run belongs to one question, so that what is compared or pooled is of one kind: agents
without the reward among their inputs (the paper's), with it, with it and a fresh start
for every trial (so that the projection must be learned in context), raw QR matrices,
and the control arms that see nothing or the plain observation. Lengths are compared at
an equal number of words, as in the paper, or at an equal number of stored matrices.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from freeproj.experiments.dataset import Dataset, RunRecord
from freeproj.findings.cells import Cells, make_cells, metric_of

__all__ = ["Question", "asked", "equal_storage", "equal_words", "question"]

_WORDS, _MATRICES = "projection.n_words", "projection.n_generators"
_SHAPE = ("seed", "projection.length", _WORDS, _MATRICES)


class Question(StrEnum):
    """What runs can be asked about."""

    NO_REWARD = "no reward"  # the paper's protocol
    REWARD = "reward"
    IN_CONTEXT = "in context"
    RAW_QR = "raw QR"
    CONTROL = "control arm"


def question(settings: Mapping[str, Any]) -> Question:
    """Return the question that a run with these settings belongs to."""
    if settings.get("observation", "projected") != "projected":
        return Question.CONTROL
    if settings.get("projection.family", "haar") == "qr":
        return Question.RAW_QR
    if not settings.get("previous_reward", False):
        return Question.NO_REWARD
    fresh = settings.get("trials", "same_start") == "fresh_start"
    return Question.IN_CONTEXT if fresh else Question.REWARD


def asked(
    dataset: Dataset,
    *questions: Question,
    maps: tuple[str, ...] = (),
    protocol: str = "projection",
) -> Cells:
    """Return the cells of these questions that were tested on these maps.

    Agents that were tested twice count once where the maps are named; otherwise each
    is scored on its first map, so that cells differ by them. Comparisons at equal
    storage are left out: they are a question of their own.
    """
    runs = dataset.select(
        lambda run: (
            question(run.settings) in questions
            and all(metric_of(name) in run.metrics for name in maps)
        )
    )
    cells = make_cells(equal_words(runs), protocol)
    return cells.per_agent() if maps else cells


def equal_storage(dataset: Dataset) -> Dataset:
    """Return the runs that have the same stored matrices at several word lengths."""
    stored = _lengths(dataset, _MATRICES)
    return dataset.select(lambda run: len(stored[run]) > 1)


def equal_words(dataset: Dataset) -> Dataset:
    """Return the runs that are not there for a comparison at equal storage only."""
    stored, words = _lengths(dataset, _MATRICES), _lengths(dataset, _WORDS)
    return dataset.select(lambda run: len(words[run]) > 1 or len(stored[run]) < 2)


def _lengths(dataset: Dataset, axis: str) -> dict[RunRecord, set[Any]]:
    """Return for each run the word lengths of those that share an axis and the rest."""
    rest = [
        key
        for key in dataset.axes
        if key not in _SHAPE and not key.startswith("evaluation.")
    ]
    found: dict[tuple, set[Any]] = collections.defaultdict(set)
    places = {
        run: tuple(run.settings.get(key) for key in (axis, *rest))
        for run in dataset.runs
    }
    for run, place in places.items():
        found[place].add(run.settings["projection.length"])
    return {run: found[place] for run, place in places.items()}
