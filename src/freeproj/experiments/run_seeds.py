"""Several seeds of the same settings at once, each with a run folder of its own.

A run that was begun with others may be finished alone, and the other way round. Its
numbers agree with those of a single run up to rounding, not bit for bit.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from freeproj.experiments.run import Run, begin_run, open_run, run_training
from freeproj.learning.config import TrainConfig
from freeproj.learning.many_seeds import train_seeds
from freeproj.learning.train import DivergedError, TrainState, seed_key

__all__ = ["run_seeds"]

_End = Run | Exception
_Report = Callable[[TrainConfig, dict[str, Any]], None]


def run_seeds(
    configs: Sequence[TrainConfig], out: str | Path, *, report: _Report | None = None
) -> list[_End]:
    """Train several seeds by `vmap`; return for each its finished run, or its error.

    A seed that diverged, is damaged or is being written by another process does not
    hold up the others. `report` is called with the settings and each new row of a log,
    after it is safe on disk. Curricula are trained one seed after the other.
    """
    tell = report or (lambda config, row: None)
    if len(configs) == 1 or any(config.stages for config in configs):
        return [_alone(config, out, tell) for config in configs]
    if len({dataclasses.replace(config, seed=0) for config in configs}) > 1:
        raise ValueError("Runs that are trained together must differ in `seed` only.")
    ends: dict[TrainConfig, _End] = {}
    begun: dict[Run, TrainState | None] = {}
    with contextlib.ExitStack() as locks:
        for config in configs:
            try:
                run = open_run(out, config)
                locks.enter_context(run.lock())
                if run.check_finished():
                    ends[config] = run
                else:
                    begun[run] = begin_run(run)
            except (ValueError, DivergedError) as error:
                ends[config] = error
        if begun:
            ends |= _together(begun, tell)
    return [ends[config] for config in configs]


def _alone(config: TrainConfig, out: str | Path, report: _Report) -> _End:
    try:
        return run_training(config, out, report=functools.partial(report, config))
    except (ValueError, DivergedError) as error:
        return error


def _together(
    begun: dict[Run, TrainState | None], report: _Report
) -> dict[TrainConfig, _End]:
    """Train runs whose locks are held, starting from their stored states."""
    runs = list(begun)

    def record(i: int, state: TrainState, row: dict[str, Any]) -> None:
        runs[i].record(state, row)
        report(runs[i].config, row)

    results = train_seeds(
        [seed_key(run.config.seed) for run in runs],
        runs[0].config,
        states=list(begun.values()),
        report=record,
        diverge=lambda i, error: runs[i].mark_diverged(error),
    )
    ends: dict[TrainConfig, _End] = {}
    for run, result in zip(runs, results, strict=True):
        if isinstance(result, DivergedError):
            ends[run.config] = result
        else:
            run.finish(result.agent)
            ends[run.config] = run
    return ends
