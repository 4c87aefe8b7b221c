"""The results of the shipped studies, as data.

Each study is one file, `NAME.npz`: settings that vary, seeds, the evaluations of every
run, and what they rest on (command, version, machine, hours, date). They are made from
folders of runs by `tools/publish.py` and read by `read_dataset("published:NAME")`, like
any other folder of runs; `Dataset.meta` says what they rest on.
"""

import functools
from pathlib import Path
from typing import Any

from freeproj.experiments.dataset import Dataset, read_dataset

__all__ = ["load", "names", "summary"]

_FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """Return the names of the published studies."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.npz")))


def load(*chosen: str) -> Dataset:
    """Return published studies as one dataset; all of them by default."""
    return _load(chosen or names())


def summary(study: Dataset) -> dict[str, Any]:
    """Return what a list of the studies says about one."""
    seeds = {}
    rest = [axis for axis in study.axes if axis not in ("task", "evaluation.task")]
    task = "evaluation.task" if "evaluation.task" in study.axes else "task"
    for (name,), group in study.group_by(task).items():
        counts = [len(cell) for cell in group.group_by(*rest).values()]
        seeds[str(name)] = [min(counts), max(counts)]
    return {
        "runs": len(study),
        "axes": list(study.axes),
        "seeds_per_configuration": seeds,
        **study.meta,
    }


@functools.cache
def _load(chosen: tuple[str, ...]) -> Dataset:
    return read_dataset(*(f"published:{name}" for name in chosen))
