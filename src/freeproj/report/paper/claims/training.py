"""Claims about training: FRP against RP, and the best word length.

Scores are MMER of held-out evaluations that count every episode once, where the runs
have them, and by the paper's window otherwise. Seeds are the unit, kept in pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

from freeproj.report.gathering import Gathered
from freeproj.report.paper.baselines import table_baselines
from freeproj.report.paper.labels import task_title
from freeproj.report.paper.numbers import PAPER_LENGTHS, PAPER_TASKS
from freeproj.report.paper.run_numbers import ordered_tasks
from freeproj.report.paper.verdicts import (
    Claim,
    Finding,
    Pairs,
    Verdict,
    decide_pairs,
    pairs_needed,
    unknown,
)
from freeproj.report.tables.results import ResultRecord, result_records
from freeproj.stats import (
    Cell,
    Table,
    best_lengths,
    group_by_cell,
    probability_of_improvement,
    seed_scores,
)

__all__ = ["best_length_exceeds_one", "counting_of", "free_beats_plain"]

_MEMORIES = ("gru", "s5")
_Scores = Mapping[Cell, dict[int, float]]


def counting_of(table: Table) -> str:
    """Returns `episodes` where the test returns have been counted so, else `window`."""
    every = table.where(split="test", counting="episodes")
    return "episodes" if len(every) else "window"


def free_beats_plain(gathered: Gathered | None) -> Claim:
    """Asks per task and memory whether FRP's MMER exceeds RP's.

    ℓ of FRP is chosen by training returns, so that the choice does not favour it; the
    paper's choice, by the test score itself, is the remark.
    """
    findings = [unknown("all tasks", "No training runs.")]
    headline = "No training runs."
    if gathered is not None and gathered.runs:
        scores = _scores(gathered.table)
        records = {by: _records(gathered, by) for by in ("train-mmer", "test-mmer")}
        pairs = _task_pairs(scores)
        findings = [_versus(pair, scores, records) for pair in pairs]
        headline = _improvement(scores, records["train-mmer"])
    return Claim(
        name="frp-beats-rp",
        statement="Free random projection (ℓ > 1) generalises better than plain random "
        "projection (ℓ = 1), on every task.",
        source="Generalization Gain, Table 1",
        rule="Holds for a task if the mean difference over paired seeds has its 95 % "
        "bootstrap interval above zero and a sign-flip test agrees (at least "
        f"{pairs_needed()} pairs); does not if it lies below.",
        headline=headline,
        findings=tuple(findings),
    )


def best_length_exceeds_one(gathered: Gathered | None) -> Claim:
    """Asks per task and memory whether some ℓ > 1 has a higher test MMER than ℓ = 1."""
    findings = [unknown("all tasks", "No training runs.")]
    headline = "No training runs."
    if gathered is not None and gathered.runs:
        scores = _scores(gathered.table)
        choices = {
            by: best_lengths(gathered.table, by=by, counting=_counting(by, gathered))
            for by in ("test-mmer", "train-mmer")
        }
        findings = [_length(pair, scores, choices) for pair in _task_pairs(scores)]
        found = [choice.length for choice in choices["test-mmer"].values()]
        longer = sum(length is not None and length > 1 for length in found)
        headline = f"By test MMER ℓ* > 1 in {longer} of {len(found)} cells."
    return Claim(
        name="best-length",
        statement="The best word length ℓ* is greater than 1, for every task and "
        "memory.",
        source="Impact of Word Length, Table 2",
        rule="ℓ* is chosen by test MMER, as in the paper. Holds if some ℓ > 1 beats "
        "ℓ = 1 over paired seeds after correction for the number of lengths; does not "
        "if every ℓ > 1 is below. Among equal lengths ℓ* > 1 has most of the luck.",
        headline=headline,
        findings=tuple(findings),
    )


def _counting(by: str, gathered: Gathered) -> str:
    return counting_of(gathered.table) if by == "test-mmer" else "window"


def _scores(table: Table) -> _Scores:
    cells = group_by_cell(seed_scores(table, counting=counting_of(table)))
    return {
        cell: {score.seed: score.mmer for score in scores}
        for cell, scores in cells.items()
    }


def _records(gathered: Gathered, by: str) -> dict[tuple[str, str, str], ResultRecord]:
    records = result_records(
        gathered.table,
        baselines=table_baselines(gathered.runs),
        by=by,
        counting=counting_of(gathered.table),
    )
    ours = (record for record in records if record.source == "ours")
    return {(record.task, record.memory, record.method): record for record in ours}


def _task_pairs(scores: _Scores) -> list[tuple[str, str]]:
    """Returns the paper's cells, then the others that were run."""
    tasks = ordered_tasks([*PAPER_TASKS, *(cell.task for cell in scores)])
    others = {cell[:2] for cell in scores}
    paper = set(product(PAPER_TASKS, _MEMORIES))
    memories = dict.fromkeys((*_MEMORIES, *(cell.memory for cell in scores)))
    return [pair for pair in product(tasks, memories) if pair in others | paper]


def _versus(
    pair: tuple[str, str],
    scores: _Scores,
    records: Mapping[str, Mapping[tuple[str, str, str], ResultRecord]],
) -> Finding:
    about, unit = _about(pair), "MMER of FRP less RP"
    plain = _cell_of(records["train-mmer"].get((*pair, "RP")))
    free = _cell_of(records["train-mmer"].get((*pair, "FRP")))
    if plain is None or free is None:
        return unknown(about, _what_is_missing(pair, scores), unit)
    compared = decide_pairs(scores.get(free, {}), scores.get(plain, {}))
    return Finding(
        about=about,
        verdict=compared.verdict,
        value=compared.mean_difference,
        interval=compared.interval,
        unit=unit,
        basis=_seeds(compared, 1) + f" ℓ = {free.length} chosen by training MMER.",
        remark=_paper_way(pair, scores, records) + _luck(pair, records["train-mmer"]),
    )


def _paper_way(pair, scores: _Scores, records) -> str:
    free = _cell_of(records["test-mmer"].get((*pair, "FRP")))
    plain = _cell_of(records["test-mmer"].get((*pair, "RP")))
    if free is None or plain is None:
        return ""
    if free == _cell_of(records["train-mmer"].get((*pair, "FRP"))):
        return "Test MMER, the paper's way to choose, takes the same ℓ. "
    compared = decide_pairs(scores.get(free, {}), scores.get(plain, {}))
    low, high = compared.interval
    return (
        f"ℓ = {free.length} by test MMER, the paper's choice: "
        f"{compared.mean_difference:+.2f} [{low:.2f}, {high:.2f}]. "
    )


def _luck(pair: tuple[str, str], records: Mapping) -> str:
    """Warns where neither method is above what an agent that never learns reaches."""
    both = [records[(*pair, method)] for method in ("RP", "FRP")]
    best = max(record.mmer.mean for record in both)
    luck = max(record.chance_mmer for record in both)
    if math.isnan(luck) or best > luck:
        return ""
    return f"Neither is above {luck:.2f}, what luck alone reaches."


def _length(pair: tuple[str, str], scores: _Scores, choices: Mapping) -> Finding:
    about, unit = _about(pair), "MMER of the best ℓ > 1 less ℓ = 1"
    cells = [cell for cell in scores if cell[:2] == pair]
    plain = [cell for cell in cells if cell.length == 1]
    free = [cell for cell in cells if cell.length > 1]
    if not plain or not free:
        return unknown(about, _what_is_missing(pair, scores), unit)
    compared = [decide_pairs(scores[c], scores[plain[0]], len(free)) for c in free]
    best = max(compared, key=lambda each: _or_least(each.mean_difference))
    paper = PAPER_LENGTHS.get(pair)
    return Finding(
        about=about,
        verdict=_some_holds([each.verdict for each in compared]),
        value=best.mean_difference,
        interval=best.interval,
        unit=unit,
        basis=f"ℓ* = {_chosen(choices, 'test-mmer', pair)} by test MMER"
        + (f" (the paper's: {paper})" if paper else "")
        + f", {_chosen(choices, 'train-mmer', pair)} by training MMER. "
        + _seeds(best, len(free)),
    )


def _some_holds(verdicts: list[Verdict]) -> Verdict:
    """The verdict on "one of them holds"."""
    if Verdict.HOLDS in verdicts:
        return Verdict.HOLDS
    return Verdict.FAILS if set(verdicts) == {Verdict.FAILS} else Verdict.OPEN


def _improvement(scores: _Scores, records: Mapping) -> str:
    """P(FRP > RP) for a seed of each, averaged over the cells that have both."""
    free, plain = {}, {}
    for task, memory, _ in records:
        both = [_cell_of(records.get((task, memory, m))) for m in ("FRP", "RP")]
        if both[0] and both[1]:
            free[f"{task} {memory}"] = list(scores[both[0]].values())
            plain[f"{task} {memory}"] = list(scores[both[1]].values())
    if not free:
        return "No task was run with both RP and FRP."
    found = probability_of_improvement(free, plain)
    low, high = found.interval
    interval = "" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]"
    return (
        f"A seed of FRP beats one of RP with probability {found.probability:.2f}"
        f"{interval}, over {len(free)} cells of task and memory."
    )


def _cell_of(record: ResultRecord | None) -> Cell | None:
    if record is None or record.length is None or record.n_generators is None:
        return None
    return Cell(record.task, record.memory, record.n_generators, record.length)


def _about(pair: tuple[str, str]) -> str:
    return f"{task_title(pair[0])}, {pair[1].upper()}"


def _what_is_missing(pair: tuple[str, str], scores: _Scores) -> str:
    lengths = sorted(cell.length for cell in scores if cell[:2] == pair)
    if not lengths:
        return "No runs."
    if 1 not in lengths or max(lengths) == 1:
        return f"Only ℓ = {', '.join(map(str, lengths))} was run."
    return "No training returns to choose ℓ by."


def _seeds(compared: Pairs, n_looks: int) -> str:
    needed = pairs_needed(n_looks)
    few = f"; {needed} could tell" if compared.n < needed else ""
    seeds = "seed" if compared.n == 1 else "seeds"
    return f"{compared.n} paired {seeds}{few}, p = {compared.p_value:.2g}."


def _chosen(choices: Mapping, by: str, pair: tuple[str, str]) -> str:
    choice = choices[by].get(pair)
    return str(choice.length) if choice and choice.length else "—"


def _or_least(value: float) -> float:
    return -math.inf if math.isnan(value) else value
