"""Folders of runs that were never trained: logs drawn from simple curves.

They have the shape of a study's results and nothing of their meaning. Only for tests.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np

from freeproj.envs.baselines import baselines
from freeproj.experiments.run import open_run
from freeproj.experiments.settings import read_config

TASKS = (
    "StatelessCartPole",
    "HigherLower",
    "Minesweeper",
    "RepeatFirst",
    "RepeatPrevious",
)


def write_study(
    folder,
    *,
    tasks=TASKS,
    memories=("gru", "s5"),
    lengths=(1, 2, 4, 8),
    n_seeds=3,
    n_updates=40,
    every=4,
    gain=None,
    train_gain=None,
    noise=0.05,
    unfinished=(),
    settings=None,
):
    """Writes a grid of runs; `gain(task, memory, length)` is the learned part, 0 to 1.

    In training it is a fifth larger, unless `train_gain` says otherwise.

    Runs whose index is in `unfinished` stop half way.
    """
    gain = gain or (lambda task, memory, length: 0.2 + 0.05 * np.log2(length))
    grid = product(tasks, memories, lengths, range(n_seeds))
    for index, (task, memory, length, seed) in enumerate(grid):
        chosen = {
            "task": task,
            "memory": memory,
            "seed": seed,
            "n_updates": n_updates,
            "n_trials": 16,
            "evaluation.every": every,
            "projection.length": length,
            **(settings or {}),
        }
        run = open_run(folder, read_config("smoke", chosen))
        rng = np.random.default_rng([index, seed])
        level = gain(task, memory, length) + noise * rng.standard_normal()
        n_done = n_updates // 2 if index in unfinished else n_updates
        train = train_gain(task, memory, length) if train_gain else 1.2 * level
        stored, levels = baselines(task), (level, train)
        rows = [_row(rng, stored, levels, u, every) for u in range(1, n_done + 1)]
        _write(run.folder, rows, finished=index not in unfinished)
    return Path(folder)


def _row(rng, stored, levels, update, every):
    chance, best = stored.chance.mean, stored.best.value
    learned, trained = np.array(levels) * (1 - np.exp(-update / 12))
    spread = 0.02 * (best - chance)
    trial = np.arange(1, 17)
    rise = (1 - np.exp(-trial / 4)) / 0.85
    trials = chance + (best - chance) * learned * rise
    train = 16 * (chance + (best - chance) * trained + spread * rng.normal())
    row = {
        "update": update,
        "steps": 512 * update,
        # Long episodes do not end in every collection.
        "train/episode_return": float(train) if update % 3 == 0 else None,
        "train/n_finished": 8 if update % 3 == 0 else 0,
        "train/n_unfinished": 8,
    }
    if update % every:
        return row
    trials = trials + spread * rng.standard_normal(16)
    for name, values in (("tile", trials), ("zero", chance + 0 * trials)):
        row |= _played(name, values, spread)
    return row


def _played(name, trials, spread):
    test = float(trials.sum())
    return {
        f"test/{name}/window/episode_return": test + spread,
        f"test/{name}/window/n_finished": 6,
        f"test/{name}/window/n_unfinished": 2,
        f"test/{name}/episodes/episode_return": test,
        f"test/{name}/episodes/n_finished": 8,
        f"test/{name}/episodes/n_unfinished": 0,
        f"test/{name}/trial_returns": [float(each) for each in trials],
        f"test/{name}/trial_counts": [8] * 16,
    }


def _write(folder, rows, finished):
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "log.jsonl").write_text(lines)
    times = [{"update": r["update"], "time": 1.7e9 + 2.0 * r["update"]} for r in rows]
    text = "".join(json.dumps(each) + "\n" for each in times)
    (folder / "timing.jsonl").write_text(text)
    if finished:
        (folder / "final.json").write_text(json.dumps(rows[-1]))
