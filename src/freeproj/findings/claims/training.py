"""The questions about ordinary agents: Table 1, word length, fixed bases, adapting.

Each is a declaration; `ask` answers it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from freeproj.experiments.dataset import Dataset
from freeproj.experiments.measures import last, tested_maps
from freeproj.findings.cells import Cells
from freeproj.findings.numbers import PAPER_RESULTS
from freeproj.findings.questions import Contrast, Question, Settings
from freeproj.findings.selection import Kind, equal_storage, kind, of_kind

__all__ = ["QUESTIONS", "tile_pair"]

_CARD_TASKS = ("HigherLower", "RepeatFirst", "RepeatPrevious")
_LENGTHS = Contrast(what="ℓ > 1 minus ℓ = 1", along="projection.length", reference=1)
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
        Contrast(
            what="on tile, ℓ > 1 minus ℓ = 1", first=raw, on=tile,
            along="projection.length", reference=1,
        ),
        Contrast(
            what="minus tile minus tile", first=lambda s: raw(s) and plain(s),
            on=minus, minus=tile,
        ),
        Contrast(
            what="the same minus that of Haar", first=plain, on=minus, minus=tile,
            along="projection.family", reference="haar",
        ),
        Contrast(
            what="chance minus tile", on=tile, minus="chance", turned=True,
            first=lambda s: raw(s) and plain(s) and s["task"] in _CARD_TASKS,
        ),
    )  # fmt: skip


def _returns(cells: Cells, on: str, **settings: Any) -> float:
    """Return the mean return per trial of the configurations with these settings."""
    wanted = {name.replace("__", "."): value for name, value in settings.items()}
    found = [
        value / cells.levels(key).n_trials
        for key in cells.runs
        if all(cells.get(key, name) == value for name, value in wanted.items())
        for value in cells.scores(key, on).values()
    ]
    return float(np.nanmean(found)) if found else np.nan


def _text(value: float) -> str:
    return "–" if np.isnan(value) else f"{round(value, 2) + 0.0:.2f}"


def _sign_numbers(cells: Cells) -> str:
    chosen = {"task": "RepeatPrevious", "redraw_every": 0, "projection__length": 1}
    runs = tuple(run for group in cells.runs.values() for run in group)
    tile, minus = tile_pair(Dataset(runs))
    raw, haar = (
        [
            _text(_returns(cells, on, projection__family=family, **chosen))
            for on in (tile, minus)
        ]
        for family in ("qr", "haar")
    )
    keys = [key for key in cells.runs if cells.task(key) == "RepeatPrevious"]
    if "–" in (*raw, *haar) or not keys:
        return ""
    levels = cells.levels(keys[0])
    paper = PAPER_RESULTS["RepeatPrevious", "RP", "gru"].raw.mean / 16
    redrawn = _returns(
        cells, tile, projection__family="qr", **{**chosen, "redraw_every": 1}
    )
    return (
        f"Repeat Previous, RP, fixed bases, return per trial: {raw[0]} on tile and "
        f"{raw[1]} on minus tile with uncorrected QR, {haar[0]} and {haar[1]} with "
        f"Haar matrices (redrawn bases, QR, tile: {_text(redrawn)}; the paper: "
        f"{paper:.2f}; chance: {_text(levels.chance / levels.n_trials)})."
    )


def _seen_and_blanked(cells: Cells) -> str:
    seen, blanked = _returns(cells, "random"), _returns(cells, "zero")
    return (
        f"Return per trial: {_text(seen)} on random projections, {_text(blanked)} "
        "blanked."
    )


def _length_numbers(cells: Cells) -> str:
    lengths = sorted({cells.length(key) for key in cells.runs})
    values = [_text(_returns(cells, "random", projection__length=n)) for n in lengths]
    return (
        f"Return per trial on random projections: {', '.join(values)} at ℓ = "
        f"{', '.join(map(str, lengths))} ({_text(_returns(cells, 'zero'))} blanked)."
    )


def _trial_numbers(cells: Cells) -> str:
    """Give the first and the last trial of an episode."""
    tables = [
        last(run.metrics["test/random/trial_returns"].T)
        for runs in cells.runs.values()
        for run in runs
        if "test/random/trial_returns" in run.metrics
    ]
    if not tables:
        return ""
    first, *_, final = np.nanmean(tables, axis=0)
    return (
        f"Return in the first trial of an episode {_text(first)}, in the last "
        f"{_text(final)} ({_text(_returns(cells, 'zero'))} blanked)."
    )


QUESTIONS = (
    Question(
        "sign-slip",
        "The published pattern (RP below chance, FRP not) comes from matrices drawn by "
        "QR without the sign correction: it appears with them, more than with Haar "
        "matrices, and turns round on minus tile.",
        "Table 1; uncorrected QR has a negative diagonal",
        _tiled,
        _sign_contrasts,
        study="why-table-1",
        opens=True,
        needs='projection.family = "qr" with ℓ = 1, without reward, tested on tile and '
        "minus_tile.",
        numbers=_sign_numbers,
    ),
    Question(
        "haar-length",
        "With Haar matrices, redrawn as the paper writes, the word length changes the "
        "return on unseen random projections by at most 10 % of the headroom.",
        "Theory: mean and covariance of the gradient do not depend on ℓ",
        _narrowed(
            Kind.NO_REWARD,
            keep=lambda s: _family(s) == "haar" and s.get("redraw_every", 1) != 0,
            maps=("random",),
        ),
        (_LENGTHS,),
        expects="same",
        study="as-written",
        opens=True,
        needs="Haar matrices, redrawn, no reward, ℓ = 1 and more, tested on random.",
        otherwise="With Haar matrices, redrawn as the paper writes, the word length "
        "changes the return on unseen random projections by more than 10 % of the "
        "headroom.",
        numbers=_seen_and_blanked,
    ),
    Question(
        "storage",
        "At equal storage (n matrices that stay fixed) longer words help on unseen "
        "random projections: n^ℓ projections to train on instead of n.",
        "Expected from theory; not in the paper",
        _stored,
        (_LENGTHS,),
        study="storage",
        opens=True,
        needs="redraw_every = 0, one n_generators, ℓ = 1 and more, tested on random.",
        numbers=_length_numbers,
    ),
    Question(
        "fixed-bases",
        "Agents trained on fixed bases memorise: on unseen random projections they "
        "earn what they earn with the observation blanked, within 10 % of the "
        "headroom.",
        "The authors' release never redraws its bases",
        _narrowed(
            *(Kind.NO_REWARD, Kind.RAW_QR),
            keep=lambda s: s.get("redraw_every", 1) == 0 and _without_reward(s),
            maps=("random", "zero"),
        ),
        (Contrast(what="random projections minus blanked", minus="zero"),),
        expects="same",
        study="why-table-1",
        opens=True,
        needs="redraw_every = 0 without reward, tested on random projections.",
        otherwise="Agents trained on fixed bases do not always memorise: in some tasks "
        "they earn more on unseen random projections than with the observation "
        "blanked.",
    ),
    Question(
        "chance-without-reward",
        "Without the reward among its inputs every agent is at chance on the card "
        "tasks under random projections, within 10 % of the headroom.",
        "Symmetry theorem: relabelling the cards changes nothing that is seen",
        _narrowed(
            *(Kind.NO_REWARD, Kind.RAW_QR),
            keep=lambda s: s["task"] in _CARD_TASKS and _without_reward(s),
            maps=("random",),
        ),
        (Contrast(what="random projections minus chance", minus="chance"),),
        expects="same",
        study="why-table-1",
        opens=True,
        needs="card tasks without reward, tested on random projections.",
    ),
    Question(
        "frp-beats-rp",
        "FRP (ℓ > 1) generalises better than RP (ℓ = 1) to the fixed test projection.",
        "Generalization Gain, Table 1",
        _papers,
        (_LENGTHS,),
        on="",
        study="as-written",
        needs="Haar matrices, projected observation, ℓ = 1 and a longer word.",
    ),
    Question(
        "best-length",
        "The best word length ℓ* is greater than 1.",
        "Impact of Word Length, Table 2",
        _papers,
        (
            Contrast(
                what="best ℓ > 1, chosen on other seeds, minus ℓ = 1",
                along="projection.length",
                reference=1,
                chosen=True,
            ),
        ),
        on="",
        study="as-written",
        needs="Haar matrices, projected observation, ℓ = 1 and a longer word.",
    ),
    Question(
        "in-context",
        "With reward shown and new starts agents adapt to unseen random projections: "
        "they earn more than with the observation blanked.",
        "In-context learning, which the paper is about",
        _narrowed(Kind.IN_CONTEXT, maps=("random", "zero")),
        (Contrast(what="random projections minus blanked", minus="zero"),),
        study="in-context",
        opens=True,
        needs="reward shown, new starts, tested on random projections.",
        numbers=_trial_numbers,
    ),
    Question(
        "in-context-length",
        "The word length changes the return on unseen random projections by at most "
        "10 % of the headroom where the projection has to be learned in context "
        "(reward shown, new starts).",
        "The paper's question, asked where adapting pays",
        _narrowed(Kind.IN_CONTEXT, maps=("random",)),
        (_LENGTHS,),
        expects="same",
        study="in-context",
        needs="reward shown, new starts, ℓ = 1 and more, on random projections.",
        numbers=_length_numbers,
    ),
    Question(
        "new-task",
        "Training on other tasks beats chance on a task that was never seen.",
        "Introduction: generalisation to unseen tasks",
        _held_out,
        (Contrast(what="task held out, minus chance", minus="chance"),),
        study="held-out-task",
        needs="runs tested on a task that they did not train on.",
    ),
    Question(
        "held-out-task",
        "FRP (ℓ > 1) generalises better than RP (ℓ = 1) to a task that was not trained "
        "on.",
        "Introduction: generalisation to unseen tasks",
        _held_out,
        (_LENGTHS,),
        study="held-out-task",
        needs="runs tested on a task that they did not train on, ℓ = 1 and more.",
    ),
)
