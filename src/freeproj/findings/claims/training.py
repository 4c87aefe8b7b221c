"""The questions about ordinary agents: Table 1, word length, fixed bases, adapting.

Each is a declaration; `ask` answers it. What they say is in `questions.toml`.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from freeproj.experiments.dataset import Dataset
from freeproj.experiments.measures import last
from freeproj.findings import selection
from freeproj.findings.cells import Cells, Keep, of_protocol
from freeproj.findings.labels import map_title, number_text
from freeproj.findings.numbers import PAPER_RESULTS
from freeproj.findings.questions import Contrast, Settings, stated
from freeproj.findings.selection import Kind, of_kind, played

__all__ = ["QUESTIONS", "earned", "earned_along", "pairs", "tile_pair"]

_CARD_TASKS = ("HigherLower", "RepeatFirst", "RepeatPrevious")
_ALONG: dict[str, Any] = {"along": "projection.length", "reference": 1}
_LENGTHS = (Contrast(what="ℓ > 1 minus ℓ = 1", **_ALONG),)
_BEST = "best ℓ > 1, chosen on other seeds, minus ℓ = 1"
_CHOSEN = (Contrast(what=_BEST, chosen=True, **_ALONG),)
_TO_BLANKED = (Contrast(what="random projections minus blanked", minus="zero"),)
_TO_CHANCE = (Contrast(what="random projections minus chance", minus="chance"),)
_FROM_CHANCE = (Contrast(what="task held out, minus chance", minus="chance"),)
_SEEING = (Kind.NO_REWARD, Kind.REWARD)
_UNREWARDED = (Kind.NO_REWARD, Kind.RAW_QR)


def _with(**wanted: Any) -> Keep:
    """Whether `family`, `length`, `redrawn` or `cards` of settings are as wanted."""

    def keep(settings: Settings) -> bool:
        found = {
            "family": settings.get("projection.family", "haar"),
            "length": settings["projection.length"],
            "redrawn": settings.get("redraw_every", 1) != 0,
            "cards": settings["task"] in _CARD_TASKS,
        }
        return wanted.items() <= found.items()

    return keep


_QR, _RP = _with(family="qr"), _with(length=1)
_RP_WITH_QR = _with(family="qr", length=1)


def _runs(*kinds: Kind, **how: Any) -> Callable[[Dataset], Dataset]:
    """Return the selection of runs of these kinds, see `of_kind`."""
    return lambda dataset: of_kind(dataset, *kinds, **how)


def _papers(dataset: Dataset) -> Dataset:
    """Return the runs of the paper's protocol; if there are none, those with reward."""
    for each in _SEEING:
        found = of_kind(dataset, each)
        if found.runs and {1} < set(found.values("projection.length")):
            return found
    return of_kind(dataset, *_SEEING)


def _held_out(dataset: Dataset) -> Dataset:
    found = of_protocol(dataset, "task")
    return found.select(lambda r: selection.kind(r.settings) in selection.ORDINARY)


def tile_pair(dataset: Dataset) -> tuple[str, str]:
    """Return the tiled projection that was played, and its negative.

    Pairs of one norm come first; the first studies played tile with norm 1 beside
    minus tile with norm √2.
    """
    plain = ("tile", "minus_tile")
    known = (("tile_unit", "minus_tile_unit"), plain, ("tile_unit", "minus_tile"))
    there = played(dataset)
    return next((pair for pair in known if there >= {*pair}), plain)


def _tiled(dataset: Dataset) -> Dataset:
    """Return uncorrected QR, and Haar beside it, on the same two tiled projections."""
    raw = of_kind(dataset, Kind.RAW_QR)
    return selection.haar_and_qr(dataset, *tile_pair(raw)) if raw.runs else raw


def _sign_contrasts(dataset: Dataset) -> tuple[Contrast, ...]:
    tile, minus = tile_pair(dataset)
    turned: dict[str, Any] = {"on": minus, "minus": tile}
    haar: dict[str, Any] = {"along": "projection.family", "reference": "haar"}
    chance: dict[str, Any] = {"on": tile, "minus": "chance", "turned": True}
    cards = _with(family="qr", length=1, cards=True)
    return (
        Contrast(what="on tile, ℓ > 1 minus ℓ = 1", first=_QR, on=tile, **_ALONG),
        Contrast(what="minus tile minus tile", first=_RP_WITH_QR, **turned),
        Contrast(what="the same minus that of Haar", first=_RP, **turned, **haar),
        Contrast(what="chance minus tile", first=cards, **chance),
    )


def pairs(*pairs: tuple[str, str]) -> Callable[[Dataset], tuple[Contrast, ...]]:
    """Return the contrasts of two test projections each, as far as they were played."""
    titles = {name: map_title(name) for pair in pairs for name in pair}
    return lambda dataset: tuple(
        Contrast(what=f"{titles[one]} minus {titles[other]}", on=one, minus=other)
        for one, other in pairs
        if {one, other} <= played(dataset)
    )


def earned(cells: Cells, on: str, keep: Keep = lambda settings: True) -> str:
    """Write the mean return per trial of all cells with such settings."""
    return number_text(cells.mean_return(on, keep))


def earned_along(cells: Cells, axis: str) -> tuple[list[str], list[str]]:
    """Write the values of an axis, and the return on random projections at each."""
    values = sorted({cells.get(key, axis) for key in cells.runs})
    told = [earned(cells, "random", lambda s, v=v: s[axis] == v) for v in values]
    return [*map(str, values)], told


def _sign_values(cells: Cells) -> dict[str, str]:
    """Give Repeat Previous under RP with fixed bases, where the pattern is largest."""
    task = "RepeatPrevious"
    cells = cells.where(lambda key: cells.task(key) == task)
    if not cells.runs:
        return {"chance": "–"}
    key, runs = next(iter(cells.runs.items()))
    levels, (tile, minus) = cells.levels(key), tile_pair(Dataset(runs))

    def told(name: str, family: str, redrawn: bool = False) -> str:
        return earned(cells, name, _with(length=1, family=family, redrawn=redrawn))

    paper = PAPER_RESULTS.get((task, "RP", str(cells.get(key, "memory"))))
    return {
        **{f"{family}_tile": told(tile, family) for family in ("qr", "haar")},
        **{f"{family}_minus": told(minus, family) for family in ("qr", "haar")},
        "redrawn": told(tile, "qr", redrawn=True),
        "paper": number_text(paper.raw / 16 if paper else math.nan),
        "chance": number_text(levels.chance / levels.n_trials),
    }


def _length_values(cells: Cells) -> dict[str, str]:
    """Give returns on random projections at every length, and those blanked."""
    lengths, returns = map(", ".join, earned_along(cells, "projection.length"))
    return {"returns": returns, "lengths": lengths, "blanked": earned(cells, "zero")}


def _trial_values(cells: Cells) -> dict[str, str]:
    """Give the first and the last trial of an episode."""
    name = "test/random/trial_returns"
    runs = (run for group in cells.runs.values() for run in group)
    tables = np.array([last(r.metrics[name].T) for r in runs if name in r.metrics])
    first, *_, final = np.nanmean(tables, axis=0) if len(tables) else (math.nan,) * 2
    ends = {"first": number_text(first), "last": number_text(final)}
    return {**ends, "blanked": earned(cells, "zero")}


_SIGNS, _NORMS = ("minus_tile_unit", "tile_unit"), ("minus_tile", "minus_tile_unit")
_RANDOM, _BLANKED = ("random",), ("random", "zero")
_SIGN = _runs(Kind.RAW_QR, keep=_RP_WITH_QR, maps=_SIGNS)
_NORM = _runs(Kind.RAW_QR, keep=_RP_WITH_QR, maps=_NORMS)
_AS_WRITTEN = _with(family="haar", redrawn=True)
_HAAR = _runs(Kind.NO_REWARD, keep=_AS_WRITTEN, maps=_RANDOM)
_FIXED = _runs(*_UNREWARDED, keep=_with(redrawn=False), maps=_BLANKED)
_CARDS = _runs(*_UNREWARDED, keep=_with(cards=True), maps=_RANDOM)
_ADAPTING = _runs(Kind.IN_CONTEXT, maps=_BLANKED)
_IN_CONTEXT = _runs(Kind.IN_CONTEXT, maps=_RANDOM)
_STORED = functools.partial(selection.stored, maps=_RANDOM)

QUESTIONS = (
    stated("sign-slip", _tiled, _sign_contrasts, _sign_values),
    stated("sign-alone", _SIGN, pairs(_SIGNS, ("minus_tile", "tile"))),
    stated("norm-alone", _NORM, pairs(_NORMS, ("tile", "tile_unit"))),
    stated("haar-length", _HAAR, _LENGTHS, _length_values),
    stated("storage", _STORED, _LENGTHS, _length_values),
    stated("fixed-bases", _FIXED, _TO_BLANKED),
    stated("chance-without-reward", _CARDS, _TO_CHANCE),
    stated("frp-beats-rp", _papers, _LENGTHS),
    stated("best-length", _papers, _CHOSEN),
    stated("in-context", _ADAPTING, _TO_BLANKED, _trial_values),
    stated("in-context-length", _IN_CONTEXT, _LENGTHS, _length_values),
    stated("new-task", _held_out, _FROM_CHANCE),
    stated("held-out-task", _held_out, _LENGTHS),
)
