"""Table 1: every cell of the runs, beside the paper's, chance, blind and ceiling.

A cell is task, memory, word length and whatever else the runs vary. Its score is the
mean of the last three held-out evaluations; MMER, the paper's score, stands beside it.
Longer words are compared with ℓ = 1 of the same settings by the same tests as in the
claims.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from freeproj.experiments.dataset import Dataset, RunRecord
from freeproj.experiments.measures import map_of
from freeproj.findings.answers import HEADROOM, Finding
from freeproj.findings.asking import ask
from freeproj.findings.baselines import Levels
from freeproj.findings.cells import Cells, Key, make_cells
from freeproj.findings.contrasts import uses_observation
from freeproj.findings.labels import (
    axis_name,
    map_title,
    method,
    run_counts,
    short_value,
    task_title,
    value_text,
)
from freeproj.findings.numbers import PAPER_LENGTHS, PAPER_RESULTS
from freeproj.findings.questions import Contrast, Question
from freeproj.findings.selection import Kind, kind
from freeproj.report.tables.grid import NONE, Column, Grid, flat_summary, number_text
from freeproj.stats import Audit, ChanceLine, chance_lines
from freeproj.stats.intervals import Summary, summarise

__all__ = ["ResultRecord", "result_records", "results_grid"]

_IN_METHOD = ("task", "memory", "projection.length")
_NAN = math.nan


@dataclass(frozen=True)
class ResultRecord:
    """One cell."""

    settings: dict[str, Any]  # by axis
    score: Summary  # of the last three evaluations
    mmer: Summary
    difference: Finding | None  # against ℓ = 1
    audit: Audit
    levels: Levels
    by_chance: ChanceLine | None  # of a policy that never learns, the largest
    budget: tuple[int, int]  # updates of the shortest and of the longest run
    steps: int  # of the environments in an update
    n_unfinished: float  # share of episodes that did not end
    without_verdict: str  # why there is none
    sees_reward: bool

    @property
    def task(self) -> str:
        """The task that was tested."""
        return str(self.settings["task"])

    def flat(self) -> dict[str, Any]:
        """Return plain columns, for CSV and JSON."""
        keys = ("n", "mean", "std", "median", "iqm")
        gap = self.difference
        ends = (gap and gap.interval) or (_NAN, _NAN)
        return {
            **self.settings,
            **flat_summary("score", self.score, *keys),
            **flat_summary("mmer", self.mmer, *keys),
            "difference": gap.value if gap else _NAN,
            "difference_low": ends[0],
            "difference_high": ends[1],
            "difference_unit": gap.unit if gap else "",
            "verdict": self.without_verdict or (str(gap.outcome) if gap else ""),
            "uses_observation": self.audit.uses_observation,
            "chance": self.levels.chance,
            "blind": self.levels.blind,
            "headroom": self.levels.headroom,
            "ceiling": self.levels.ceiling,
            "chance_mmer": self.by_chance.mmer if self.by_chance else _NAN,
            "chance_mmer_policy": self.by_chance.policy if self.by_chance else "",
            "updates_min": self.budget[0],
            "updates_max": self.budget[1],
            "unfinished": self.n_unfinished,
        }


def result_records(
    dataset: Dataset, protocol: str = "projection"
) -> list[ResultRecord]:
    """Return all cells of a dataset, in the order of their axes."""
    cells = make_cells(dataset, protocol)
    compared = _compared(dataset, protocol)
    return [
        ResultRecord(
            settings=cells.settings(key),
            score=summarise(list(cells.scores(key).values())),
            mmer=summarise(list(cells.scores(key, reduce="max").values())),
            difference=compared.get(runs[0]),
            audit=uses_observation(cells, [key]),
            levels=cells.levels(key),
            by_chance=_by_chance(cells, key),
            budget=_budget(runs),
            steps=int(cells.get(key, "n_envs", 0)) * int(cells.get(key, "n_steps", 0)),
            n_unfinished=_unfinished(cells, key),
            without_verdict=_reason(cells, key, compared.get(runs[0])),
            sees_reward=bool(cells.get(key, "previous_reward", False)),
        )
        for key, runs in cells.runs.items()
    ]


def results_grid(records: Sequence[ResultRecord], dataset: Dataset) -> Grid:
    """Lay the records out task by task, with the levels and the paper's below each."""
    axes = [a for a in (records[0].settings if records else {}) if a not in _IN_METHOD]
    columns = (
        Column("method", True),
        *(Column(axis_name(axis), True) for axis in axes),
        Column("seeds"),
        Column("return [95 %]"),
        Column("over RP [95 %]", rank=1),
        Column("uses obs.", rank=3),
        Column("MMER", rank=2),
        Column("median", rank=5),
        Column("IQM", rank=6),
        Column("updates", rank=4),
        Column("unfinished", rank=7),
    )
    groups = [
        _task_rows(list(group), axes, columns)
        for _, group in groupby(records, key=lambda record: record.task)
    ]
    title = "Held-out return of an episode, the paper's Table 1 below ours"
    return Grid(title, columns, groups, _notes(records, dataset))


def _budget(runs: Sequence[RunRecord]) -> tuple[int, int]:
    updates = [int(run.updates[-1]) if len(run.updates) else 0 for run in runs]
    return min(updates), max(updates)


def _episodes(cells: Cells, key: Key, name: str) -> list[np.ndarray]:
    """Return a count of the evaluations of each run."""
    return [
        np.nan_to_num(run.metrics.get(f"test/{map_of(run)}/episodes/{name}", []))
        for run in cells.runs[key]
    ]


def _unfinished(cells: Cells, key: Key) -> float:
    counts = (_episodes(cells, key, name) for name in ("n_finished", "n_unfinished"))
    ended, cut = (float(np.concatenate(count).sum()) for count in counts)
    return cut / (ended + cut) if ended + cut else _NAN


def _by_chance(cells: Cells, key: Key) -> ChanceLine | None:
    """Return the policy that never learns with the largest MMER in as many tests."""
    levels = cells.levels(key)
    seen = [column[column > 0] for column in _episodes(cells, key, "n_finished")]
    n_evaluations = round(np.mean([len(each) for each in seen])) if seen else 0
    if not levels.luck or not n_evaluations:
        return None
    return chance_lines(
        levels.luck,
        n_episodes=max(1, round(np.concatenate(seen).mean())),
        n_evaluations=n_evaluations,
        ceiling=levels.ceiling,
    )[0]


def _compared(dataset: Dataset, protocol: str) -> dict[RunRecord, Finding]:
    """Ask every kind of runs about longer words; each comparison by its first run."""
    held_out = protocol == "task"
    runs = dataset.select(
        lambda run: bool(run.settings.get("evaluation.task")) == held_out
    )
    question = Question(
        "over-rp",
        "Longer words earn more than ℓ = 1.",
        "Table 1",
        lambda dataset: dataset,
        (Contrast(what="over RP", along="projection.length", reference=1),),
        on="",
    )
    found = {}
    for group in dict.fromkeys(map(_comparable, runs.runs)):
        part = runs.select(lambda run, group=group: _comparable(run) == group)
        found |= {finding.run: finding for finding in ask(question, part).findings}
    return found


def _comparable(run: RunRecord) -> tuple[Kind, Any]:
    """Return what runs that are judged together have in common, as in the claims."""
    return kind(run.settings), run.settings.get("memory")


def _reason(cells: Cells, key: Key, found: Finding | None) -> str:
    if found is None:
        return "" if cells.length(key) == 1 else "no run with ℓ = 1"
    return _IGNORING if found.interval is None and found.seeds is None else ""


_IGNORING = "does not use its observation"


def _task_rows(
    records: list[ResultRecord], axes: Sequence[str], columns: Sequence[Column]
) -> list[tuple[str, ...]]:
    levels, blank = records[0].levels, len(columns) - 1
    trials = f"{levels.n_trials} trial" + "s" * (levels.n_trials != 1)
    low, high = (end(r.budget[i] for r in records) for i, end in ((0, min), (1, max)))
    updates = f"{_span(low, high)} updates"
    if most := max(r.budget[1] * r.steps for r in records):
        updates += f" ({most / 1e6:.2g} M steps)"
    rows = [(f"{task_title(records[0].task)}: {trials}, {updates}", *[""] * blank)]
    several = len({record.settings["memory"] for record in records}) > 1
    rows += [_row(record, axes, several) for record in records]

    def line(label: str, value: float, mmer: float = _NAN) -> None:
        cells = {"return [95 %]": value, "MMER": mmer}
        texts = [cells.get(column.name, _NAN) for column in columns[1:]]
        shown = ("" if math.isnan(text) else number_text(text) for text in texts)
        if not math.isnan(value):
            rows.append((f"  {label}", *shown))

    line("chance", levels.chance)
    chances = [record.by_chance for record in records if record.by_chance is not None]
    if chances:
        best = max(chances, key=lambda each: each.mmer)
        line(f"by chance: {_short(best.policy)}", best.mean, best.mmer)
    line(f"open loop: {_short(levels.blind_name)}", levels.blind)
    if records[0].sees_reward:
        line("reward only", levels.reward_only)
    line("ceiling", levels.ceiling)
    for label, raw, mmer in _paper_rows(records):
        line(label, raw, mmer)
    return rows


def _paper_rows(records: list[ResultRecord]) -> list[tuple[str, float, float]]:
    """Return the paper's rows of this task, for the memories that were run."""
    task, n_trials = records[0].task, records[0].levels.n_trials
    found = []
    for memory in dict.fromkeys(str(r.settings["memory"]) for r in records):
        for name in ("RP", "FRP"):
            if (task, name, memory) in PAPER_RESULTS:
                result = PAPER_RESULTS[task, name, memory]
                length = 1 if name == "RP" else PAPER_LENGTHS[task, memory]
                label = f"paper {name} ℓ={length} {memory.upper()}"
                mmer = result.mmer.mean if n_trials == 16 else _NAN
                found.append((label, result.raw.mean * n_trials / 16, mmer))
    return found


def _row(
    record: ResultRecord, axes: Sequence[str], with_memory: bool
) -> tuple[str, ...]:
    settings, score = record.settings, record.score
    length = int(settings["projection.length"])
    memory = value_text("memory", settings["memory"]) if with_memory else ""
    return (
        f"  {method(length)} ℓ={length} {memory}".rstrip(),
        *(short_value(axis, settings[axis]) for axis in axes),
        _seeds(score),
        _with_interval(score.mean, score.interval),
        _difference(record),
        {True: "yes", False: "no", None: NONE}[record.audit.uses_observation],
        _mean_std(record.mmer),
        number_text(score.median),
        number_text(score.iqm),
        _span(*record.budget),
        NONE if math.isnan(record.n_unfinished) else f"{record.n_unfinished:.0%}",
    )


def _short(policy: str) -> str:
    """Name a row of actions by initials: "left right right left" is LRRL."""
    row = policy.removesuffix(", repeated")
    if row == policy:
        return policy.replace("random map", "lookup")
    return "".join(word[0].upper() for word in row.split())


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


def _seeds(summary: Summary) -> str:
    total = summary.n + summary.n_missing
    return f"{summary.n} of {total}" if summary.n_missing else str(summary.n)


def _mean_std(summary: Summary) -> str:
    if summary.n < 2:
        return number_text(summary.mean)
    return f"{number_text(summary.mean)} ± {number_text(summary.std)}"


def _with_interval(value: float, ends: Any) -> str:
    if ends is None:
        return number_text(value)
    return f"{number_text(value)} [{number_text(ends[0])}, {number_text(ends[1])}]"


def _difference(record: ResultRecord) -> str:
    if record.without_verdict.startswith("does not"):
        return "unused"
    gap = record.difference
    if gap is None or math.isnan(gap.value):
        return NONE if record.without_verdict else ""
    scale, unit = (100, " %") if gap.unit == HEADROOM else (1, "")
    digits = 0 if unit else 3
    text = f"{scale * gap.value:+.{digits}f}{unit}"
    if gap.interval is None:
        return text
    low, high = (f"{scale * end:.{digits}f}" for end in gap.interval[:2])
    return f"{text} [{low}, {high}]"


def _notes(records: Sequence[ResultRecord], dataset: Dataset) -> list[str]:
    maps = dict.fromkeys(map_title(map_of(run)) for run in dataset.runs)
    units = sorted({r.difference.unit for r in records if r.difference})
    share = f"{HEADROOM} (best known policy minus best open-loop policy)"
    told = " or ".join(share if each == HEADROOM else each for each in units)
    paper = (
        "; the paper's: its raw return, completed within 1,024 steps, for as many "
        "trials"
    )
    by_chance = any(each.by_chance is not None for each in records) and (
        " By chance: the MMER expected, over as many evaluations, of the policy that "
        "never learns and has the largest (lookup: a random table of answers)."
    )
    notes = {
        "Return: mean of the last three evaluations, tested on "
        f"{', '.join(maps)}, counting the first episode of every environment"
        f"{paper if any(_paper_rows([each]) for each in records) else ''}.": True,
        "Over RP: difference from ℓ = 1 with the same settings and seeds, in "
        f"{told}; intervals corrected for all comparisons of a memory.": any(
            _difference(each) not in ("", NONE) for each in records
        ),
        "QR: without the sign correction, so not Haar.": any(
            each.settings.get("projection.family") == "qr" for each in records
        ),
        f"MMER: the largest evaluation of each run.{by_chance or ''}": True,
        "unused: all lengths taken together, agents earn as much with the observation "
        "blanked, so there is no RP/FRP verdict.": any(
            each.without_verdict.startswith("does not") for each in records
        ),
        "No interval below three seeds.": any(each.score.n < 3 for each in records),
        f"{NONE}: no held-out evaluation yet.": any(r.score.n == 0 for r in records),
        "Agents of these runs see their previous reward; the paper's do not.": any(
            run.settings.get("previous_reward") for run in dataset.runs
        ),
    }
    return [run_counts(dataset), *(text for text, said in notes.items() if said)]
