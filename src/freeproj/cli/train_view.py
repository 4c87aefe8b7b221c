"""Progress of training, and the summary at its end."""

from __future__ import annotations

import math
import shlex
import statistics
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from freeproj.cli.progress import held_out
from freeproj.learning.config import TrainConfig

__all__ = ["TrainProgress", "number", "summary", "summary_text"]

_RECENT = 20  # updates over which the rate is taken


class TrainProgress:
    """A bar on a terminal, one changing line in a notebook, else a line per update.

    with TrainProgress(config) as progress:
        run_training(config, "runs", report=progress.show)
    """

    def __init__(self, config: TrainConfig, n_done: int = 0, quiet: bool = False):
        self._console = Console(stderr=True)
        self._config, self._quiet = config, quiet
        self._times: list[float] = []
        self._test = math.nan
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[numbers]}"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=self._console)
        self._task = self._bar.add_task(
            "compiling", total=config.n_updates, completed=n_done, numbers=""
        )

    def __enter__(self) -> TrainProgress:
        if self._is_bar:
            self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._is_bar:
            self._bar.stop()
        elif self._console.is_jupyter and not self._quiet:
            print()

    @property
    def _is_bar(self) -> bool:
        return self._console.is_terminal and not self._quiet

    def show(self, row: dict[str, Any]) -> None:
        """Show one update."""
        if self._quiet:
            return
        self._times = [*self._times[-_RECENT:], time.perf_counter()]
        tested = row.get(held_out(self._config), math.nan)
        self._test = self._test if math.isnan(tested) else tested
        numbers = f"{self._rate()}  train {number(row['train/episode_return'])}"
        if self._config.evaluation.every:
            numbers += f"  test {number(self._test)}"
        if self._is_bar:
            self._bar.update(
                self._task,
                completed=row["update"],
                description="training",
                numbers=numbers,
            )
            return
        line = f"[{row['update']}/{self._config.n_updates}] {numbers}"
        if self._console.is_jupyter:
            print(f"\r{line}", end="", flush=True)
        else:
            self._console.print(line, markup=False)

    def _rate(self) -> str:
        """Steps per second of the median update: the first one includes compiling."""
        pairs = zip(self._times, self._times[1:], strict=False)
        spent = [after - before for before, after in pairs]
        if not spent:
            return "– steps/s"
        steps = self._config.n_envs * self._config.n_steps
        return f"{steps / statistics.median(spent):,.0f} steps/s"


def number(value: float) -> str:
    """Write a return; a dash where there is none yet."""
    return f"{value:.2f}" if math.isfinite(value) else "–"


def summary(config: TrainConfig, folder: Path, row: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a finished run, with the returns to compare them with."""
    levels = {}
    for task in (config.evaluation.task,) if config.evaluation.task else config.tasks:
        levels[task] = _levels(task, config)
    return {
        "folder": str(folder),
        "updates": row["update"],
        "steps": row["steps"],
        "train": _or_none(row.get("train/episode_return", math.nan)),
        "test": {
            name: {
                "return": _or_none(row.get(f"{_of(name)}", math.nan)),
                "std": _or_none(row.get(f"{_of(name)}_std", math.nan)),
                "episodes": row.get(f"test/{name}/episodes/n_finished"),
            }
            for name in config.test_maps
        },
        "compare": levels,
    }


def summary_text(config: TrainConfig, found: dict[str, Any]) -> str:
    """Write the summary of a run for people, with the next two commands."""
    lines = []
    tested = {k: v for k, v in found["test"].items() if v["return"] is not None}
    if not tested:
        lines.append(f"test      – ({_why_missing(config)})")
    for name, test in tested.items():
        what = "observation blanked" if name == "zero" else f"map {name}"
        error = (test["std"] or 0.0) / math.sqrt(max(test["episodes"] or 1, 1))
        lines.append(
            f"test      {test['return']:.2f} ± {error:.2f} ({what}, "
            f"{test['episodes']} episodes, ± standard error)"
        )
    for task, level in found["compare"].items():
        if level is None:
            lines.append(f"compare   {task}: chance and best return are not known")
        else:
            numbers = ", ".join(f"{name} {value:.2f}" for name, value in level.items())
            lines.append(f"compare   {task}: {numbers}")
    folder = shlex.quote(found["folder"])
    lines.append(f"next      freeproj watch {folder}")
    lines.append(f"          freeproj evaluate {folder} --map random")
    return "\n".join(lines)


def _of(name: str) -> str:
    return f"test/{name}/episodes/episode_return"


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _why_missing(config: TrainConfig) -> str:
    if not config.evaluation.every:
        return "evaluation.every is 0, nothing was tested"
    if not config.evaluation.episodes:
        return "evaluation.episodes is off, only the window was counted"
    return "no episode ended"


def _levels(task: str, config: TrainConfig) -> dict[str, float] | None:
    from freeproj.envs.baselines import baselines

    known = baselines(task)
    if known is None:
        return None
    n_trials = config.n_trials
    return {
        "chance": n_trials * known.chance.mean,
        "best blind": n_trials * known.best_blind[1].mean,
        "best": known.best_episode(n_trials, config.trials == "same_start"),
    }
