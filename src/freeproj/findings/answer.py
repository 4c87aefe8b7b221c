"""The answer in five lines, with the numbers of the published studies.

README, docs home and page open with these lines; tests hold the copies equal. Each line
belongs to a claim, and the claim's verdict stands behind it. All numbers are returns
per trial, means over seeds of the last three evaluations.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import make_cells, metric_of
from freeproj.findings.claims.findings import is_projected, percent
from freeproj.findings.comparisons import MARGIN, against_plain
from freeproj.findings.numbers import PAPER_RESULTS
from freeproj.published import load, names

__all__ = ["AnswerLine", "answer"]

_Settings = Mapping[str, Any]


class AnswerLine(NamedTuple):
    """One line: the claim that judges it, the study it rests on, and the text."""

    claim: str
    study: str
    text: str


def answer() -> tuple[AnswerLine, ...]:
    """Return the lines whose studies are published, with the cells that they need."""
    lines = []
    for claim, study, write in _LINES:
        with contextlib.suppress(_NotPublishedError):
            lines.append(AnswerLine(claim, study, write(_published(study))))
    return tuple(lines)


class _NotPublishedError(LookupError):
    """A line needs a study, or cells of it, that are not among the published ones."""


def _signs(why: Dataset) -> str:
    chosen = {"task": "RepeatPrevious", "redraw_every": 0, "projection.length": 1}
    (tile, minus), (tile_haar, minus_haar) = (
        [
            _return(why, name, {**chosen, "projection.family": family})
            for name in ("tile_unit", "minus_tile")
        ]
        for family in ("qr", "haar")
    )
    paper = PAPER_RESULTS["RepeatPrevious", "RP", "gru"].raw.mean / 16
    return (
        "RP below chance, FRP not: that comes from QR without its sign correction. "
        f"Repeat Previous, RP: {tile} on the tiled map, {minus} on its negative (paper "
        f"{paper:.2f}, chance -0.49); with true Haar matrices {tile_haar} and "
        f"{minus_haar}."
    )


def _lengths(as_written: Dataset) -> str:
    short = _published("why-table-1").where(
        **{"projection.family": "haar", "redraw_every": 1}
    )
    gains = [_gain(short), _gain(as_written)]
    seen = _return(as_written, "random", {"observation": "projected"})
    blind = _return(as_written, "zero", {"observation": "projected"})
    told = " and ".join(
        f"{percent(gain.mean)} [{percent(gain.low)}, {percent(gain.high)}]"
        for gain in gains
    )
    verdict = (
        "a gain of longer words cannot be told from none"
        if all(gain.low <= 0 <= gain.high for gain in gains)
        else "longer words change little"
    )
    return (
        f"With true Haar matrices {verdict}: CartPole on unseen maps {told} of the "
        f"headroom after 0.8 and 2 million steps ({seen} of a trial, {blind} blind)."
    )


class _Gain(NamedTuple):
    mean: float
    low: float
    high: float


def _gain(dataset: Dataset) -> _Gain:
    """Return ℓ > 1 less ℓ = 1 on random maps of CartPole, all lengths together."""
    every = make_cells(_chosen(dataset, {"task": "StatelessCartPole"}))
    cells = every.where(lambda key: is_projected(every, key))
    pooled = against_plain(cells, "random", MARGIN).verdict.pooled
    if pooled.interval is None:
        raise _NotPublishedError("three seeds")
    return _Gain(pooled.mean, pooled.interval.low, pooled.interval.high)


def _storage(dataset: Dataset) -> str:
    returns = [
        _return(dataset, "random", {"projection.length": length})
        for length in (1, 2, 4, 8)
    ]
    blind = _return(dataset, "zero", {})
    return (
        "At equal storage longer words help: four stored matrices, CartPole on unseen "
        f"maps {', '.join(returns)} at ℓ = 1, 2, 4, 8 ({blind} blind)."
    )


def _fixed(why: Dataset) -> str:
    settings = {"task": "StatelessCartPole", "redraw_every": 0}
    return (
        "With fixed matrices agents learn the maps of card tasks by heart and carry "
        "nothing over, at any ℓ; on CartPole they do: "
        f"{_return(why, 'random', settings)} on unseen maps "
        f"({_return(why, 'zero', settings)} blind)."
    )


def _chance(dataset: Dataset) -> str:
    trials = [
        _trial_return(dataset, "random", place, {"projection.length": length})
        for length in (1, 4)
        for place in (0, -1)
    ]
    blind = _return(dataset, "zero", {})
    return (
        "Without reward no policy beats chance on the card tasks (a theorem, and "
        f"measured). With it, flash cards rise within an episode: RP {trials[0]} to "
        f"{trials[1]}, FRP {trials[2]} to {trials[3]} ({blind} blind)."
    )


# The claim, the study, and the line that is written from it.
_LINES: tuple[tuple[str, str, Callable[[Dataset], str]], ...] = (
    ("sign-slip", "why-table-1", _signs),
    ("haar-length", "as-written", _lengths),
    ("storage", "storage", _storage),
    ("fixed-bases", "why-table-1", _fixed),
    ("chance-without-reward", "in-context", _chance),
)


@functools.cache
def _published(study: str) -> Dataset:
    if study not in names():
        raise _NotPublishedError(study)
    return load(study)


def _chosen(dataset: Dataset, settings: _Settings) -> Dataset:
    chosen = dataset.where(**settings)
    if not chosen.runs:
        raise _NotPublishedError(settings)
    return chosen


def _return(dataset: Dataset, test_map: str, settings: _Settings) -> str:
    """Write the mean return per trial of the runs with these settings."""
    chosen = _chosen(dataset, settings)
    scores = chosen.scores(metric_of(test_map), reduce="last3").values
    trials = [run.settings["n_trials"] for run in chosen.runs]
    return _text((scores / trials).mean())


def _trial_return(
    dataset: Dataset, test_map: str, place: int, settings: _Settings
) -> str:
    """Write the mean return of one trial of the episode, the last three evaluations."""
    runs = _chosen(dataset, settings).runs
    found = [run.metrics[f"test/{test_map}/trial_returns"][-3:, place] for run in runs]
    return _text(sum(each.mean() for each in found) / len(found))


def _text(value: float) -> str:
    return f"{round(float(value), 2) + 0.0:.2f}"  # never -0.00
