"""What was run: counts, budget, time, and which settings are not the paper's."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from freeproj import __version__
from freeproj.config import TrainConfig
from freeproj.experiments.run import Run
from freeproj.experiments.settings import dotted
from freeproj.report.gathering import Gathered, cell_task
from freeproj.report.paper.run_numbers import ordered_tasks

__all__ = [
    "StudyFacts",
    "differences_from_paper",
    "duration_text",
    "study_facts",
    "versions",
]

# What a study varies, so what is not a difference from the paper.
_VARIED = {"task", "memory", "seed", "projection.length", "projection.n_generators"}


@dataclasses.dataclass(frozen=True)
class StudyFacts:
    """A folder of runs in numbers."""

    n_runs: int
    n_finished: int
    tasks: tuple[str, ...]
    memories: tuple[str, ...]
    lengths: tuple[int, ...]
    seeds: tuple[int, int]  # of the cell with fewest and with most
    trials: tuple[int, int]  # of an episode, fewest and most
    updates: tuple[int, int]  # done, of the shortest and the longest run
    n_steps: int  # of all environments of all runs
    seconds: float  # of training, summed over runs; nan without times
    differences: tuple[tuple[str, str, str], ...]  # setting, here, in the paper

    @property
    def shows_reward(self) -> bool:
        """Whether agents see their previous reward, which the paper's do not."""
        return any(name == "previous_reward" for name, _, _ in self.differences)


def study_facts(gathered: Gathered) -> StudyFacts:
    """Returns what the runs of a folder are; there must be one at least."""
    runs = gathered.runs
    configs = [run.config for run in runs]
    cells = [
        (cell_task(c), c.memory, c.projection.n_generators, c.projection.length)
        for c in configs
    ]
    seeds = [cells.count(cell) for cell in set(cells)]
    updates = [len(run.log()) for run in runs]
    steps = [c.n_envs * c.n_steps * n for c, n in zip(configs, updates, strict=True)]
    return StudyFacts(
        n_runs=len(runs),
        n_finished=gathered.n_finished,
        tasks=tuple(ordered_tasks([cell[0] for cell in cells])),
        memories=tuple(sorted({cell[1] for cell in cells})),
        lengths=tuple(sorted({cell[3] for cell in cells})),
        seeds=(min(seeds), max(seeds)),
        trials=(min(c.n_trials for c in configs), max(c.n_trials for c in configs)),
        updates=(min(updates), max(updates)),
        n_steps=sum(steps),
        seconds=float(np.sum([_seconds(run) for run in runs])),
        differences=differences_from_paper(configs),
    )


def differences_from_paper(
    configs: Sequence[TrainConfig],
) -> tuple[tuple[str, str, str], ...]:
    """Returns the settings that are not the paper's, with both values, as texts."""
    paper = dotted(dataclasses.asdict(TrainConfig()))
    found = []
    flats = [dotted(dataclasses.asdict(config)) for config in configs]
    for name, expected in paper.items():
        values = {str(flat[name]): None for flat in flats}
        if name not in _VARIED and list(values) != [str(expected)]:
            found.append((name, ", ".join(values), str(expected)))
    n_words = {_n_words(config): None for config in configs}
    if list(n_words) != ["256"]:
        found.append(("projection.n_words", ", ".join(n_words), "256"))
    return tuple(found)


def duration_text(seconds: float) -> str:
    """Writes a duration for people: "50 s", "3.4 min", "2.1 h"; unknown is a dash."""
    if np.isnan(seconds):
        return "—"
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def versions() -> dict[str, str]:
    """Returns the versions that the page was made with."""
    found = {"freeproj": __version__, "Python": platform.python_version()}
    for name in ("jax", "numpy", "scipy", "matplotlib", "plotly"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue  # not installed: nothing was made with it
    return found


def _seconds(run: Run) -> float:
    """Time between a run's updates; the first has no start to be measured from."""
    gaps = np.diff(run.times())
    if not gaps.size:
        return float("nan") if run.is_finished else 0.0
    # A run that was stopped and resumed has a pause in it, which is no work.
    return float(np.minimum(gaps, 60 + 20 * np.median(gaps)).clip(0).sum())


def _n_words(config: TrainConfig) -> str:
    return str(config.projection.n_generators**config.projection.length)
