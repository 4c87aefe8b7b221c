"""Put a question to a dataset: the only place that decides what may be said.

    answer = ask(CLAIMS.resolve("haar-length"), read_dataset("published:as-written"))
    answer.outcome, answer.sentence

The rule, the same for every question: the score of a run is the mean of its last three
evaluations; seeds are paired; differences are shares of the headroom where one is known
for every task compared, otherwise returns per trial; agents that are compared must use
their observation; `freeproj.stats.verdict` decides, with one margin.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from freeproj.experiments.dataset import Dataset
from freeproj.findings import telling
from freeproj.findings.answers import HEADROOM, RETURN, SHARE, Answer, Finding, said
from freeproj.findings.cells import Cells, make_cells
from freeproj.findings.contrasts import Comparison, comparisons, uses_observation
from freeproj.findings.questions import MARGIN, Question
from freeproj.findings.telling import Case
from freeproj.stats import Outcome, Verdict, rule_text, verdict

__all__ = ["ask"]

_REPEATED = ("name", "statement", "source", "study", "section", "opens")


class _MissingError(LookupError):
    """The dataset lacks what a question needs."""


def ask(question: Question, dataset: Dataset) -> Answer:
    """Return what a dataset says about a question. It never raises.

    The answer's `status` is `answered`, `missing` (it says what) or `failed` (with the
    error: a question of your own may have one).
    """
    parts: dict[str, Any] = {name: getattr(question, name) for name in _REPEATED}
    try:
        return _answer(question, dataset)
    except _MissingError as lack:
        parts |= {"numbers": f"Not in these runs: {lack}", "missing": str(lack)}
    except Exception as error:  # a guest's code must not end the report
        told = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        parts |= {"numbers": f"Failed: {told}", "error": told}
    return Answer(rule=_rule(question, HEADROOM), outcome=Outcome.OPEN, **parts)


def _answer(question: Question, dataset: Dataset) -> Answer:
    chosen, on = question.select(dataset), question.on
    if not chosen.runs:
        raise _MissingError(question.needs)
    cells, contrasts = _configurations(chosen, on), question.contrasts
    if callable(contrasts):
        contrasts = contrasts(chosen)
    found = [each for one in contrasts for each in comparisons(one, cells, on)]
    if not found:
        raise _MissingError(question.needs)
    (unit, data), looks = _scaled(cells, found), int(dataset.meta.get("looks", 1))
    margin, zero = _margin(question, unit), 0.0
    if unit == SHARE:  # which differences are counted from
        zero = contrasts[0].share
        data = [{seed: gap + zero for seed, gap in each.items()} for each in data]
    how = {"margin": margin, "threshold": zero}
    judged = _judged(question, cells, found, data, looks, **how)
    case = Case(question, cells, contrasts, found, data, judged, unit, looks)
    thresholds = (-margin, margin) if question.expects == "same" else (zero,)
    return _told(case, tuple(_findings(case, thresholds)))


def _told(case: Case, findings: tuple[Finding, ...]) -> Answer:
    question, judged = case.question, case.judged
    values = question.values(case.cells) if question.values else {}
    power, needed = telling.power_text(case)
    rule = _rule(question, case.unit, case.looks)
    if len(case.contrasts) > 1 and question.expects != "same":
        rule += f" Each of the {len(case.contrasts)} contrasts must hold by itself."
    return Answer(
        rule=rule,
        outcome=judged.outcome,
        findings=findings,
        numbers=telling.numbers_text(case),
        said=said(question.statement, judged.outcome, question.otherwise),
        short=telling.short_text(case, values),
        basis=telling.basis_text(case),
        details=telling.filled(question.details, values),
        power=power,
        needed=needed,
        selection=telling.selection_text(case),
        unit=case.unit,
        pooled=judged.pooled,
        **{name: getattr(question, name) for name in _REPEATED},
    )


def _configurations(dataset: Dataset, on: str) -> Cells:
    """Put runs into cells; agents that were tested twice count once.

    Where each is scored on its own first map, how it was tested is part of the cell.
    """
    held_out = {bool(run.settings.get("evaluation.task")) for run in dataset.runs}
    if len(held_out) > 1:
        raise ValueError(
            "Some of these runs hold out a task and some do not: select one kind."
        )
    cells = make_cells(dataset, "task" if True in held_out else "projection")
    return cells.per_agent() if on else cells


def _margin(question: Question, unit: str) -> float:
    if question.expects == "same" and question.margin is None and unit != HEADROOM:
        raise _MissingError(
            "a margin in returns per trial: no headroom is stored for these tasks."
        )
    return MARGIN if question.margin is None else question.margin


def _rule(question: Question, unit: str, looks: int = 1) -> str:
    margin = telling.margin_text(question, unit)
    text = rule_text(question.expects, margin, not question.each)
    times = f" The data were judged {looks} times as they came in: 5 % / {looks} each."
    return text + times * (looks > 1)


def _scaled(
    cells: Cells, found: Sequence[Comparison]
) -> tuple[str, list[dict[int, float]]]:
    """Return the unit of all differences, and each one in it, by seed."""
    shares = [each.whole for each in found]
    levels = [cells.levels(each.key) for each in found]
    rooms = [each.headroom / each.n_trials for each in levels]
    known = {SHARE: shares, HEADROOM: rooms, RETURN: [1.0] * len(found)}
    unit, scales = next((u, s) for u, s in known.items() if all(x > 0 for x in s))
    pairs = zip(found, scales, strict=True)
    return unit, [{seed: g / scale for seed, g in e.gaps.items()} for e, scale in pairs]


def _judged(
    question: Question, cells: Cells, found: Sequence, data: Sequence, looks: int, **how
) -> Verdict:
    """Judge all comparisons; a pool must not hide a contrast that does not hold."""
    expects, every = question.expects, dict(enumerate(data))
    more = {"left_out": _left_out(cells, found), "pool": not question.each}
    judged = verdict(every, expects, looks=looks, **how, **more)
    if expects == "same" or judged.outcome is not Outcome.HOLDS:
        return judged
    for what in {each.what for each in found}:
        own = {n: data[n] for n in judged.cells if found[n].what == what}
        if own and verdict(own, expects, **how).outcome is not Outcome.HOLDS:
            return replace(judged, outcome=Outcome.OPEN)
    return judged


def _left_out(cells: Cells, found: Sequence[Comparison]) -> list[int]:
    """Return the comparisons whose agents, taken together, ignore what they see."""
    groups = {(each.agents, each.on) for each in found}
    audits = {group: uses_observation(cells, *group) for group in groups if group[0]}
    ignoring = {group for group, uses in audits.items() if uses is False}
    return [n for n, each in enumerate(found) if (each.agents, each.on) in ignoring]


def _findings(case: Case, thresholds: tuple[float, ...]) -> Iterator[Finding]:
    """Yield a finding for each comparison; one without a verdict says why."""
    why = "These agents do not use their observation: no verdict."
    for place, each in enumerate(case.found):
        told: tuple = Outcome.OPEN, math.nan, None, case.unit, why
        if cell := case.judged.cells.get(place):
            told = cell.outcome, cell.mean, cell.interval, case.unit, cell.reason
            told += each.remark, thresholds, cell.n
        yield Finding(each.about, *told, run=case.cells.runs[each.key][0])
