"""Claims about what is learned in context, and about tasks that were never trained on.

In context: the reward is among the inputs and every trial starts anew, so that only
what the projection does is worth remembering from trial to trial.
"""

from __future__ import annotations

import math

import numpy as np

from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import Cells, Key, make_cells
from freeproj.findings.claims.findings import (
    EQUIVALENCE,
    equal_lengths,
    pooled_claim,
)
from freeproj.findings.selection import Question, asked, question
from freeproj.findings.verdicts import Claim, missing
from freeproj.stats import differences
from freeproj.stats.intervals import summarise

__all__ = ["adapts_in_context", "beats_chance_on_new_tasks", "length_in_context"]

_BY_POOL = (
    " Holds if the pooled sign-flip test says so and no cell says the opposite; "
    "p-values and intervals are corrected for the number of cells."
)


def length_in_context(dataset: Dataset) -> Claim:
    """Ask whether all word lengths are equal where the projection must be learned."""
    tell = {
        "name": "in-context-length",
        "statement": "Where the projection has to be learned in context (reward shown, "
        "fresh starts), the word length changes nothing on unseen random maps.",
        "source": "The paper's question, asked where adapting pays",
        "rule": EQUIVALENCE,
    }
    cells = asked(dataset, Question.IN_CONTEXT, maps=("random",))
    return equal_lengths(
        cells, tell, "reward shown, fresh starts, ℓ = 1 and more, on random maps."
    )


def adapts_in_context(dataset: Dataset) -> Claim:
    """Ask whether agents earn more on unseen maps than agents that see nothing."""
    tell = {
        "name": "in-context",
        "statement": "With reward shown and fresh starts, agents adapt to unseen "
        "random maps: they earn more than agents that see nothing.",
        "source": "In-context learning, which the paper is about",
        "rule": "Return on random maps minus that of agents trained blind, seeds in "
        "pairs; where none were trained, minus the same agents' with the observation "
        "blanked." + _BY_POOL,
    }
    cells = asked(dataset, Question.IN_CONTEXT, maps=("random", "zero"))
    if not cells.runs:
        return missing(**tell, what="reward shown, fresh starts, on random maps.")
    blind = _blind_arms(dataset)
    data, remarks = {}, {}
    for key in cells.runs:
        reference = blind.get(_arm(cells, key))
        own = cells.scores(key, "zero")
        gaps = differences(
            cells.scores(key, "random"), own if reference is None else reference
        )
        data[key] = _shares(cells, key, gaps)
        against = "blanked" if reference is None else "trained blind"
        remarks[key] = f"Against agents {against}. {_rise(cells, key)}".strip()
    return pooled_claim(tell, data, "Random maps minus blind", cells.label, remarks)


def beats_chance_on_new_tasks(dataset: Dataset) -> Claim:
    """Ask whether training on other tasks is worth anything on one never seen."""
    tell = {
        "name": "new-task",
        "statement": "Training on other tasks beats chance on a task that was never "
        "seen.",
        "source": "Introduction: generalisation to unseen tasks",
        "rule": "Return on the task held out, on random maps where they were played, "
        "minus that of the uniform policy." + _BY_POOL,
    }
    seeing = (Question.NO_REWARD, Question.REWARD, Question.IN_CONTEXT)
    every = asked(dataset, *seeing, protocol="task")
    cells = every.where(lambda key: not math.isnan(every.levels(key).chance))
    if not cells.runs:
        return missing(**tell, what="runs tested on a task that they did not train on.")
    data, remarks = {}, {}
    for key in cells.runs:
        played = "random" if "random" in cells.maps(key) else ""
        levels = cells.levels(key)
        gaps = {s: x - levels.chance for s, x in cells.scores(key, played).items()}
        data[key] = _shares(cells, key, gaps)
        remarks[key] = _beside(cells, key, played)
    what = "Task held out, minus chance"
    return pooled_claim(tell, data, what, cells.label, remarks)


def _shares(cells: Cells, key: Key, gaps: dict[int, float]) -> dict[int, float]:
    scale = cells.levels(key).scale
    return {seed: gap / scale for seed, gap in gaps.items()}


def _arm(cells: Cells, key: Key) -> tuple:
    """Return what an agent and its blind counterpart share: all but the projection."""
    settings = cells.runs[key][0].settings
    return tuple(
        (name, str(value))
        for name, value in sorted(settings.items())
        if name not in ("seed", "observation")
        and not name.startswith(("projection.", "evaluation."))
    )


def _blind_arms(dataset: Dataset) -> dict[tuple, dict[int, float]]:
    """Return the scores of agents that were trained without an observation."""
    blind = dataset.select(
        lambda run: (
            question(run.settings) is Question.CONTROL
            and run.settings.get("observation") == "none"
        )
    )
    cells = make_cells(blind)
    return {_arm(cells, key): cells.scores(key) for key in cells.runs}


def _rise(cells: Cells, key: Key) -> str:
    """Say what the first and the last trial of an episode are worth."""
    rows = []
    for run in cells.runs[key]:
        table = run.metrics.get("test/random/trial_returns", np.zeros((0, 0)))
        seen = table[~np.isnan(table).any(axis=1)] if table.size else table
        if len(seen):
            rows.append(seen[-3:].mean(axis=0))
    if not rows:
        return ""
    first, *_, last = np.mean(rows, axis=0)
    return f"First trial {first:.2f}, last {last:.2f}."


def _beside(cells: Cells, key: Key, test_map: str) -> str:
    """Give the return per trial with what it is to be compared with."""
    levels = cells.levels(key)
    score, blanked = (
        summarise(list(cells.scores(key, name).values())).mean / levels.n_trials
        for name in (test_map, "zero")
    )
    said = [f"{score:.2f} a trial"] if not math.isnan(score) else []
    said += [f"blanked {blanked:.2f}"] if not math.isnan(blanked) else []
    said += [f"chance {levels.chance / levels.n_trials:.2f}"]
    said += [f"best blind policy {levels.blind / levels.n_trials:.2f}"]
    return ", ".join(said) + "."
