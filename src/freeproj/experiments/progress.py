"""Progress of training and other long work: a bar on a terminal, else lines."""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from rich import progress
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

if TYPE_CHECKING:
    from freeproj.learning.config import TrainConfig

__all__ = ["TrainProgress", "held_out", "number", "track", "working"]

_Item = TypeVar("_Item")
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
        self._is_bar = self._console.is_terminal and not quiet
        texts = (TextColumn("{task.description}"), TextColumn("{task.fields[numbers]}"))
        bar, left = BarColumn(bar_width=20), progress.TimeRemainingColumn()
        columns = (texts[0], bar, MofNCompleteColumn(), texts[1], left)
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
        line = f"[{row['update']}/{self._config.n_updates}] {numbers}"
        if self._is_bar:
            now = {"completed": row["update"], "description": "training"}
            self._bar.update(self._task, **now, numbers=numbers)
        elif self._console.is_jupyter:
            print(f"\r{line}", end="", flush=True)
        else:
            self._console.print(line, markup=False)

    def _rate(self) -> str:
        """Steps per second of the median update: the first one includes compiling."""
        spent = [after - before for before, after in itertools.pairwise(self._times)]
        if not spent:
            return "– steps/s"
        steps = self._config.n_envs * self._config.n_steps
        return f"{steps / statistics.median(spent):,.0f} steps/s"


def number(value: float) -> str:
    """Write a return; a dash where there is none yet."""
    return f"{value:.2f}" if math.isfinite(value) else "–"


def held_out(config: Any) -> str:
    """Return the column of the log that progress shows: the first map's returns."""
    return f"test/{config.test_maps[0]}/episodes/episode_return"


def track(
    items: Sequence[_Item], name: Callable[[_Item], str], *, quiet: bool = False
) -> Iterator[_Item]:
    """Yield the items and show on standard error which one is being worked on."""
    console = Console(stderr=True)
    what = TextColumn("{task.description:<24}")
    columns = (what, BarColumn(), MofNCompleteColumn(), progress.TimeElapsedColumn())
    hidden, begun = quiet or not console.is_terminal, time.perf_counter()
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("", total=len(items))
        for count, item in enumerate(items, start=1):
            bar.update(task, description=name(item))
            yield item
            bar.advance(task)
            if not quiet and hidden:
                seconds, begun = time.perf_counter() - begun, time.perf_counter()
                line = f"[{count}/{len(items)}] {name(item)} {seconds:.1f} s"
                console.print(line, markup=False)


@contextmanager
def working(on: str) -> Iterator[None]:
    """Show on a terminal that work of unknown length goes on, and for how long."""
    console, what = Console(stderr=True), TextColumn("{task.description}")
    columns = (progress.SpinnerColumn(), what, progress.TimeElapsedColumn())
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        bar.add_task(on, total=None)
        yield
