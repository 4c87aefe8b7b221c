"""Put a verdict into words: its numbers, what they rest on, and a short form."""

import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeproj.findings.answers import RETURN, SHARE, amount, of_unit
from freeproj.findings.cells import Cells
from freeproj.findings.contrasts import Comparison
from freeproj.findings.labels import seeds_text, task_title, value_text
from freeproj.findings.questions import MARGIN, Contrast, Question
from freeproj.stats import LEVEL, Judged, Outcome, Verdict, pooled_mean, seeds_needed
from freeproj.stats.verdicts import combine

__all__ = ["Case", "basis_text", "filled", "margin_text", "numbers_text", "power_text"]
__all__ += ["selection_text", "short_task", "short_text"]

# How an outcome is put: of a margin, of a list of tasks, of a share.
_WORDS = {
    Outcome.HOLDS: ("within it", "on", "holds"),
    Outcome.FAILS: ("beyond it", "not on", "does not"),
    Outcome.OPEN: ("undecided", "undecided on", "open"),
}


@dataclass(frozen=True)
class Case:
    """A question, the comparisons made for it, and what was decided."""

    question: Question
    cells: Cells
    contrasts: Sequence[Contrast]
    found: Sequence[Comparison]
    data: Sequence[Mapping[Any, float]]  # differences by seed, for each in `found`
    judged: Verdict  # its cells are places in `found`
    unit: str
    looks: int

    @property
    def tasks(self) -> list[str]:
        """The task of each comparison."""
        return [self.cells.task(each.key) for each in self.found]

    @property
    def by_task(self) -> dict[str, list[Judged]]:
        """The judged comparisons of each task."""
        groups, tasks = {}, self.tasks
        for place, cell in self.judged.cells.items():
            groups.setdefault(tasks[place], []).append(cell)
        return groups


def numbers_text(case: Case) -> str:
    """Give the numbers that decided: of the pool, or of every task."""
    whats = [*dict.fromkeys(each.what for each in case.contrasts)]
    what = whats[0] if len(whats) == 1 else f"{len(whats)} contrasts pooled"
    what, basis = what[:1].upper() + what[1:], basis_text(case)
    if not case.judged.cells:
        return (
            f"{what}: no verdict, since the agents compared do not use their "
            f"observation ({_comparisons(len(case.found))})."
        )
    if case.unit == SHARE:
        parts = [
            f"{task_title(task)} {_with_ends(cell, SHARE)} {_WORDS[cell.outcome][2]}"
            for task, (cell, *_) in case.by_task.items()
        ]
        return f"{what}, {SHARE} ({basis}): {'; '.join(parts)}."
    if case.question.expects == "same":
        parts = [_within(task, each, case.unit) for task, each in case.by_task.items()]
        margin = f"against a margin of ±{margin_text(case.question, case.unit)}"
        return f"{what}, {margin} ({basis}): {'; '.join(parts)}."
    count = _comparisons(len(case.judged.cells))
    number = f"{_with_ends(case.judged.pooled, case.unit)} {of_unit(case.unit)}"
    return f"{what}: {number} ({count}, {basis})."


def short_text(case: Case, values: Mapping[str, str]) -> str:
    """Fill the short form of this outcome."""
    template = case.question.short.get(str(case.judged.outcome), "")
    return filled(template, {**_known(case), **values}) if case.judged.cells else ""


def filled(template: str, values: Mapping[str, str]) -> str:
    """Fill in numbers; empty where one is lacking."""
    fields = [name for _, name, _, _ in string.Formatter().parse(template) if name]
    lacks = any("–" in values.get(name, "–") for name in fields)
    return "" if lacks else template.format_map(values)


def basis_text(case: Case) -> str:
    """Say what numbers rest on: memory, seeds and budget of the agents compared."""
    found = [case.found[place] for place in case.judged.cells] or case.found
    keys = {key: None for each in found for key in (each.key, *each.agents)}
    runs = [run.settings for key in keys for run in case.cells.runs[key]]
    memories = dict.fromkeys(value_text("memory", s.get("memory", "")) for s in runs)
    budget = ("n_updates", "n_envs", "n_steps")
    steps = [math.prod(int(s.get(key, 0)) for key in budget) for s in runs]
    told = dict.fromkeys(f"{n / 1e6:.2g}" for n in (min(steps), max(steps)))
    budget = f"{'–'.join(told)} M steps" if max(steps) else ""
    seeds = seeds_text(len(each.gaps) for each in found)
    return ", ".join(filter(None, (*memories, seeds, budget)))


def power_text(case: Case) -> tuple[str, str]:
    """Say how many seeds would decide an open question, by the spread of these."""
    kept = [case.data[place] for place in case.judged.cells]
    if case.judged.outcome is not Outcome.OPEN or not kept or case.unit == RETURN:
        return "", ""
    same, size = case.question.expects == "same", margin_text(case.question, case.unit)
    n_seeds, least, more = _seeds(case, kept)
    if not least:
        return "", ""
    if max(least, more) <= n_seeds:
        what = f"a margin of {size} is shown" if same else f"{size} more is found"
        return f"With {n_seeds} seeds {what} with 80 % power.", ""
    text = f"For 80 % power about {least} seeds per configuration are needed"
    if not same:
        return f"{text} to find a difference of {size}.", str(least)
    if not more:
        return f"{text} if nothing differs.", str(least)
    by = amount(abs(case.judged.pooled.mean), case.unit, signed=False)
    also = f"{more} if all differ by {by}"
    return f"{text} if nothing differs, {also}.", f"{least}–{more}"


def _seeds(case: Case, kept: Sequence[Mapping[Any, float]]) -> tuple[int, int, int]:
    """Return the seeds there, those for the margin, and those if all differ as seen.

    Whether all comparisons lie within the margin rests on the one that varies most; a
    difference is looked for in their pool.
    """
    question, same = case.question, case.question.expects == "same"
    apart = same or question.each
    groups = [{0: each} for each in kept] if apart else [dict(enumerate(kept))]
    means = [pooled_mean(group) for group in groups]
    sd = max(mean.error * math.sqrt(mean.n) for mean in means)
    shares = 1 if same or len(kept) < 2 else len(kept) if question.each else 2
    how = {"same": same, "level": LEVEL / case.looks / shares}
    halves = 2 if any(each.chosen for each in case.contrasts) else 1

    def needed(effect: float) -> int:
        n_cells = len(kept) if same else 1
        return halves * (seeds_needed(effect, sd, n_cells, **how) or 0)

    margin, seen = question.margin or MARGIN, abs(case.judged.pooled.mean)
    there = halves * min(map(len, kept))
    return there, needed(margin), needed(margin - seen) if same else 0


def selection_text(case: Case) -> str:
    """Say what was compared and pooled, and what was left out."""
    compared = {each.along for each in case.contrasts}
    keys = {each.key for each in case.found}
    varied = case.cells.where(lambda key: key in keys).varied(*compared)
    n_left, n_found = len(case.judged.left_out), len(case.found)
    tasks = dict.fromkeys(map(task_title, case.tasks))
    left = "left out, as the agents compared do not use their observation"
    parts = {
        ", ".join(tasks): True,
        f"pooled over {', '.join(varied)}": n_found > 1 and varied,
        f"judged {case.looks} times as seeds came in": case.looks > 1,
        f"{left}: {n_left} of {n_found} comparisons": n_left,
    }
    return "; ".join(part for part, said in parts.items() if said)


def margin_text(question: Question, unit: str) -> str:
    """Write the margin with its unit: "10 % of the headroom"."""
    margin = MARGIN if question.margin is None else question.margin
    text = amount(margin, unit, signed=False).replace(".0 %", " %")
    return f"{text} {of_unit(unit)}"


def short_task(task: str) -> str:
    """Return a task's name for a short sentence: StatelessCartPole is "CartPole"."""
    return task_title(task).replace("Stateless ", "")


def _known(case: Case) -> dict[str, str]:
    """Return the numbers that a short form of any question may use."""
    ends = [e for c in case.judged.cells.values() if c.interval for e in c.interval[:2]]
    groups: dict[str, list[str]] = {on: [] for _, on, _ in _WORDS.values()}
    for task, cells in case.by_task.items():
        outcome = combine(cell.outcome for cell in cells)
        text = f"{short_task(task)} ({_mean(cells, case.unit)})"
        groups[_WORDS[outcome][1]].append(text)
    found = [f"{on} {_listed(tasks)}" for on, tasks in groups.items() if tasks]
    return {
        "margin": margin_text(case.question, case.unit).split(" of ")[0],
        "pooled": amount(case.judged.pooled.mean, case.unit),
        "reach": amount(max(ends, key=abs, default=math.nan), case.unit),
        "verdicts": ", ".join(found),
    }


def _listed(parts: Sequence[str]) -> str:
    *first, final = parts
    return f"{', '.join(first)} and {final}" if first else final


def _within(task: str, cells: Sequence[Judged], unit: str) -> str:
    """Say how many intervals of a task lie within the margin."""
    outcomes = [cell.outcome for cell in cells]
    counts = [
        f"{outcomes.count(outcome)} of {len(cells)} {text}"
        for outcome, (text, *_) in _WORDS.items()
        if outcome in outcomes
    ]
    told = f"{_mean(cells, unit)} on average, {' and '.join(counts)}"
    undecided = [c.interval for c in cells if c.outcome is Outcome.OPEN and c.interval]
    if undecided:
        lows, highs, *_ = zip(*undecided, strict=True)
        low, high = amount(min(lows), unit), amount(max(highs), unit)
        told += f" (intervals from {low} to {high})"
    return f"{task_title(task)} {told}"


def _mean(cells: Sequence[Judged], unit: str) -> str:
    return amount(float(np.mean([cell.mean for cell in cells])), unit)


def _with_ends(cell: Judged, unit: str) -> str:
    """Write a mean with its interval, if it has one."""
    if cell.interval is None:
        return amount(cell.mean, unit)
    low, high = (amount(end, unit) for end in cell.interval[:2])
    return f"{amount(cell.mean, unit)} [{low}, {high}]"


def _comparisons(n: int) -> str:
    return f"{n} comparison" + "s" * (n != 1)
