"""Table 1: tasks x (RP, FRP) x memories, ours beside the paper's and beside luck.

Every cell tells what it rests on: seeds, updates, finished and unfinished episodes; and
what it is to be compared with: the uniform policy, the MMER that this policy reaches by
chance in as many evaluations, and the best possible return.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from freeproj.report.paper.baselines import Baseline
from freeproj.report.paper.numbers import (
    N_EPISODES,
    N_SEEDS,
    N_UPDATES,
    PAPER_LENGTHS,
    PAPER_RESULTS,
    PAPER_TASKS,
    PaperNumbers,
)
from freeproj.stats import (
    Cell,
    Interval,
    SeedScore,
    Summary,
    as_table,
    best_lengths,
    chance_mmer,
    group_by_cell,
    seed_scores,
    summarise,
)

__all__ = ["ResultRecord", "result_records"]

_NAN = float("nan")


@dataclass(frozen=True)
class ResultRecord:
    """A method on a task, ours or the paper's; nan and None are not known."""

    task: str
    method: str  # "RP" or "FRP"
    memory: str
    source: str  # "ours" or "paper"
    protocol: str
    counting: str
    chosen_by: str  # how the length of FRP was chosen
    n_generators: int | None
    length: int | None
    updates: tuple[int, int] | None  # of the shortest and of the longest run
    mmer: Summary
    raw: Summary
    n_evaluations: int  # with data, of a run
    n_finished: int | None  # episodes, over all runs and evaluations
    n_unfinished: int | None
    baseline: Baseline
    chance_mmer: float

    def flat(self) -> dict[str, Any]:
        """Returns plain columns, for CSV."""
        fields = dict(vars(self))
        updates = fields.pop("updates") or (None, None)
        fields |= {"updates_min": updates[0], "updates_max": updates[1]}
        for name in ("mmer", "raw"):
            values = fields.pop(name)._asdict()
            low, high = values.pop("interval")
            values |= {"iqm_low": low, "iqm_high": high}
            fields |= {f"{name}_{key}": value for key, value in values.items()}
        baseline = fields.pop("baseline")
        return fields | {
            "chance": baseline.chance,
            "blind": baseline.blind,
            "ceiling": baseline.ceiling,
        }


def result_records(
    table: Any,
    *,
    baselines: Mapping[str, Baseline | tuple] | None = None,
    by: str = "test-mmer",
    protocol: str = "projection",
    counting: str = "window",
) -> list[ResultRecord]:
    """Returns the cells of Table 1, each ours and then, where it exists, the paper's.

    FRP is at its best length ℓ > 1. All cells of the paper are there, with n = 0 where
    the table has no data for them; then the table's other tasks and memories.
    """
    table, settings = as_table(table), {"protocol": protocol, "counting": counting}
    cells = group_by_cell(seed_scores(table, split="test", **settings))
    choices = best_lengths(table, by=by, only_free=True, **settings)
    tasks = dict.fromkeys((*PAPER_TASKS, *(cell.task for cell in cells)))
    memories = dict.fromkeys(("gru", "s5", *(cell.memory for cell in cells)))
    records = []
    for key in product(tasks, ("RP", "FRP"), memories):
        task, method, memory = key
        choice = choices.get((task, memory))
        free = choice.best if choice else None
        cell = free if method == "FRP" else _plain_cell(cells, task, memory)
        given: Any = (baselines or {}).get(task, (_NAN, _NAN))
        baseline = Baseline(*given)
        if cell or key in PAPER_RESULTS:
            scores = cells.get(cell, []) if cell else []
            shared = {**settings, "chosen_by": by}
            records.append(_our_record(key, cell, scores, baseline, shared))
        if key in PAPER_RESULTS:
            records.append(_paper_record(key, baseline))
    return records


def _plain_cell(cells: Mapping[Cell, Any], task: str, memory: str) -> Cell | None:
    """Returns the cell of ℓ = 1."""
    plain = [c for c in cells if c[:2] == (task, memory) and c.length == 1]
    if len(plain) > 1:
        raise ValueError(
            f"{task} with {memory} has RP runs of {len(plain)} values of "
            "`n_generators`; keep one of them."
        )
    return plain[0] if plain else None


def _our_record(
    key: tuple[str, str, str],
    cell: Cell | None,
    scores: Sequence[SeedScore],
    baseline: Baseline,
    shared: Mapping[str, str],
) -> ResultRecord:
    task, method, memory = key
    last = [score.last_update for score in scores]
    n_with_data = [score.n_with_data for score in scores if score.n_with_data]
    n_evaluations = round(np.mean(n_with_data)) if n_with_data else 0
    n_finished = sum(score.n_finished for score in scores)
    n_episodes = n_finished / sum(n_with_data) if n_with_data else _NAN
    return ResultRecord(
        task=task,
        method=method,
        memory=memory,
        source="ours",
        **shared,
        n_generators=cell.n_generators if cell else None,
        length=cell.length if cell else None,
        updates=(min(last), max(last)) if last else None,
        mmer=summarise([score.mmer for score in scores]),
        raw=summarise([score.raw for score in scores]),
        n_evaluations=n_evaluations,
        n_finished=n_finished,
        n_unfinished=sum(score.n_unfinished for score in scores),
        baseline=baseline,
        chance_mmer=_luck(baseline, n_episodes, n_evaluations),
    )


def _paper_record(key: tuple[str, str, str], baseline: Baseline) -> ResultRecord:
    task, method, memory = key
    length = 1 if method == "RP" else PAPER_LENGTHS[task, memory]
    return ResultRecord(
        task=task,
        method=method,
        memory=memory,
        source="paper",
        protocol="projection",
        counting="window",
        chosen_by="test-mmer",
        n_generators=round(256 ** (1 / length)),
        length=length,
        updates=(N_UPDATES, N_UPDATES),
        mmer=_paper_summary(PAPER_RESULTS[key].mmer),
        raw=_paper_summary(PAPER_RESULTS[key].raw),
        n_evaluations=N_UPDATES,
        n_finished=None,
        n_unfinished=None,
        baseline=baseline,
        chance_mmer=_luck(baseline, N_EPISODES, N_UPDATES),
    )


def _paper_summary(numbers: PaperNumbers) -> Summary:
    return Summary(N_SEEDS, 0, *numbers, interval=Interval(_NAN, _NAN))


def _luck(baseline: Baseline, n_episodes: float | int, n_evaluations: int) -> float:
    if np.isnan(baseline.chance_std) or not n_evaluations:
        return _NAN
    return chance_mmer(
        baseline.chance,
        baseline.chance_std,
        n_episodes=n_episodes,
        n_evaluations=n_evaluations,
    )
