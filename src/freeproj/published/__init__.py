"""The results of the shipped studies, as data.

Each study is one file, `NAME.npz`: settings that vary, seeds, the evaluations of every
run, and what they rest on (command, version, machine, hours, date). They are made from
folders of runs by `tools/publish.py` and read by `read_dataset("published:NAME")`, like
any other folder of runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from freeproj.experiments.dataset import Dataset, read_dataset
from freeproj.experiments.store import load_records
from freeproj.storage.names import suggestion

__all__ = ["Published", "load", "names", "published"]

_FOLDER = Path(__file__).parent


class Published(NamedTuple):
    """A published study: its numbers, and what they rest on."""

    name: str
    dataset: Dataset
    meta: dict[str, Any]

    @property
    def seeds_by_task(self) -> dict[str, int]:
        """The smallest number of seeds of any cell, for each task."""
        axes = [axis for axis in self.dataset.axes if axis != "task"]
        return {
            str(task): min(len(cell) for cell in group.group_by(*axes).values())
            for (task,), group in self.dataset.group_by("task").items()
        }

    @property
    def summary(self) -> dict[str, Any]:
        """What a list of the studies says about this one."""
        return {
            "study": self.name,
            "runs": len(self.dataset),
            "axes": list(self.dataset.axes),
            "seeds_per_cell": self.seeds_by_task,
            **self.meta,
        }


def names() -> tuple[str, ...]:
    """Return the names of the published studies."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.npz")))


def published(name: str) -> Published:
    """Return a published study by its name."""
    if name not in names():
        near = suggestion(name, names())
        known = ", ".join(names()) or "none yet"
        raise ValueError(f"No published study {name!r}.{near} Known: {known}.")
    stored = load_records(_FOLDER / f"{name}.npz")
    return Published(name, read_dataset(f"published:{name}"), dict(stored.meta))


def load(*chosen: str) -> Dataset:
    """Return published studies as one dataset; all of them by default."""
    return read_dataset(*(f"published:{name}" for name in chosen or names()))
