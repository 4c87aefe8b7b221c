"""The paper's claims about training: FRP against RP, the best word length.

Scores are means of the last three held-out evaluations on the first test map. Raw QR
matrices, equal storage and learning in context have claims of their own.
"""

from __future__ import annotations

import math
from functools import partial

from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import Cells, Key
from freeproj.findings.claims.findings import (
    cell_findings,
    left_out_findings,
    left_out_text,
    pooled_text,
)
from freeproj.findings.comparisons import against_plain, looks
from freeproj.findings.labels import seeds_text, settings_text
from freeproj.findings.numbers import PAPER_LENGTHS
from freeproj.findings.selection import Question, asked
from freeproj.findings.verdicts import (
    LEVEL,
    Claim,
    Finding,
    combine,
    missing,
    unknown,
)
from freeproj.stats import Outcome, holm, split_choice

__all__ = ["best_length_exceeds_one", "free_beats_plain", "free_helps_new_tasks"]

# Agents that see through a projection; the paper's protocol first.
_SEEING = (Question.NO_REWARD, Question.REWARD)
_GAP = (
    "Every ℓ > 1 against ℓ = 1 of the same settings, seeds in pairs. Holds if the "
    "pooled sign-flip test says so and no cell says the opposite; all p-values and "
    "intervals are corrected for the number of comparisons."
)


def free_beats_plain(dataset: Dataset) -> Claim:
    """Ask whether longer words generalise better to an unseen map."""
    return _versus(
        _papers(dataset),
        name="frp-beats-rp",
        statement="Free random projection (ℓ > 1) generalises better than plain random "
        "projection (ℓ = 1).",
        source="Generalization Gain, Table 1",
    )


def free_helps_new_tasks(dataset: Dataset) -> Claim:
    """Ask the same of tasks that were held out from training."""
    return _versus(
        asked(dataset, *_SEEING, Question.IN_CONTEXT, protocol="task"),
        name="held-out-task",
        statement="Free random projection (ℓ > 1) generalises better to a task that "
        "was not trained on.",
        source="Introduction: generalisation to unseen tasks",
    )


def best_length_exceeds_one(dataset: Dataset) -> Claim:
    """Ask whether the best ℓ > 1, chosen on other seeds, beats ℓ = 1."""
    tell = {
        "name": "best-length",
        "statement": "The best word length ℓ* is greater than 1.",
        "source": "Impact of Word Length, Table 2",
        "rule": "ℓ* is chosen on one half of the seeds and tested against ℓ = 1 on "
        "the other, both ways; p-values are corrected for the number of cells (Holm). "
        "Choosing on the seeds that are tested, as Table 2 does, favours ℓ > 1: most "
        "lengths tried are.",
    }
    cells = _papers(dataset)
    groups = {
        rest: lengths
        for rest, lengths in cells.families().items()
        if 1 in lengths and len(lengths) > 1
    }
    if not groups:
        return missing(**tell, what="ℓ = 1 and a longer word with the same settings.")
    blind = [
        rest
        for rest, lengths in groups.items()
        if looks(cells, *lengths.values()).uses_observation is False
    ]
    seeing = [lengths for rest, lengths in groups.items() if rest not in blind]
    findings = _length_findings(cells, seeing) + tuple(
        unknown(
            cells.label(groups[rest][1], "projection.length"),
            "These cells do not use their observation: no verdict.",
        )
        for rest in blind
    )
    better = sum(finding.value > 0 for finding in findings)
    headline = (
        f"Chosen on other seeds, the best ℓ > 1 is ahead of ℓ = 1 in {better} of "
        f"{len(seeing)} cells."
    )
    outcome = combine(finding.outcome for finding in findings)
    return Claim(**tell, headline=headline, findings=findings, outcome=outcome)


def _versus(cells: Cells, *, name: str, statement: str, source: str) -> Claim:
    tell = partial(missing, name, statement, source, _GAP)
    if not cells.runs:
        return tell("runs of this kind (true Haar matrices, projected observation).")
    compared = against_plain(cells)
    if not compared.plain:
        return tell("ℓ = 1 and a longer word with the same settings.")
    found = compared.verdict
    findings = cell_findings(found, cells.label) + left_out_findings(cells, compared)
    headline = pooled_text(found, "Longer words minus ℓ = 1") + left_out_text(compared)
    return Claim(name, statement, source, _GAP, headline, findings, found.outcome)


def _papers(dataset: Dataset) -> Cells:
    """Return the runs of the paper's protocol; if there are none, those with reward."""
    for each in _SEEING:
        cells = asked(dataset, each)
        if any(
            1 in lengths and len(lengths) > 1 for lengths in cells.families().values()
        ):
            return cells
    return asked(dataset, *_SEEING)


def _length_findings(cells: Cells, groups: list[dict[int, Key]]) -> tuple[Finding, ...]:
    choices = [
        split_choice(
            {ell: cells.scores(key) for ell, key in lengths.items() if ell > 1},
            cells.scores(lengths[1]),
        )
        for lengths in groups
    ]
    adjusted = holm([choice.p for choice in choices])
    findings = []
    for lengths, choice, p in zip(groups, choices, adjusted, strict=True):
        settings = cells.settings(lengths[1], "projection.length")
        paper = PAPER_LENGTHS.get((str(settings["task"]), str(settings["memory"])))
        scale = cells.levels(lengths[1]).scale
        said = " and ".join(f"ℓ = {ell}" for ell in choice.choices if ell)
        outcome = Outcome.OPEN
        if p <= LEVEL:
            outcome = Outcome.HOLDS if choice.mean > 0 else Outcome.FAILS
        few = " (too few seeds)" if math.isnan(p) else f", p = {p:.2g} corrected"
        findings.append(
            Finding(
                about=settings_text(settings),
                outcome=outcome,
                value=choice.mean / scale,
                interval=None,
                unit="chosen ℓ minus ℓ = 1 on other seeds, share of the headroom",
                basis=f"Halves chose {said or 'nothing'}; "
                + f"{seeds_text([choice.n])}{few}."
                + (f" The paper's ℓ*: {paper}." if paper else ""),
                seeds=choice.n,
            )
        )
    return tuple(findings)
