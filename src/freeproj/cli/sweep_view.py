"""The runs of a sweep while they go on: one live line on a terminal, else lines."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from freeproj.cli.output import number
from freeproj.experiments.progress import held_out
from freeproj.findings.labels import duration
from freeproj.storage.names import printable

__all__ = ["SweepView", "cell_names"]

_NAMED = ("task", "memory", "projection.length")
_EVERY = 30.0  # seconds between two lines about one run, where there is no terminal
_STATES = {"started": "running", "row": "running", "retry": "waiting"}
_ENDED = ("done", "failed")


def cell_names(configs: Sequence[Any]) -> list[str]:
    """Name each run: task, memory, ℓ, and what else differs and does not follow."""
    from freeproj.experiments.settings import flat

    plain = [flat(config) for config in configs]
    kept: list[str] = [*_NAMED]
    for key in plain[0]:
        cells = [tuple(settings[name] for name in kept) for settings in plain]
        pairs = {(cell, s[key]) for cell, s in zip(cells, plain, strict=True)}
        if key != "seed" and len(pairs) > len(set(cells)):
            kept.append(key)
    names = []
    for config, settings in zip(configs, plain, strict=True):
        told = f"{'+'.join(config.tasks)} {config.memory} ℓ={config.projection.length}"
        more = (f"{key.split('.')[-1]}={settings[key]}" for key in kept[len(_NAMED) :])
        names.append(" ".join([told, *more]))
    return names


class _RunState:
    """What is known of one run."""

    def __init__(self, config: Any, name: str):
        self.name, self.n_updates = f"{name} seed {config.seed}", config.n_updates
        self.state, self.update, self.told = "waiting", 0, time.monotonic()
        self.before: int | None = None  # updates of a run that is resumed
        self.returns = {"train/episode_return": math.nan, held_out(config): math.nan}

    def take(self, row: dict[str, Any]) -> None:
        self.update = row["update"]
        if self.before is None:
            self.before = self.update - 1
        for name in self.returns:
            value = row.get(name)
            if value is not None and math.isfinite(value):
                self.returns[name] = value

    def __str__(self) -> str:
        train, test = map(number, self.returns.values())
        updates = f" {self.update}/{self.n_updates} train {train} test {test}"
        return f"{self.name} {self.state}{updates if self.update else ''}"


class SweepView:
    """Display of the events of a sweep; `n_done` counts the runs that are done."""

    def __init__(self, configs: Sequence[Any], *, quiet: bool = False):
        named = zip(configs, cell_names(configs), strict=True)
        self._runs = {config: _RunState(config, name) for config, name in named}
        self._console = Console(stderr=True)
        self._quiet, self._began = quiet, time.monotonic()
        self._is_live = self._console.is_terminal and not quiet
        self._live = self._console.status("")

    def __enter__(self) -> SweepView:
        if self._is_live:
            self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._live.stop()

    @property
    def n_done(self) -> int:
        """How many runs are done."""
        return sum(run.state == "done" for run in self._runs.values())

    def show(self, event: Any) -> None:
        """Show one event of an engine."""
        run = self._runs[event.config]
        if event.row is not None:
            run.take(event.row)
        run.state = _STATES.get(event.kind, str(event.kind))
        if self._quiet:
            return
        n_ended = sum(each.state in _ENDED for each in self._runs.values())
        line = f"[{n_ended}/{len(self._runs)}] {run}"
        if event.kind in ("retry", "failed"):
            again = "tried again" if event.kind == "retry" else "given up"
            self._print(f"{run.name} failed, {again}:\n{event.text}")
        elif self._is_live:
            shown = printable(f"{line}{self._time_left()}")
            self._live.update(Text(shown, no_wrap=True, overflow="ellipsis"))
        elif event.kind != "row" or time.monotonic() - run.told >= _EVERY:
            run.told = time.monotonic()
            self._print(line)

    def _print(self, text: str) -> None:
        text = printable(text, keep="\n\t")
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _time_left(self) -> str:
        """Say how long the updates that are left take at the pace of those so far."""
        runs = self._runs.values()
        n_done = sum(run.update - (run.before or 0) for run in runs)
        n_left = sum(r.n_updates - r.update for r in runs if r.state not in _ENDED)
        seconds = (time.monotonic() - self._began) / max(n_done, 1) * n_left
        return f", {duration(seconds)} left" if n_done and n_left else ""
