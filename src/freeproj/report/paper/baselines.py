"""Lines to compare returns with: chance, the best blind policy, the best possible.

`freeproj.envs.baselines` has them for one trial; these are for an episode of trials
that restart from the same start, as runs are scored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from freeproj.envs.baselines import baselines
from freeproj.experiments.run import Run
from freeproj.report.gathering import cell_task
from freeproj.report.paper.numbers import PAPER_TASKS

__all__ = [
    "Baseline",
    "Levels",
    "episode_levels",
    "level_numbers",
    "table_baselines",
    "trials_of",
]

_NAN = float("nan")


class Baseline(NamedTuple):
    """What an episode (the paper's: 16 trials) of a task is to be compared with.

    `freeproj.envs.baselines` has numbers of one trial. The uniform policy's trials are
    nearly independent (exactly so in the card tasks): its episode has 16 times a
    trial's mean and, to within two per cent, 4 times its std.
    """

    chance: float | int  # mean return of the uniform policy
    ceiling: float | int  # best possible mean return
    chance_std: float | int = _NAN  # of one episode; without it, no chance MMER
    blind: float | int = _NAN  # mean return of the best policy that sees nothing
    blind_name: str = ""


class Levels(NamedTuple):
    """Mean returns of an episode; nan where a task has no stored numbers."""

    chance: float  # the uniform policy
    chance_std: float  # of one episode
    blind: float  # the best policy that looks at nothing
    blind_name: str
    ceiling: float  # the best possible
    trial_chance: float  # of one trial


def episode_levels(task: str, n_trials: int | None) -> Levels:
    """Returns the lines of a task for episodes of so many trials."""
    unknown = Levels(_NAN, _NAN, _NAN, "", _NAN, _NAN)
    if n_trials is None:
        return unknown
    stored = baselines(task)
    if stored is None:
        return unknown  # several tasks together, or a variant that was never measured
    name, blind = stored.best_blind
    chance = stored.chance
    trial_std = chance.standard_error * math.sqrt(chance.n_trials)
    return Levels(
        chance=n_trials * chance.mean,
        chance_std=math.sqrt(n_trials) * trial_std,
        blind=n_trials * blind.mean,
        blind_name=name,
        ceiling=stored.best_episode(n_trials),
        trial_chance=chance.mean,
    )


def trials_of(runs: Iterable[Run]) -> dict[str, int | None]:
    """Returns the trials of an episode per task; None where the runs differ in it."""
    found: dict[str, set[int]] = {}
    for run in runs:
        found.setdefault(cell_task(run.config), set()).add(run.config.n_trials)
    return {task: min(n) if len(n) == 1 else None for task, n in found.items()}


def table_baselines(
    runs: Iterable[Run], tasks: Iterable[str] = ()
) -> dict[str, Baseline]:
    """Returns what the tables of the runs are to be compared with, per task.

    Tasks of the paper without runs, and further `tasks`, have episodes of 16 trials.
    """
    trials = dict.fromkeys((*PAPER_TASKS, *tasks), 16) | trials_of(runs)
    found = {}
    for task, n_trials in trials.items():
        each = episode_levels(task, n_trials)
        found[task] = Baseline(
            chance=each.chance,
            ceiling=each.ceiling,
            chance_std=each.chance_std,
            blind=each.blind,
            blind_name=each.blind_name,
        )
    return found


def level_numbers(
    tasks: Sequence[str], trials: dict[str, int | None]
) -> dict[str, np.ndarray]:
    """Returns the lines as columns, one entry per task, for a picture's numbers."""
    levels = [episode_levels(task, trials.get(task)) for task in tasks]
    return {
        "tasks": np.array(list(tasks), str),
        "n_trials": np.array([trials.get(task) or 0 for task in tasks], int),
        **{
            name: np.array([getattr(each, name) for each in levels], float)
            for name in ("chance", "blind", "ceiling", "trial_chance")
        },
    }
