"""From a folder of runs to one tidy table: what `freeproj.stats` and the report read.

Runs are found by their `config.toml`, at any depth; whatever else lies there is left
alone. Nothing is trusted: settings and logs are parsed, never executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from freeproj.config import TrainConfig
from freeproj.envs import make
from freeproj.experiments.run import Run, read_run
from freeproj.stats import Row, Table, as_table

__all__ = ["Adaptation", "Gathered", "cell_task", "find_runs", "gather"]


class Adaptation(NamedTuple):
    """Mean returns of trial 1, 2, … in one evaluation of one run, and their counts."""

    task: str
    memory: str
    n_generators: int
    length: int
    seed: int
    update: int
    returns: Float[np.ndarray, " n_trials"]  # nan where nothing was counted
    counts: Int[np.ndarray, " n_trials"]


class Gathered(NamedTuple):
    """All runs of a folder: as they are, as a tidy table, and trial by trial."""

    runs: tuple[Run, ...]
    table: Table
    adaptations: tuple[Adaptation, ...]

    @property
    def n_finished(self) -> int:
        """How many of the runs have come to their end."""
        return sum(run.is_finished for run in self.runs)


def gather(folder: str | Path) -> Gathered:
    """Reads every run below a folder; a run that is still going on counts so far."""
    runs = find_runs(folder)
    _check_distinct(runs)
    logs = [run.log() for run in runs]
    pairs = list(zip(runs, logs, strict=True))
    rows = [row for run, log in pairs for row in _rows(run.config, log)]
    trials = [each for run, log in pairs for each in _adaptations(run.config, log)]
    return Gathered(runs, as_table(rows), tuple(trials))


def find_runs(folder: str | Path) -> tuple[Run, ...]:
    """Returns the runs below a folder, by the order of their paths."""
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"No folder {folder} with runs.")
    stored = sorted(folder.rglob("config.toml"))
    return tuple(read_run(path.parent) for path in stored)


def cell_task(config: TrainConfig) -> str:
    """The task that a run is reported under: the one held out, or those trained on."""
    if config.evaluation.task:
        return make(config.evaluation.task).name
    return "+".join(make(task).name for task in config.tasks)


def _check_distinct(runs: Sequence[Run]) -> None:
    """Refuses two runs of one cell and seed: their evaluations cannot be told apart."""
    seen: dict[tuple, Run] = {}
    for run in runs:
        key = (*_cell(run.config), run.config.seed, run.config.protocol)
        other = seen.setdefault(key, run)
        if other is not run:
            raise ValueError(
                f"{other.folder} and {run.folder} are the same cell and seed with "
                "other settings; keep runs of different studies in different folders."
            )


def _cell(config: TrainConfig) -> tuple[str, str, int, int]:
    shape = config.projection
    return cell_task(config), config.memory, shape.n_generators, shape.length


def _rows(config: TrainConfig, log: Iterable[dict[str, Any]]) -> Iterable[Row]:
    """Yields the evaluations of a log. Training counts what ended while collecting."""
    sources = {
        ("train", "window"): "train",
        ("test", "window"): "test/window",
        ("test", "episodes"): "test/episodes",
    }
    for line in log:
        for (split, counting), prefix in sources.items():
            if f"{prefix}/episode_return" not in line:
                continue
            yield Row(
                *_cell(config),
                seed=config.seed,
                update=line["update"],
                protocol=config.protocol,
                split=split,
                counting=counting,
                mean_return=line[f"{prefix}/episode_return"],
                n_finished=line[f"{prefix}/n_finished"],
                n_unfinished=line[f"{prefix}/n_unfinished"],
            )


def _adaptations(
    config: TrainConfig, log: Iterable[dict[str, Any]]
) -> Iterable[Adaptation]:
    for line in log:
        if "test/trial_returns" in line:
            yield Adaptation(
                *_cell(config),
                seed=config.seed,
                update=line["update"],
                returns=np.array(line["test/trial_returns"], float),
                counts=np.array(line["test/trial_counts"], int),
            )
