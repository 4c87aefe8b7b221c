"""Put a question to a dataset: the only place that decides what may be said.

    answer = ask(CLAIMS.resolve("haar-length"), read_dataset("published:as-written"))
    answer.outcome, answer.sentence

The rule, the same for every question: the score of a run is the mean of its last three
evaluations; seeds are paired; differences are shares of the headroom where one is known
for every task compared, otherwise returns per trial; agents that are compared must use
their observation; `freeproj.stats.verdict` decides, with one margin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from freeproj.experiments.dataset import Dataset
from freeproj.findings.answers import (
    HEADROOM,
    RETURN,
    Answer,
    Finding,
    amount,
    said,
    unknown,
)
from freeproj.findings.cells import Cells, make_cells
from freeproj.findings.contrasts import Comparison, comparisons, uses_observation
from freeproj.findings.labels import seeds_text, task_title, value_text
from freeproj.findings.questions import MARGIN, Question
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
        rule_text(question.expects, _margin_text(question, HEADROOM)),
        Outcome.OPEN,
        (),
        headline=f"Failed: {error}" if error else f"Not in these runs: {missing}",
        missing=missing,
        error=error,
        study=question.study,
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
    unit = HEADROOM if all(each.levels.headroom > 0 for each in found) else RETURN
    margin = _margin(question, unit)
    data = {place: _in_unit(each, unit) for place, each in enumerate(found)}
    blind = _left_out(cells, found)
    looks = int(dataset.meta.get("looks", 1))
    judged = verdict(data, question.expects, margin, looks=looks, left_out=blind)
    findings = _findings(
        found, judged, unit, margin if question.expects == "same" else 0.0
    )
    whats = dict.fromkeys(each.what for each in contrasts)
    what = next(iter(whats)) if len(whats) == 1 else f"{len(whats)} contrasts pooled"
    return Answer(
        question.name,
        question.statement,
        question.source,
        rule_text(question.expects, _margin_text(question, unit)) + _looks_text(looks),
        judged.outcome,
        findings,
        headline=_headline(question, judged, found, unit, what, _basis(cells, found)),
        said=said(question.statement, judged.outcome, question.otherwise),
        details=question.numbers(cells) if question.numbers else "",
        selection=_selection(
            cells, found, {c.along for c in contrasts}, len(blind), looks
        ),
        unit=unit,
        pooled=judged.pooled,
        study=question.study,
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


def _margin_text(question: Question, unit: str) -> str:
    margin = MARGIN if question.margin is None else question.margin
    of = " of the headroom" if unit == HEADROOM else " of a trial's return"
    return amount(margin, unit, signed=False).replace(".0 %", " %") + of


def _looks_text(looks: int) -> str:
    if looks == 1:
        return ""
    return f" The data were judged {looks} times as they came in: 5 % / {looks} each."


def _in_unit(each: Comparison, unit: str) -> dict[int, float]:
    scale = 1.0
    if unit == HEADROOM:
        scale = each.levels.headroom / each.levels.n_trials
    return {seed: gap / scale for seed, gap in each.gaps.items()}


def _left_out(cells: Cells, found: Sequence[Comparison]) -> list[int]:
    """Return the comparisons whose agents, taken together, ignore what they see."""
    groups = {(each.agents, each.on) for each in found if each.agents}
    ignoring = {
        (agents, on)
        for agents, on in groups
        if uses_observation(cells, agents, on).uses_observation is False
    }
    return [n for n, each in enumerate(found) if (each.agents, each.on) in ignoring]


def _findings(
    found: Sequence[Comparison], judged: Verdict, unit: str, margin: float
) -> tuple[Finding, ...]:
    findings = []
    for place, each in enumerate(found):
        cell = judged.cells.get(place)
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
                (-margin, margin) if margin else (0.0,),
                cell.n,
                each.run,
            )
        )
    return tuple(findings)


def _headline(
    question: Question,
    judged: Verdict,
    found: Sequence[Comparison],
    unit: str,
    what: str,
    basis: str,
) -> str:
    """Give the numbers that decided: of the pool, or of every task."""
    if not judged.cells:
        return (
            f"{_capital(what)}: no verdict, since the agents compared do not use their "
            f"observation ({_count(len(found), 'comparison')})."
        )
    if question.expects == "same":
        parts = "; ".join(_by_task(judged, found, unit))
        margin = f"against a margin of ±{_margin_text(question, unit)}"
        return f"{_capital(what)}, {margin} ({basis}): {parts}."
    pooled = judged.pooled
    of = "of the headroom" if unit == HEADROOM else "of a trial's return"
    return (
        f"{_capital(what)}: {amount(pooled.mean, unit)}{_ends(pooled, unit)} {of} "
        f"({_count(len(judged.cells), 'comparison')}, {basis})."
    )


_AGAINST = {
    Outcome.HOLDS: "within it",
    Outcome.FAILS: "beyond it",
    Outcome.OPEN: "undecided",
}


def _by_task(judged: Verdict, found: Sequence[Comparison], unit: str) -> list[str]:
    """Say, task by task, how many intervals lie within the margin."""
    groups: dict[str, list[Judged]] = {}
    for place, cell in judged.cells.items():
        groups.setdefault(found[place].task, []).append(cell)
    parts = []
    for task, cells in groups.items():
        outcomes = [cell.outcome for cell in cells]
        counts = [
            f"{outcomes.count(word)} of {len(cells)} {text}"
            for word, text in _AGAINST.items()
            if word in outcomes
        ]
        ends = [c.interval for c in cells if c.outcome is Outcome.OPEN and c.interval]
        reach = ""
        if ends:
            low, high = min(e.low for e in ends), max(e.high for e in ends)
            reach = f" (intervals from {amount(low, unit)} to {amount(high, unit)})"
        mean = float(np.mean([cell.mean for cell in cells]))
        parts.append(
            f"{task_title(task)} {amount(mean, unit)} on average, "
            f"{' and '.join(counts)}{reach}"
        )
    return parts


def _ends(cell: Judged, unit: str) -> str:
    if cell.interval is None:
        return ""
    low, high = (amount(end, unit) for end in cell.interval[:2])
    return f" [{low}, {high}]"


def _basis(cells: Cells, found: Sequence[Comparison]) -> str:
    """Say what numbers rest on: seeds, memory, budget."""
    runs = [run for group in cells.runs.values() for run in group]
    memories = dict.fromkeys(
        value_text("memory", run.settings.get("memory", "")) for run in runs
    )
    steps = [
        math.prod(
            int(run.settings.get(k, 0)) for k in ("n_updates", "n_envs", "n_steps")
        )
        for run in runs
    ]
    told = sorted({f"{n / 1e6:.2g}" for n in (min(steps), max(steps))}, key=float)
    budget = f"{' to '.join(told)} million steps" if max(steps) else ""
    seeds = seeds_text([len(each.gaps) for each in found])
    return ", ".join(part for part in (seeds, *memories, budget) if part)


def _selection(
    cells: Cells,
    found: Sequence[Comparison],
    compared: set[str],
    n_left: int,
    looks: int,
) -> str:
    """Say what was compared and pooled, and what was left out."""
    tasks = dict.fromkeys(task_title(each.task) for each in found)
    varied = [axis for axis in cells.axes if len({*_values(cells, axis)}) > 1]
    pooled = ", ".join(axis for axis in varied if axis not in compared)
    parts = [", ".join(tasks)]
    parts += [f"pooled over {pooled}"] if len(found) > 1 and pooled else []
    parts += [f"judged {looks} times as seeds came in"] if looks > 1 else []
    if n_left:
        parts.append(
            f"left out, as the agents compared do not use their observation: {n_left} "
            f"of {len(found)} comparisons"
        )
    return "; ".join(parts)


def _values(cells: Cells, axis: str) -> list[str]:
    return [str(cells.settings(key)[axis]) for key in cells.runs]


def _count(n: int, what: str) -> str:
    return f"{n} {what}" + "s" * (n != 1)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
