"""What the episodes of a table are to be compared with, from the tasks' own baselines.

`freeproj.envs.baselines` has returns of one trial; an episode is `n_trials` of them.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping

from freeproj.config import TrainConfig
from freeproj.envs.baselines import baselines
from freeproj.gathering import cell_task
from freeproj.report.paper_numbers import PAPER_TASKS
from freeproj.report.table_results import Baseline

__all__ = ["episode_baseline", "episode_baselines", "n_trials_of"]


def episode_baselines(
    tasks: Iterable[str] = (), n_trials: Mapping[str, int] | None = None
) -> dict[str, Baseline]:
    """Returns the baselines of the paper's tasks and of others that have any.

    Args:
        n_trials: trials of an episode where a task's runs do not have the paper's 16.
    """
    found = {}
    for task in dict.fromkeys((*PAPER_TASKS, *tasks)):
        # Tasks trained together, and those of other codebases, have none: their cells
        # are shown without.
        with contextlib.suppress(ValueError):
            found[task] = episode_baseline(task, (n_trials or {}).get(task, 16))
    return found


def episode_baseline(task: str, n_trials: int = 16) -> Baseline:
    """Returns what the uniform, the best blind and the best policy get per episode.

    Trials of the uniform policy are nearly independent: their means add up, and the
    spread of a sum is √n_trials that of one.
    """
    numbers = baselines(task)
    name, blind = numbers.best_blind
    chance = numbers.chance
    spread = chance.standard_error * math.sqrt(chance.n_trials)
    return Baseline(
        chance=n_trials * chance.mean,
        ceiling=numbers.best_episode(n_trials),
        chance_std=math.sqrt(n_trials) * spread,
        blind=n_trials * blind.mean,
        blind_name=name,
    )


def n_trials_of(configs: Iterable[TrainConfig]) -> dict[str, int]:
    """Returns the trials of an episode, by task; runs of a task must agree on it."""
    found: dict[str, int] = {}
    for config in configs:
        task = cell_task(config)
        if found.setdefault(task, config.n_trials) != config.n_trials:
            raise ValueError(
                f"Runs of {task} have episodes of {found[task]} and of "
                f"{config.n_trials} trials; keep them in different folders."
            )
    return found
