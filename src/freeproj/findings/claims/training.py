"""The questions about ordinary agents: Table 1, word length, fixed bases, adapting.

Each is a declaration; `ask` answers it. What they say is in `questions.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from freeproj.experiments.dataset import Dataset
from freeproj.experiments.measures import last, tested_maps
from freeproj.findings.cells import Cells
from freeproj.findings.claims.texts import stated, value_of
from freeproj.findings.labels import map_title
from freeproj.findings.numbers import PAPER_RESULTS
from freeproj.findings.questions import Contrast, Settings
from freeproj.findings.selection import Kind, equal_storage, kind, of_kind

__all__ = ["QUESTIONS", "tile_pair"]

_CARD_TASKS = ("HigherLower", "RepeatFirst", "RepeatPrevious")
_ALONG: dict[str, Any] = {"along": "projection.length", "reference": 1}
_LENGTHS = Contrast(what="ℓ > 1 minus ℓ = 1", **_ALONG)
_CHOSEN = Contrast(
    what="best ℓ > 1, chosen on other seeds, minus ℓ = 1", chosen=True, **_ALONG
)
_SEEING = (Kind.NO_REWARD, Kind.REWARD)


def _family(settings: Settings) -> str:
    return str(settings.get("projection.family", "haar"))


def _without_reward(settings: Settings) -> bool:
    return not settings.get("previous_reward", False)


def _narrowed(
    *kinds: Kind, keep: Callable[[Settings], bool] = lambda settings: True, maps=()
) -> Callable[[Dataset], Dataset]:
    """Return a selection: runs of these kinds, on these maps, with these settings."""
    return lambda dataset: of_kind(
        dataset.select(lambda run: keep(run.settings)), *kinds, maps=maps
    )


def _papers(dataset: Dataset) -> Dataset:
    """Return the runs of the paper's protocol; if there are none, those with reward."""
    for each in _SEEING:
        found = of_kind(dataset, each)
        if found.runs and {1} < set(found.values("projection.length")):
            return found
    return of_kind(dataset, *_SEEING)


def _stored(dataset: Dataset) -> Dataset:
    return equal_storage(
        dataset.select(
            lambda run: (
                run.settings.get("redraw_every", 1) == 0
                and kind(run.settings) not in (Kind.RAW_QR, Kind.CONTROL, Kind.FRAME)
                and "random" in tested_maps(run)
            )
        )
    )


def _held_out(dataset: Dataset) -> Dataset:
    return dataset.select(
        lambda run: (
            bool(run.settings.get("evaluation.task"))
            and kind(run.settings) in (*_SEEING, Kind.IN_CONTEXT)
        )
    )


def tile_pair(dataset: Dataset) -> tuple[str, str]:
    """Return the tiled projection that was played, and its negative.

    Pairs of one norm come first; the first studies played tile with norm 1 beside
    minus tile with norm √2.
    """
    played = set.intersection(*(set(tested_maps(run)) for run in dataset.runs))
    pairs = (("tile_unit", "minus_tile_unit"), ("tile", "minus_tile"))
    found = [
        pair for pair in (*pairs, ("tile_unit", "minus_tile")) if played >= {*pair}
    ]
    return found[0] if found else ("tile", "minus_tile")


def _tiled(dataset: Dataset) -> Dataset:
    """Return uncorrected QR, and Haar beside it, on the same two tiled projections."""
    kinds = (Kind.RAW_QR, Kind.NO_REWARD)
    found = of_kind(
        dataset.select(lambda run: _without_reward(run.settings)), *kinds
    ).select(lambda run: _family(run.settings) in ("haar", "qr"))
    raw = found.select(lambda run: _family(run.settings) == "qr")
    if not raw.runs:
        return raw
    pair = {*tile_pair(raw)}
    return found.select(lambda run: pair <= {*tested_maps(run)})


def _sign_contrasts(dataset: Dataset) -> tuple[Contrast, ...]:
    tile, minus = tile_pair(dataset)

    def plain(settings: Settings) -> bool:
        return settings["projection.length"] == 1

    def raw(settings: Settings) -> bool:
        return _family(settings) == "qr"

    return (
        Contrast(what="on tile, ℓ > 1 minus ℓ = 1", first=raw, on=tile, **_ALONG),
        Contrast(
            what="minus tile minus tile",
            first=lambda s: raw(s) and plain(s),
            on=minus,
            minus=tile,
        ),
        Contrast(
            what="the same minus that of Haar",
            first=plain,
            on=minus,
            minus=tile,
            along="projection.family",
            reference="haar",
        ),
        Contrast(
            what="chance minus tile",
            on=tile,
            minus="chance",
            turned=True,
            first=lambda s: raw(s) and plain(s) and s["task"] in _CARD_TASKS,
        ),
    )


def _played(*maps: str) -> Callable[[Dataset], Dataset]:
    """Select RP with uncorrected QR, no reward, tested on these projections."""
    return _narrowed(
        Kind.RAW_QR,
        keep=lambda s: _without_reward(s) and s["projection.length"] == 1,
        maps=maps,
    )


def _pairs(*pairs: tuple[str, str]) -> Callable[[Dataset], tuple[Contrast, ...]]:
    """Return the contrasts of two test projections each, as far as they were played."""

    def contrasts(dataset: Dataset) -> tuple[Contrast, ...]:
        played = set.intersection(*(set(tested_maps(run)) for run in dataset.runs))
        return tuple(
            Contrast(
                what=f"{map_title(first)} minus {map_title(second)}",
                on=first,
                minus=second,
            )
            for first, second in pairs
            if {first, second} <= played
        )

    return contrasts


def _sign_values(cells: Cells) -> dict[str, str]:
    """Give Repeat Previous under RP with fixed bases, where the pattern is largest."""
    task, chosen = "RepeatPrevious", {"projection.length": 1}
    cells = cells.where(lambda key: cells.task(key) == task)
    if not cells.runs:
        return {"chance": "–"}
    key, runs = next(iter(cells.runs.items()))
    levels, sides = cells.levels(key), tile_pair(Dataset(runs))

    def told(name: str, family: str, redraw: int) -> str:
        wanted = {**chosen, "projection.family": family, "redraw_every": redraw}
        return value_of(cells.mean_return(name, lambda s: wanted.items() <= s.items()))

    paper = PAPER_RESULTS.get((task, "RP", str(cells.get(key, "memory"))))
    return {
        **{
            f"{family}_{side}": told(name, family, 0)
            for family in ("qr", "haar")
            for side, name in zip(("tile", "minus"), sides, strict=True)
        },
        "redrawn": told(sides[0], "qr", 1),
        "paper": value_of(paper.raw.mean / 16 if paper else np.nan),
        "chance": value_of(levels.chance / levels.n_trials),
    }


def _length_values(cells: Cells) -> dict[str, str]:
    """Give returns on random projections at every length, and those blanked."""
    lengths = sorted({cells.length(key) for key in cells.runs})
    values = [
        value_of(
            cells.mean_return("random", lambda s, n=n: s["projection.length"] == n)
        )
        for n in lengths
    ]
    return {
        "seen": value_of(cells.mean_return("random")),
        "returns": ", ".join(values),
        "lengths": ", ".join(map(str, lengths)),
        "blanked": value_of(cells.mean_return("zero")),
    }


def _trial_values(cells: Cells) -> dict[str, str]:
    """Give the first and the last trial of an episode."""
    tables = [
        last(run.metrics["test/random/trial_returns"].T)
        for runs in cells.runs.values()
        for run in runs
        if "test/random/trial_returns" in run.metrics
    ]
    first, *_, final = np.nanmean(tables, axis=0) if tables else (np.nan, np.nan)
    blanked = cells.mean_return("zero")
    return {
        "first": value_of(first),
        "last": value_of(final),
        "blanked": value_of(blanked),
    }


_TO_BLANKED = Contrast(what="random projections minus blanked", minus="zero")
_TO_CHANCE = Contrast(what="random projections minus chance", minus="chance")

QUESTIONS = (
    stated("sign-slip", _tiled, _sign_contrasts, _sign_values),
    stated(
        "sign-alone",
        _played("tile_unit", "minus_tile_unit"),
        _pairs(("minus_tile_unit", "tile_unit"), ("minus_tile", "tile")),
    ),
    stated(
        "norm-alone",
        _played("minus_tile", "minus_tile_unit"),
        _pairs(("minus_tile", "minus_tile_unit"), ("tile", "tile_unit")),
    ),
    stated(
        "haar-length",
        _narrowed(
            Kind.NO_REWARD,
            keep=lambda s: _family(s) == "haar" and s.get("redraw_every", 1) != 0,
            maps=("random",),
        ),
        (_LENGTHS,),
        _length_values,
    ),
    stated("storage", _stored, (_LENGTHS,), _length_values),
    stated(
        "fixed-bases",
        _narrowed(
            *(Kind.NO_REWARD, Kind.RAW_QR),
            keep=lambda s: s.get("redraw_every", 1) == 0 and _without_reward(s),
            maps=("random", "zero"),
        ),
        (_TO_BLANKED,),
    ),
    stated(
        "chance-without-reward",
        _narrowed(
            *(Kind.NO_REWARD, Kind.RAW_QR),
            keep=lambda s: s["task"] in _CARD_TASKS and _without_reward(s),
            maps=("random",),
        ),
        (_TO_CHANCE,),
    ),
    stated("frp-beats-rp", _papers, (_LENGTHS,)),
    stated("best-length", _papers, (_CHOSEN,)),
    stated(
        "in-context",
        _narrowed(Kind.IN_CONTEXT, maps=("random", "zero")),
        (_TO_BLANKED,),
        _trial_values,
    ),
    stated(
        "in-context-length",
        _narrowed(Kind.IN_CONTEXT, maps=("random",)),
        (_LENGTHS,),
        _length_values,
    ),
    stated(
        "new-task",
        _held_out,
        (Contrast(what="task held out, minus chance", minus="chance"),),
    ),
    stated("held-out-task", _held_out, (_LENGTHS,)),
)
