"""Choose the runs a question is about by settings: a dataset may mix several studies.

A run belongs to one question, so that what is compared or pooled is of one kind: agents
without the reward among their inputs (the paper's), with it, with it and a new start
for every trial (so that the projection must be learned in context), uncorrected QR
matrices, agents that see coordinates in a frame, and the control arms that are trained
blind or see the plain observation. Lengths are compared at equally many words, as in
the paper, or stored matrices.
"""

import collections
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any

from freeproj.experiments.dataset import Dataset, RunRecord
from freeproj.experiments.measures import tested_maps
from freeproj.findings.cells import Keep

__all__ = ["ORDINARY", "Kind", "arm", "equal_storage", "equal_words", "haar_and_qr"]
__all__ += ["kind", "of_kind", "played", "stored"]

_WORDS, _MATRICES = "projection.n_words", "projection.n_generators"
_SHAPE = ("seed", "projection.length", _WORDS, _MATRICES)


class Kind(StrEnum):
    """What kind of question runs can be asked."""

    NO_REWARD = "no reward"  # the paper's protocol
    REWARD = "reward"
    IN_CONTEXT = "in context"
    RAW_QR = "uncorrected QR"
    RAW_QR_REWARD = "uncorrected QR, reward"
    FRAME = "frame"
    CONTROL = "control arm"


ORDINARY = (Kind.NO_REWARD, Kind.REWARD, Kind.IN_CONTEXT)


def kind(settings: Mapping[str, Any]) -> Kind:
    """Return the kind of question that a run with these settings belongs to."""
    if settings.get("observation", "projected") != "projected":
        return Kind.CONTROL
    if settings.get("encoder", "none") != "none":
        return Kind.FRAME
    rewarded = settings.get("previous_reward", False)
    if settings.get("projection.family", "haar") == "qr":
        return Kind.RAW_QR_REWARD if rewarded else Kind.RAW_QR
    fresh = settings.get("trials", "same_start") == "fresh_start"
    return (Kind.IN_CONTEXT if fresh else Kind.REWARD) if rewarded else Kind.NO_REWARD


def _every(settings: Mapping[str, Any]) -> bool:
    return True


def arm(settings: Mapping[str, Any]) -> str:
    """Return `plain` or `none` (control arms), `frame`, …, `RP`, `FRP`; "" if none."""
    if kind(settings) is Kind.CONTROL:
        return str(settings["observation"])
    encoder = settings.get("encoder", "none")
    if encoder == "frame":
        one = (settings.get(each) for each in ("redraw_every", "projection.n_words"))
        return "frame, one projection" if (*one,) == (0, 1) else "frame"
    if encoder == "none" and settings.get("projection.family", "haar") == "haar":
        return "FRP" if settings["projection.length"] > 1 else "RP"
    return ""


def of_kind(
    dataset: Dataset, *kinds: Kind, maps: Collection[str] = (), keep: Keep = _every
) -> Dataset:
    """Return the runs of these kinds, tested on these maps, with such settings.

    Runs that are there for a comparison at equal storage only are left out: that is a
    question of its own; so are those tested on a task that they did not train on.
    """
    return equal_words(_chosen(dataset, kinds, maps, keep))


def haar_and_qr(dataset: Dataset, *maps: str) -> Dataset:
    """Return the runs with matrices of these two kinds that never see a reward."""
    found = of_kind(dataset, Kind.NO_REWARD, Kind.RAW_QR, maps=maps)
    families = ("haar", "qr", None)
    return found.select(lambda run: run.settings.get("projection.family") in families)


def stored(dataset: Dataset, maps: Collection[str] = ()) -> Dataset:
    """Return the runs with fixed matrices, n the same for several word lengths."""
    kept = _chosen(dataset, ORDINARY, maps, lambda s: s.get("redraw_every", 1) == 0)
    return equal_storage(kept)


def played(dataset: Dataset) -> set[str]:
    """Return the test projections that all runs have returns on."""
    return set.intersection(*(set(tested_maps(run)) for run in dataset.runs))


def equal_storage(dataset: Dataset) -> Dataset:
    """Return the runs that have the same stored matrices at several word lengths."""
    stored = _lengths(dataset, _MATRICES)
    return dataset.select(lambda run: len(stored[run]) > 1)


def equal_words(dataset: Dataset) -> Dataset:
    """Return the runs that are not there for a comparison at equal storage only."""
    stored, words = _lengths(dataset, _MATRICES), _lengths(dataset, _WORDS)
    return dataset.select(lambda run: len(words[run]) > 1 or len(stored[run]) < 2)


def _chosen(
    dataset: Dataset, kinds: Collection[Kind], maps: Collection[str], keep: Keep
) -> Dataset:
    return dataset.select(
        lambda run: (
            kind(run.settings) in kinds
            and not run.settings.get("evaluation.task")
            and {*maps} <= {*tested_maps(run)}
            and keep(run.settings)
        )
    )


def _lengths(dataset: Dataset, axis: str) -> dict[RunRecord, set[Any]]:
    """Return for each run the word lengths of those that share an axis and the rest."""
    rest = (key for key in dataset.axes if not key.startswith("evaluation."))
    axes = [axis, *(key for key in rest if key not in _SHAPE)]
    places = {run: tuple(map(run.settings.get, axes)) for run in dataset.runs}
    found: dict[tuple, set[Any]] = collections.defaultdict(set)
    for run, place in places.items():
        found[place].add(run.settings["projection.length"])
    return {run: found[place] for run, place in places.items()}
