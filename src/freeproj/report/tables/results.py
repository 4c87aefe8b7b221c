"""Table 1: every cell of the runs, beside the paper's, chance, blind and ceiling.

Beside a cell's score stands MMER, the paper's. Longer words are compared with ℓ = 1 of
the same settings by the same tests as in the claims.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from freeproj.experiments.dataset import Dataset, RunRecord
from freeproj.experiments.measures import map_of
from freeproj.findings import labels
from freeproj.findings.answers import HEADROOM, Finding
from freeproj.findings.asking import ask
from freeproj.findings.cells import Cells, Key, make_cells, of_protocol
from freeproj.findings.contrasts import uses_observation
from freeproj.findings.labels import number_text, span_text
from freeproj.findings.numbers import PAPER_RESULTS, Levels
from freeproj.findings.questions import Contrast, Question
from freeproj.findings.selection import Kind, kind
from freeproj.report.tables import grid
from freeproj.report.tables.grid import NONE, Column, Grid, Row
from freeproj.stats import ChanceLine, chance_lines
from freeproj.stats.intervals import Summary, summarise

__all__ = ["ResultRecord", "make_grid", "records"]

_IN_METHOD = ("task", "memory", "projection.length")
_IGNORING = "does not use its observation"


@dataclass(frozen=True)
class ResultRecord:
    """One cell."""

    settings: dict[str, Any]  # by axis
    score: Summary  # of the last three evaluations
    mmer: Summary
    difference: Finding | None  # against ℓ = 1
    uses_observation: bool | None
    levels: Levels
    by_chance: ChanceLine | None  # of a policy that never learns, the largest
    budget: tuple[int, int]  # updates of the shortest and of the longest run
    steps: int  # of the environments in an update
    unfinished: float  # share of episodes that did not end
    without_verdict: str  # why there is none
    sees_reward: bool

    def flat(self) -> dict[str, Any]:
        """Return plain columns, for CSV and JSON."""
        keys = ("n", "mean", "std", "median", "iqm")
        gap, chance = self.difference, self.by_chance
        low, high = gap.ends if gap else (math.nan, math.nan)
        levels = ("chance", "blind", "headroom", "ceiling")
        return {
            **self.settings,
            **grid.flat_summary("score", self.score, *keys),
            **grid.flat_summary("mmer", self.mmer, *keys),
            "difference": gap.value if gap else math.nan,
            **{"difference_low": low, "difference_high": high},
            "difference_unit": gap.unit if gap else "",
            "verdict": self.without_verdict or (str(gap.outcome) if gap else ""),
            "uses_observation": self.uses_observation,
            **{name: getattr(self.levels, name) for name in levels},
            "chance_mmer": chance.mmer if chance else math.nan,
            "chance_mmer_policy": chance.policy if chance else "",
            **{"updates_min": self.budget[0], "updates_max": self.budget[1]},
            "unfinished": self.unfinished,
        }


def records(dataset: Dataset, protocol: str = "projection") -> list[ResultRecord]:
    """Return all cells of a dataset, in the order of their axes."""
    cells, compared = make_cells(dataset, protocol), _compared(dataset, protocol)
    return [
        _record(cells, key, compared.get(runs[0])) for key, runs in cells.runs.items()
    ]


def make_grid(records: Sequence[ResultRecord], dataset: Dataset) -> Grid:
    """Lay the records out task by task, with the levels and the paper's below each."""
    axes = [axis for axis in records[0].settings if axis not in _IN_METHOD]
    columns = (
        Column("method", True),
        *(Column(labels.axis_name(axis), True) for axis in axes),
        *(Column("seeds"), Column("return [95 %]"), Column("over RP [95 %]", rank=1)),
        *(Column("uses obs.", rank=3), Column("MMER", rank=2)),
        *(Column("median", rank=5), Column("IQM", rank=6)),
        *(Column("updates", rank=4), Column("unfinished", rank=7)),
    )
    groups = [
        _task_rows(list(group), axes, columns)
        for _, group in groupby(records, key=lambda record: record.settings["task"])
    ]
    title = "Held-out return of an episode"
    if any(_paper_rows([each]) for each in records):
        title += ", the paper's Table 1 below ours"
    return Grid(title, columns, groups, _notes(records, dataset))


def _record(cells: Cells, key: Key, gap: Finding | None) -> ResultRecord:
    runs, levels = cells.runs[key], cells.levels(key)
    settings = runs[0].settings
    updates = [int(run.updates[-1]) if len(run.updates) else 0 for run in runs]
    ended, cut = (
        [
            np.nan_to_num(run.metrics.get(f"test/{map_of(run)}/episodes/{count}", []))
            for run in runs
        ]
        for count in ("n_finished", "n_unfinished")
    )
    n_ended, n_cut = (float(np.concatenate(count).sum()) for count in (ended, cut))
    without = "" if gap or cells.length(key) == 1 else "no run with ℓ = 1"
    if gap and gap.interval is None and gap.seeds is None:
        without = _IGNORING
    return ResultRecord(
        settings=cells.settings(key),
        score=summarise(list(cells.scores(key).values())),
        mmer=summarise(list(cells.scores(key, reduce="max").values())),
        difference=gap,
        uses_observation=uses_observation(cells, [key]),
        levels=levels,
        by_chance=_by_chance(levels, ended),
        budget=(min(updates), max(updates)),
        steps=int(settings.get("n_envs", 0)) * int(settings.get("n_steps", 0)),
        unfinished=n_cut / (n_ended + n_cut) if n_ended + n_cut else math.nan,
        without_verdict=without,
        sees_reward=bool(settings.get("previous_reward", False)),
    )


def _by_chance(levels: Levels, ended: list[np.ndarray]) -> ChanceLine | None:
    """Return the policy that never learns with the largest MMER in as many tests."""
    seen = [column[column > 0] for column in ended]
    n_evaluations = round(np.mean([len(each) for each in seen])) if seen else 0
    if not levels.luck or not n_evaluations:
        return None
    n_episodes = max(1, round(np.concatenate(seen).mean()))
    tests = {"n_episodes": n_episodes, "n_evaluations": n_evaluations}
    return chance_lines(levels.luck, ceiling=levels.ceiling, **tests)[0]


def _compared(dataset: Dataset, protocol: str) -> dict[RunRecord, Finding]:
    """Ask every kind of runs about longer words; each comparison by its first run."""
    runs = of_protocol(dataset, protocol)
    contrast = Contrast(what="over RP", along="projection.length", reference=1)
    statement = "Longer words earn more than ℓ = 1."
    how = {"select": lambda data: data, "contrasts": (contrast,), "on": ""}
    question = Question("over-rp", statement, "Table 1", **how)
    # Runs that are judged together are of one kind and memory, as in the claims.
    kinds = [runs.select(lambda run, k=k: kind(run.settings) is k) for k in Kind]
    parts = [part for k in kinds if k.runs for part in k.group_by("memory").values()]
    return {f.run: f for part in parts for f in ask(question, part).findings}


def _task_rows(
    records: list[ResultRecord], axes: Sequence[str], columns: Sequence[Column]
) -> list[Row]:
    first, levels = records[0], records[0].levels
    trials = f"{levels.n_trials} trial" + "s" * (levels.n_trials != 1)
    updates = f"{span_text(n for r in records for n in r.budget)} updates"
    if most := max(r.budget[1] * r.steps for r in records):
        updates += f" ({most / 1e6:.2g} M steps)"
    heading = f"{labels.task_title(str(first.settings['task']))}: {trials}, {updates}"
    several = len({record.settings["memory"] for record in records}) > 1
    lines = [("chance", levels.chance, math.nan)]
    chances = [record.by_chance for record in records if record.by_chance is not None]
    if chances:
        best = max(chances, key=lambda each: each.mmer)
        lines.append((f"by chance: {_short(best.policy)}", best.mean, best.mmer))
    lines.append((f"open loop: {_short(levels.blind_name)}", levels.blind, math.nan))
    if first.sees_reward:
        lines.append(("reward only", levels.reward_only, math.nan))
    lines += [("ceiling", levels.ceiling, math.nan), *_paper_rows(records)]
    told = [
        {"method": f"  {label}", "return [95 %]": number_text(value)}
        | ({} if math.isnan(mmer) else {"MMER": number_text(mmer)})
        for label, value, mmer in lines
        if not math.isnan(value)
    ]
    return [
        (heading, *[""] * (len(columns) - 1)),
        *(_row(record, axes, several) for record in records),
        *(tuple(line.get(column.name, "") for column in columns) for line in told),
    ]


def _paper_rows(records: Sequence[ResultRecord]) -> list[tuple[str, float, float]]:
    """Return the paper's rows of this task, for the memories that were run."""
    task, n_trials = str(records[0].settings["task"]), records[0].levels.n_trials
    found = []
    for memory in dict.fromkeys(str(r.settings["memory"]) for r in records):
        for name in ("RP", "FRP"):
            if result := PAPER_RESULTS.get((task, name, memory)):
                label = f"paper {name} ℓ={result.length} {memory.upper()}"
                mmer = result.mmer if n_trials == 16 else math.nan
                found.append((label, result.raw * n_trials / 16, mmer))
    return found


def _row(record: ResultRecord, axes: Sequence[str], with_memory: bool) -> Row:
    settings, score, mmer = record.settings, record.score, record.mmer
    length = int(settings["projection.length"])
    memory = labels.value_text("memory", settings["memory"]) if with_memory else ""
    total = f" of {score.n + score.n_missing}" if score.n_missing else ""
    mean, ends = number_text(score.mean), grid.interval_text(score)
    return (
        f"  {labels.method(length)} ℓ={length} {memory}".rstrip(),
        *(labels.short_value(axis, settings[axis]) for axis in axes),
        f"{score.n}{total}",
        mean if ends == NONE else f"{mean} {ends}",
        _difference(record),
        {True: "yes", False: "no", None: NONE}[record.uses_observation],
        number_text(mmer.mean) + f" ± {number_text(mmer.std)}" * (mmer.n > 1),
        *map(number_text, (score.median, score.iqm)),
        span_text(record.budget),
        NONE if math.isnan(record.unfinished) else f"{record.unfinished:.0%}",
    )


def _short(policy: str) -> str:
    """Name a row of actions by initials: "left right right left" is LRRL."""
    row = policy.removesuffix(", repeated")
    if row == policy:
        return policy.replace("random lookup", "lookup")
    return "".join(word[0].upper() for word in row.split())


def _difference(record: ResultRecord) -> str:
    if record.without_verdict == _IGNORING:
        return "unused"
    gap = record.difference
    if gap is None or math.isnan(gap.value):
        return NONE if record.without_verdict else ""
    scale, digits, unit = (100, 0, " %") if gap.unit == HEADROOM else (1, 3, "")
    text = f"{scale * gap.value:+.{digits}f}{unit}"
    ends = [f"{scale * end:.{digits}f}" for end in (gap.interval or ())[:2]]
    return f"{text} [{', '.join(ends)}]" if ends else text


def _notes(records: Sequence[ResultRecord], dataset: Dataset) -> list[str]:
    says, runs = grid.NOTES["results"], dataset.runs
    share = f"{HEADROOM} (best known policy minus best open-loop policy)"
    units = sorted({r.difference.unit for r in records if r.difference})
    told = {
        "maps": ", ".join(dict.fromkeys(labels.map_title(map_of(run)) for run in runs)),
        "units": " or ".join(share if each == HEADROOM else each for each in units),
        "paper": says["paper"] * any(_paper_rows([each]) for each in records),
        "by_chance": says["by_chance"] * any(each.by_chance for each in records),
    }
    shown = {
        "score": True,
        "over_rp": any(_difference(each) not in ("", NONE) for each in records),
        "qr": any(r.settings.get("projection.family") == "qr" for r in records),
        "mmer": True,
        "unused": any(each.without_verdict == _IGNORING for each in records),
        "few_seeds": any(each.score.n < 3 for each in records),
        "no_data": any(each.score.n == 0 for each in records),
        "sees_reward": any(run.settings.get("previous_reward") for run in runs),
    }
    notes = (says[name].format(**told) for name, is_true in shown.items() if is_true)
    return [labels.run_counts(dataset), *notes]
