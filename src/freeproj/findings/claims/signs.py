"""Claims about what explains Table 1: signs of QR, fixed bases, chance, storage.

They need runs tested on several maps (`evaluation.maps`): tile and minus tile, random
maps that no agent has met, and the blanked observation.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import Cells, Key, make_cells, metric_of
from freeproj.findings.claims.findings import (
    EQUIVALENCE,
    cell_findings,
    equal_lengths,
    left_out_findings,
    pooled_claim,
    pooled_text,
)
from freeproj.findings.comparisons import MARGIN, against_plain
from freeproj.findings.numbers import PAPER_RESULTS
from freeproj.findings.selection import Question, asked, equal_storage, question
from freeproj.findings.verdicts import Claim, combine, missing
from freeproj.stats import differences, verdict
from freeproj.stats.intervals import summarise

__all__ = [
    "at_chance_without_reward",
    "fixed_bases_carry_nothing_over",
    "length_changes_nothing",
    "signs_explain_table",
    "storage_helps",
]

_CARD_TASKS = ("HigherLower", "RepeatFirst", "RepeatPrevious")
_Contrasts = dict[Hashable, dict[int, float]]


def signs_explain_table(dataset: Dataset) -> Claim:
    """Ask whether raw QR gives the published pattern, and minus tile its opposite."""
    tell = {
        "name": "sign-slip",
        "statement": "The published pattern (RP below chance, FRP not) appears with "
        "raw QR matrices, and is reversed on minus tile.",
        "source": "Table 1; QR without its sign correction has a negative diagonal",
        "rule": "Contrasts per task and kind of bases, all expected above zero: on "
        "tile, ℓ > 1 over ℓ = 1; at ℓ = 1, minus tile over tile, by itself and minus "
        "that of true Haar; on card tasks at ℓ = 1, chance over tile. Holds if the "
        "pooled sign-flip test says so and no contrast says the opposite.",
    }
    tile = _tile(dataset)
    both = asked(
        dataset, Question.RAW_QR, Question.NO_REWARD, maps=(tile, "minus_tile")
    )
    every = both.where(lambda key: not both.get(key, "previous_reward"))
    cells = every.where(lambda key: every.get(key, "projection.family") == "qr")
    data, remarks = _sign_contrasts(cells, every, tile)
    if not data:
        return missing(
            **tell,
            what='projection.family = "qr" with ℓ = 1, without reward, tested on tile '
            "and minus_tile.",
        )
    headline = _sign_headline(cells, every, tile)
    return pooled_claim(tell, data, "All contrasts", str, remarks, headline=headline)


def length_changes_nothing(dataset: Dataset) -> Claim:
    """Ask whether all word lengths are equal under true Haar matrices."""
    tell = {
        "name": "haar-length",
        "statement": "With true Haar matrices, redrawn as the paper says, the word "
        "length changes nothing on unseen random maps.",
        "source": "Theory: mean and covariance of the gradient do not depend on ℓ",
        "rule": EQUIVALENCE + " On one fixed map each agent's own luck is larger than "
        "that; it is judged by the claim that longer words generalise better.",
    }
    cells = asked(dataset, Question.NO_REWARD, maps=("random",))
    cells = cells.where(
        lambda key: (
            cells.get(key, "projection.family", "haar") == "haar"
            and cells.get(key, "redraw_every", 1) != 0
        )
    )
    what = "true Haar matrices, redrawn, no reward, ℓ = 1 and more, on random maps."
    return equal_lengths(cells, tell, what)


def fixed_bases_carry_nothing_over(dataset: Dataset) -> Claim:
    """Ask whether agents trained on fixed bases are blind on maps they never met."""
    tell = {
        "name": "fixed-bases",
        "statement": "Agents trained on fixed bases carry nothing over to unseen "
        "random maps, whatever the word length.",
        "source": "The release never redraws its bases",
        "rule": EQUIVALENCE + " The difference: random maps minus blanked.",
    }
    every = asked(dataset, Question.NO_REWARD, Question.RAW_QR, maps=("random", "zero"))
    cells = every.where(
        lambda key: (
            every.get(key, "redraw_every", 1) == 0
            and not every.get(key, "previous_reward", False)
        )
    )
    if not cells.runs:
        return missing(
            **tell, what="redraw_every = 0 without reward, tested on random maps."
        )
    data = {key: _shares(cells, key, "random", "zero") for key in cells.runs}
    remarks = {key: _training_remark(cells, key) for key in cells.runs}
    return _equivalence(tell, cells, data, "Random maps minus blanked", remarks)


def at_chance_without_reward(dataset: Dataset) -> Claim:
    """Ask whether every policy is at chance on the card tasks under random maps."""
    tell = {
        "name": "chance-without-reward",
        "statement": "Without the reward among its inputs, every policy is at chance "
        "on the card tasks under random maps.",
        "source": "Symmetry theorem: relabelling the cards changes nothing seen",
        "rule": EQUIVALENCE + " The difference: random maps minus chance.",
    }
    every = asked(dataset, Question.NO_REWARD, Question.RAW_QR, maps=("random",))
    cells = every.where(
        lambda key: (
            every.task(key) in _CARD_TASKS
            and not every.get(key, "previous_reward", False)
        )
    )
    if not cells.runs:
        return missing(**tell, what="card tasks without reward, tested on random maps.")
    data = {key: _over_chance(cells, key, "random") for key in cells.runs}
    return _equivalence(tell, cells, data, "Random maps minus chance")


def storage_helps(dataset: Dataset) -> Claim:
    """Ask whether words pay when the number of stored matrices is the same."""
    tell = {
        "name": "storage",
        "statement": "At equal storage (n fixed matrices), longer words help: n^ℓ maps "
        "to train on instead of n.",
        "source": "Expected from theory; not in the paper",
        "rule": "Every ℓ > 1 against ℓ = 1 with the same n, never redrawn, on random "
        "maps, seeds in pairs. Holds if the pooled sign-flip test says so and no cell "
        "says the opposite.",
    }
    stored = dataset.select(
        lambda run: (
            run.settings.get("redraw_every", 1) == 0
            and question(run.settings) is not Question.RAW_QR
            and question(run.settings) is not Question.CONTROL
            and metric_of("random") in run.metrics
        )
    )
    cells = make_cells(equal_storage(stored)).per_agent()
    compared = against_plain(cells, "random") if cells.runs else None
    if compared is None or not compared.plain:
        return missing(
            **tell,
            what="redraw_every = 0, one n_generators, ℓ = 1 and more, on random maps.",
        )
    found = compared.verdict
    headline = pooled_text(found, "Longer words minus ℓ = 1 on random maps")
    findings = cell_findings(found, cells.label) + left_out_findings(cells, compared)
    return Claim(**tell, headline=headline, findings=findings, outcome=found.outcome)


def _tile(dataset: Dataset) -> str:
    """Return the tiled map that raw QR was tested on; prefer the release's."""
    played = asked(dataset, Question.RAW_QR, maps=("tile_unit", "minus_tile")).runs
    return "tile_unit" if played else "tile"


def _shares(cells: Cells, key: Key, first: str, second: str) -> dict[int, float]:
    """Return first map minus second, seed by seed, as shares of the headroom."""
    gaps = differences(cells.scores(key, first), cells.scores(key, second))
    return {seed: gap / cells.levels(key).scale for seed, gap in gaps.items()}


def _over_chance(cells: Cells, key: Key, test_map: str) -> dict[int, float]:
    levels = cells.levels(key)
    return {
        seed: (score - levels.chance) / levels.scale
        for seed, score in cells.scores(key, test_map).items()
    }


def _equivalence(
    tell: Mapping[str, str],
    cells: Cells,
    data: Mapping[Any, dict[int, float]],
    what: str,
    remarks: Mapping[Any, str] | None = None,
) -> Claim:
    """Judge the claim that these differences all lie within the margin."""
    margins: dict[Any, float] = {
        key: MARGIN for key in data if cells.levels(key).headroom > 0
    }
    found = verdict(data, margin=margins, alternative="two-sided")
    findings = cell_findings(found, cells.label, remarks, turned=True)
    outcome = combine(finding.outcome for finding in findings)
    said = pooled_text(found, what)
    return Claim(**tell, headline=said, findings=findings, outcome=outcome)


def _sign_contrasts(cells: Cells, every: Cells, tile: str) -> tuple[_Contrasts, dict]:
    """Return the three contrasts of every group, and true Haar's as remarks."""
    data: _Contrasts = {}
    remarks: dict[Hashable, str] = {}
    for lengths in cells.families().values():
        plain = lengths.get(1)
        if plain is None:
            continue
        label = cells.label(plain, "projection.length", "projection.family")
        for ell, key in lengths.items():
            if ell > 1:
                gaps = differences(cells.scores(key, tile), cells.scores(plain, tile))
                scale = cells.levels(key).scale
                name = f"{label}: tile, ℓ = {ell} over ℓ = 1"
                data[name] = {seed: gap / scale for seed, gap in gaps.items()}
        name = f"{label}: ℓ = 1, minus tile over tile"
        data[name] = _shares(cells, plain, "minus_tile", tile)
        twin = _haar_twin(every, plain)
        if twin is not None:
            true = _shares(every, twin, "minus_tile", tile)
            remarks[name] = (
                f"True Haar: {100 * summarise([*true.values()]).mean:+.1f} %."
            )
            data[f"{name}, minus true Haar's"] = differences(data[name], true)
        if cells.task(plain) in _CARD_TASKS:
            over = _over_chance(cells, plain, tile)
            name = f"{label}: ℓ = 1, chance over tile"
            data[name] = {seed: -share for seed, share in over.items()}
    return data, remarks


def _haar_twin(every: Cells, key: Key) -> Key | None:
    """Return the cell that differs by true Haar matrices only."""
    if "projection.family" not in every.axes:
        return None
    place = every.axes.index("projection.family")
    twin = (*key[:place], "haar", *key[place + 1 :])
    return twin if twin in every.runs else None


def _sign_headline(cells: Cells, every: Cells, tile: str) -> str:
    """Write returns per trial at ℓ = 1, raw QR beside true Haar, one group per task."""
    said: dict[str, str] = {}
    for lengths in cells.families().values():
        plain = lengths.get(1)
        if plain is None or cells.task(plain) not in _CARD_TASKS:
            continue
        levels = cells.levels(plain)
        label = cells.label(plain, "projection.length", "projection.family")
        twin = _haar_twin(every, plain)
        raw = [_per_trial(cells, plain, name) for name in (tile, "minus_tile")]
        text = f"{label}: {raw[0]} on tile, {raw[1]} on minus tile"
        text += _paper_text(cells, plain)
        if twin is not None:
            true = [_per_trial(every, twin, name) for name in (tile, "minus_tile")]
            text += f"; true Haar {true[0]}, {true[1]}"
        said.setdefault(cells.task(plain), f"{text} (chance {_signed(levels)})")
    if not said:
        return ""
    return "Return per trial at ℓ = 1, raw QR. " + ". ".join(said.values()) + "."


def _per_trial(cells: Cells, key: Key, test_map: str) -> str:
    mean = summarise(list(cells.scores(key, test_map).values())).mean
    value = mean / cells.levels(key).n_trials
    return "–" if math.isnan(value) else f"{round(value, 2) + 0.0:.2f}"


def _paper_text(cells: Cells, key: Key) -> str:
    found = PAPER_RESULTS.get((cells.task(key), "RP", str(cells.get(key, "memory"))))
    return f" (the paper's RP: {found.raw.mean / 16:.2f})" if found else ""


def _signed(levels) -> str:
    return f"{round(levels.chance / levels.n_trials, 2) + 0.0:.2f}"


def _training_remark(cells: Cells, key: Key) -> str:
    train = summarise(list(cells.scores(key, "train").values())).mean
    if math.isnan(train):
        return ""
    levels = cells.levels(key)
    return (
        f"In training: {train / levels.n_trials:.2f} a trial (chance "
        f"{levels.chance / levels.n_trials:.2f})."
    )
