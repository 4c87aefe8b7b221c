"""Put a question to a dataset: the only place that decides what may be said.

    answer = ask(CLAIMS.resolve("haar-length"), read_dataset("published:as-written"))
    answer.outcome, answer.sentence

The rule, the same for every question: the score of a run is the mean of its last three
evaluations; seeds are paired; differences are shares of the headroom where one is known
for every task compared, otherwise returns per trial; agents that are compared must use
their observation; `freeproj.stats.verdict` decides, with one margin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from freeproj.experiments.dataset import Dataset
from freeproj.findings.answers import (
    HEADROOM,
    RETURN,
    SHARE,
    Answer,
    Finding,
    said,
    unknown,
)
from freeproj.findings.cells import Cells, make_cells
from freeproj.findings.contrasts import Comparison, comparisons, uses_observation
from freeproj.findings.questions import MARGIN, Question
from freeproj.findings.telling import (
    Case,
    basis_text,
    margin_text,
    numbers_text,
    power_text,
    selection_text,
    short_text,
)
from freeproj.stats import Judged, Outcome, Verdict, rule_text, verdict

__all__ = ["ask"]


class _MissingError(LookupError):
    """The dataset lacks what a question needs."""


def ask(question: Question, dataset: Dataset) -> Answer:
    """Return what a dataset says about a question. It never raises.

    The answer's `status` is `answered`, `missing` (it says what) or `failed` (with the
    error: a question of your own may have one).
    """
    try:
        return _answer(question, dataset)
    except _MissingError as lack:
        return _unanswered(question, missing=str(lack) or question.needs)
    except Exception as error:  # a guest's code must not end the report
        told = " ".join(str(error).split())[:300]
        return _unanswered(question, error=f"{type(error).__name__}: {told}")


def _unanswered(question: Question, missing: str = "", error: str = "") -> Answer:
    return Answer(
        question.name,
        question.statement,
        question.source,
        _rule(question, HEADROOM),
        Outcome.OPEN,
        (),
        numbers=f"Failed: {error}" if error else f"Not in these runs: {missing}",
        missing=missing,
        error=error,
        study=question.study,
        section=question.section,
    )


def _answer(question: Question, dataset: Dataset) -> Answer:
    chosen = question.select(dataset)
    if not chosen.runs:
        raise _MissingError(question.needs)
    cells, contrasts = _configurations(chosen, question.on), question.contrasts
    if callable(contrasts):
        contrasts = contrasts(chosen)
    found = [
        each
        for contrast in contrasts
        for each in comparisons(contrast, cells, question.on)
    ]
    if not found:
        raise _MissingError(question.needs)
    unit, looks = _unit(found), int(dataset.meta.get("looks", 1))
    margin, ignoring = _margin(question, unit), _left_out(cells, found)
    data = {place: _in_unit(each, unit) for place, each in enumerate(found)}
    judged = verdict(
        data,
        question.expects,
        margin,
        looks=looks,
        left_out=ignoring,
        pool=not question.each,
    )
    if judged.outcome is Outcome.HOLDS and not _each_holds(
        question, found, data, judged.cells
    ):
        judged = replace(judged, outcome=Outcome.OPEN)
    if unit == SHARE:
        judged = _shifted(judged, contrasts[0].share)
    case = Case(question, cells, contrasts, found, data, judged, unit, looks)
    return _told(case, margin, len(ignoring))


def _told(case: Case, margin: float, n_left: int) -> Answer:
    question, judged = case.question, case.judged
    values = question.values(case.cells) if question.values else {}
    power, needed = power_text(case)
    several = ""
    if len(case.contrasts) > 1 and question.expects != "same":
        several = f" Each of the {len(case.contrasts)} contrasts must hold by itself."
    lacks = any("–" in each for each in values.values())
    return Answer(
        question.name,
        question.statement,
        question.source,
        _rule(question, case.unit, case.looks) + several,
        judged.outcome,
        _findings(case, margin if question.expects == "same" else 0.0),
        numbers=numbers_text(case),
        said=said(question.statement, judged.outcome, question.otherwise),
        short=short_text(case, values),
        basis=basis_text(case),
        details="" if lacks else question.details.format_map(values),
        power=power,
        needed=needed,
        selection=selection_text(case, n_left),
        unit=case.unit,
        pooled=judged.pooled,
        study=question.study,
        section=question.section,
        opens=question.opens,
    )


def _configurations(dataset: Dataset, on: str) -> Cells:
    """Put runs into cells; agents that were tested twice count once.

    Where each is scored on its own first map, how it was tested is part of the cell.
    """
    held_out = [bool(run.settings.get("evaluation.task")) for run in dataset.runs]
    if any(held_out) and not all(held_out):
        raise ValueError(
            "Some of these runs hold out a task and some do not: select one kind."
        )
    cells = make_cells(dataset, "task" if any(held_out) else "projection")
    return cells.per_agent() if on else cells


def _margin(question: Question, unit: str) -> float:
    if question.margin is not None or question.expects != "same":
        return question.margin or 0.0
    if unit != HEADROOM:
        raise _MissingError(
            "a margin in returns per trial: no headroom is stored for these tasks."
        )
    return MARGIN


def _rule(question: Question, unit: str, looks: int = 1) -> str:
    text = rule_text(question.expects, margin_text(question, unit), not question.each)
    if looks == 1:
        return text
    each = f"5 % / {looks} each"
    return f"{text} The data were judged {looks} times as they came in: {each}."


def _unit(found: Sequence[Comparison]) -> str:
    if all(each.whole > 0 for each in found):
        return SHARE
    return HEADROOM if all(each.levels.headroom > 0 for each in found) else RETURN


def _in_unit(each: Comparison, unit: str) -> dict[int, float]:
    room = each.levels.headroom / each.levels.n_trials
    scale = {SHARE: each.whole, HEADROOM: room, RETURN: 1.0}[unit]
    return {seed: gap / scale for seed, gap in each.gaps.items()}


def _each_holds(
    question: Question, found: Sequence[Comparison], data: Mapping[int, Any], kept: Any
) -> bool:
    """Whether each contrast holds by itself; a pool must not hide one that does not."""
    groups: dict[str, dict[int, Any]] = {}
    for place in kept:
        groups.setdefault(found[place].what, {})[place] = data[place]
    return question.expects == "same" or all(
        verdict(group, question.expects).outcome is Outcome.HOLDS
        for group in groups.values()
    )


def _shifted(judged: Verdict, by: float) -> Verdict:
    """Add a number to all means and intervals: where zero stands for a share."""

    def moved(cell: Judged) -> Judged:
        ends = cell.interval
        if ends is not None:
            ends = ends._replace(low=ends.low + by, high=ends.high + by)
        return replace(cell, mean=cell.mean + by, interval=ends)

    cells = {place: moved(cell) for place, cell in judged.cells.items()}
    return replace(judged, cells=cells, pooled=moved(judged.pooled))


def _left_out(cells: Cells, found: Sequence[Comparison]) -> list[int]:
    """Return the comparisons whose agents, taken together, ignore what they see."""
    groups = {(each.agents, each.on) for each in found if each.agents}
    ignoring = {
        (agents, on)
        for agents, on in groups
        if uses_observation(cells, agents, on).uses_observation is False
    }
    return [n for n, each in enumerate(found) if (each.agents, each.on) in ignoring]


def _findings(case: Case, margin: float) -> tuple[Finding, ...]:
    findings, unit = [], case.unit
    zero = case.contrasts[0].share if unit == SHARE else 0.0
    for place, each in enumerate(case.found):
        cell = case.judged.cells.get(place)
        if cell is None:
            why = "These agents do not use their observation: no verdict."
            findings.append(replace(unknown(each.about, why, unit), run=each.run))
            continue
        findings.append(
            Finding(
                each.about,
                cell.outcome,
                cell.mean,
                cell.interval,
                unit,
                cell.reason,
                each.remark,
                (-margin, margin) if margin else (zero,),
                cell.n,
                each.run,
            )
        )
    return tuple(findings)
