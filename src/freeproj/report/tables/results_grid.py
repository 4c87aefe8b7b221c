"""Table 1 for people: one row per cell and source, below each task what luck gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from freeproj.report.paper.numbers import PAPER_RESULTS
from freeproj.report.tables.grid import Grid
from freeproj.report.tables.results import ResultRecord
from freeproj.stats import Summary, repeat_first_chance

__all__ = ["number_text", "results_grid"]

_COLUMNS = (
    "method",
    "",
    "n",
    "updates",
    "MMER",
    "median",
    "IQM [95 %]",
    "raw",
    "median",
    "IQM",
    "unfinished",
)
_NONE = "—"
_CHOSEN = {
    "test-mmer": "test MMER, as in the paper: the best of several on what it reports",
    "train-mmer": "training MMER",
    "train-raw": "the last training return",
}


def results_grid(records: Sequence[ResultRecord]) -> Grid:
    """Lays the records out, task by task."""
    groups = [
        _task_rows(task, list(group))
        for task, group in groupby(records, key=lambda record: record.task)
    ]
    ours = [record for record in records if record.source == "ours"]
    notes = _notes(ours[0]) if ours else ()
    return Grid("Test returns of an episode", _COLUMNS, groups, notes, 2)


def number_text(value: float | int) -> str:
    """Writes a return with two decimals, and no data as a dash."""
    return _NONE if math.isnan(value) else f"{value:.2f}"


def _task_rows(task: str, records: list[ResultRecord]) -> list[tuple[str, ...]]:
    rows = [(task, *[""] * (len(_COLUMNS) - 1))]
    rows += [_row(record) for record in records]
    baseline = records[0].baseline
    if not math.isnan(baseline.chance):
        rows += [_chance_row(records, source) for source in ("ours", "paper")]
    blank = ("",) * 3
    if not math.isnan(baseline.blind):
        label = f"  best blind: {baseline.blind_name}"
        rows.append((label, *blank, *blank, number_text(baseline.blind), *blank))
    if not math.isnan(baseline.ceiling):
        ceiling = number_text(baseline.ceiling)
        rows.append(("  ceiling", *blank, ceiling, "", "", ceiling, *blank))
    return [row for row in rows if row]


def _row(record: ResultRecord) -> tuple[str, ...]:
    length = f" ℓ={record.length}" if record.method == "FRP" and record.length else ""
    mmer, raw = record.mmer, record.raw
    return (
        f"  {record.method}({record.memory.upper()}){length}",
        record.source,
        _seeds(mmer),
        _updates(record),
        _mean_std(mmer),
        number_text(mmer.median),
        _iqm(mmer),
        _mean_std(raw) + _fewer(mmer, raw),
        number_text(raw.median),
        number_text(raw.iqm),
        _unfinished(record),
    )


def _chance_row(records: list[ResultRecord], source: str) -> tuple[str, ...]:
    """The uniform policy: its luckiest cell's chance MMER, and its mean."""
    lucks = [each.chance_mmer for each in records if each.source == source]
    if not lucks:
        return ()
    luck = max((each for each in lucks if not math.isnan(each)), default=math.nan)
    chance = number_text(records[0].baseline.chance)
    label = "  uniform policy"
    return (label, source, "", "", number_text(luck), "", "", chance, "", "", "")


def _seeds(summary: Summary) -> str:
    total = summary.n + summary.n_missing
    return f"{summary.n} of {total}" if summary.n_missing else str(summary.n)


def _updates(record: ResultRecord) -> str:
    if record.updates is None:
        return _NONE
    low, high = record.updates
    return str(low) if low == high else f"{low}–{high}"


def _mean_std(summary: Summary) -> str:
    if summary.n == 0:
        return _NONE
    return f"{number_text(summary.mean)} ± {number_text(summary.std)}"


def _fewer(mmer: Summary, raw: Summary) -> str:
    """Says so where the last evaluation had data in fewer seeds than any had."""
    return f" (n={raw.n})" if raw.n != mmer.n else ""


def _iqm(summary: Summary) -> str:
    text, (low, high) = number_text(summary.iqm), summary.interval
    if math.isnan(low):
        return text
    return f"{text} [{number_text(low)}, {number_text(high)}]"


def _unfinished(record: ResultRecord) -> str:
    if record.n_finished is None or record.n_unfinished is None:
        return _NONE
    return f"{record.n_unfinished} of {record.n_finished + record.n_unfinished}"


def _notes(record: ResultRecord) -> list[str]:
    notes = [
        f"Ours: held out is the {record.protocol}, counting by {record.counting}. "
        "The paper's: projection, window.",
        "MMER is the maximum over updates of noisy evaluations; the uniform policy's "
        "is what luck alone makes of as many of them. Raw is the last update's.",
        f"FRP has the length ℓ > 1 of the best {_CHOSEN[record.chosen_by]}.",
        "n: seeds with data, the unit of mean ± std (n - 1), median and IQM, whose "
        "interval is a bootstrap over seeds. Unfinished: episodes, over all runs and "
        "evaluations.",
    ]
    if record.counting == "window":
        notes.append(
            "A window counts completed episodes only: in 1024 steps no counted "
            "StatelessCartPole episode can return more than 5.12 of 16."
        )
    return [*notes, _repeat_first_note()]


def _repeat_first_note() -> str:
    uniform, constant = repeat_first_chance()
    means = [
        result.mmer.mean
        for (task, *_), result in PAPER_RESULTS.items()
        if task == "RepeatFirst"
    ]
    return (
        "RepeatFirst: always answering the same suit reaches an MMER of "
        f"{constant.mmer:.2f} by luck alone in {constant.n_evaluations} evaluations of "
        f"{constant.n_episodes} episodes (uniform answers: {uniform.mmer:.2f}); the "
        f"paper reports {min(means):.2f} to {max(means):.2f}."
    )
