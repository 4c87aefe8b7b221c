"""What was run: counts, budget, time, and which settings are not the paper's."""

import contextlib
import dataclasses
import math
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from types import SimpleNamespace
from typing import Any

from freeproj import __version__
from freeproj.experiments.dataset import Dataset
from freeproj.experiments.measures import length_of, map_of
from freeproj.experiments.settings import dotted
from freeproj.findings.cells import make_cells
from freeproj.findings.labels import axis_name, map_title, run_counts, value_text
from freeproj.learning.config import TrainConfig

__all__ = ["differences_from_paper", "study_facts", "versions"]

# Settings that a study varies: they do not count as differences from the paper.
_SHAPE = {f"projection.{name}" for name in ("length", "n_generators", "input_dim")}
_VARIED = {"task", "memory", "seed", *_SHAPE}


def study_facts(dataset: Dataset) -> SimpleNamespace:
    """Return a dataset in numbers, as the page shows it; spans are least and most."""
    runs = dataset.runs
    groups = [make_cells(dataset, protocol) for protocol in ("projection", "task")]
    axes = [a for a in dataset.axes if any(a in cells.axes for cells in groups)]
    seeds = [len(cell) for cells in groups for cell in cells.runs.values()]
    updates = [int(run.updates[-1]) if len(run.updates) else 0 for run in runs]
    settings = [run.settings for run in runs]
    trials = [length_of(each) for each in settings]
    per_update = [int(s.get("n_envs", 0)) * int(s.get("n_steps", 0)) for s in settings]
    seconds = [run.seconds for run in runs if not math.isnan(run.seconds)]
    values = {a: [value_text(a, value) for value in dataset.values(a)] for a in axes}
    return SimpleNamespace(
        runs=run_counts(dataset),
        n_runs=len(runs) + len(dataset.set_aside),
        n_finished=dataset.n_finished,
        axes=tuple((axis_name(axis), ", ".join(values[axis])) for axis in axes),
        seeds=(min(seeds), max(seeds)),  # of a cell
        trials=(min(trials), max(trials)),  # of an episode
        updates=(min(updates), max(updates)),  # of a run, those done
        n_steps=sum(n * steps for n, steps in zip(updates, per_update, strict=True)),
        seconds=sum(seconds) if seconds else math.nan,  # of training
        maps=list(dict.fromkeys(map_title(map_of(run)) for run in runs)),
        differences=differences_from_paper(settings),
        shows_reward=any(each.get("previous_reward") for each in settings),
    )


def differences_from_paper(
    settings: Sequence[Mapping[str, Any]],
) -> tuple[tuple[str, str, str], ...]:
    """Return the settings that are not the paper's: name, value here, the paper's."""
    paper = dotted(dataclasses.asdict(TrainConfig())) | {"projection.n_words": 256}
    found = []
    for name, expected in paper.items():
        values = {_text(each[name]): None for each in settings if name in each}
        if name not in _VARIED and values and list(values) != [_text(expected)]:
            found.append((name, ", ".join(values), _text(expected)))
    return tuple(found)


def versions() -> dict[str, str]:
    """Return the versions that the page was made with."""
    found = {"freeproj": __version__, "Python": platform.python_version()}
    for name in ("jax", "numpy", "scipy", "matplotlib"):
        with contextlib.suppress(PackageNotFoundError):  # not installed, so not used
            found[name] = version(name)
    return found


def _text(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
