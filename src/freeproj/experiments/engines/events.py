"""What an engine reports while it works, and the outcome of each run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from freeproj.experiments.run import open_run, run_folder
from freeproj.learning.config import TrainConfig

__all__ = [
    "KINDS",
    "Event",
    "Outcome",
    "Report",
    "cell_of",
    "last_lines",
    "programs_of",
    "split_finished",
]

# elsewhere: another process is writing this run, and the engine waits for it.
KINDS = ("started", "row", "done", "retry", "failed", "elsewhere")


class Event(NamedTuple):
    """Something that happened to a run."""

    config: TrainConfig
    kind: str  # one of KINDS
    row: dict[str, Any] | None = None  # of the log, where there is one
    text: str = ""  # why it failed


class Outcome(NamedTuple):
    """The end of a run: its last row, or why it has none."""

    config: TrainConfig
    row: dict[str, Any] | None
    error: str = ""


Report = Callable[[Event], None]


def split_finished(
    configs: Iterable[TrainConfig], out: str | Path
) -> tuple[list[TrainConfig], list[TrainConfig]]:
    """Return the runs that are still to be done, and those that are finished.

    A folder whose settings are not those its name stands for is an error. A finished
    run that is damaged is still to be done: carrying it out says what is wrong.
    """
    todo, finished = [], []
    for config in configs:
        folder = run_folder(out, config)
        done = folder.exists() and open_run(out, config).health == "finished"
        (finished if done else todo).append(config)
    return todo, finished


def programs_of(config: TrainConfig) -> TrainConfig:
    """Return the settings that the compiled programs of a run depend on."""
    return config.program


def cell_of(config: TrainConfig) -> Hashable:
    """Return all settings but the seed: runs of one cell can be trained together."""
    # Not `vars`: what the object has cached is no setting.
    names = (each.name for each in dataclasses.fields(config))
    return tuple(getattr(config, name) for name in names if name != "seed")


def last_lines(text: str, n_lines: int = 12) -> str:
    """Return the end of a log."""
    return "\n".join(text.rstrip().splitlines()[-n_lines:])
