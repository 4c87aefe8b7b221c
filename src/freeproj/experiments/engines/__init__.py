"""Engines carry out the runs of a study, on this machine or on a cluster.

An engine is a function `(configs, out, *, report=None, ...)` that calls
`run.run_training` for each of the settings somewhere, reports events and returns an
`Outcome` for each. The folder is the only state: whatever an engine, a process or a
node does, finished runs are not run again and interrupted ones resume.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from freeproj.experiments.run import open_run, run_folder
from freeproj.learning.config import TrainConfig
from freeproj.storage.names import import_name, is_import_name, unknown_name

__all__ = ["ENGINES", "Event", "Outcome", "Report", "find_engine", "last_lines"]
__all__ += ["split_finished"]

# By name only, so that Ray and submitit are imported only when they are used.
ENGINES = ("local", "ray", "slurm")


class Event(NamedTuple):
    """Something that happened to a run."""

    config: TrainConfig
    # started, row, done, retry, failed, or elsewhere: another process is writing it
    kind: str
    row: dict[str, Any] | None = None  # of the log, where there is one
    text: str = ""  # why it failed


class Outcome(NamedTuple):
    """The end of a run: its last row, or why it has none."""

    config: TrainConfig
    row: dict[str, Any] | None
    error: str = ""


Report = Callable[[Event], None]


def find_engine(name: str) -> Callable[..., list[Outcome]]:
    """Return the engine of a name or of `module:attribute`."""
    if name in ENGINES:
        name = f"freeproj.experiments.engines.{name}:run_{name}"
    elif not is_import_name(name):
        raise unknown_name("engine", name, ENGINES)
    return import_name(name, "engine")


def split_finished(
    configs: Iterable[TrainConfig], out: str | Path
) -> tuple[list[TrainConfig], list[TrainConfig]]:
    """Return the runs that are still to be done, and those that are finished.

    A damaged one is still to be done: carrying it out says what is wrong.
    """
    todo, finished = [], []
    for config in configs:
        folder = run_folder(out, config)
        done = folder.exists() and open_run(out, config).health == "finished"
        (finished if done else todo).append(config)
    return todo, finished


def last_lines(text: str, n_lines: int = 12) -> str:
    """Return the end of a log."""
    return "\n".join(text.rstrip().splitlines()[-n_lines:])
