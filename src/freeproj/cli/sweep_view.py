"""The runs of a sweep while they go on: a live table on a terminal, else lines."""

from __future__ import annotations

import collections
import math
import time
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from freeproj.cli.output import number
from freeproj.experiments.progress import held_out
from freeproj.findings.labels import duration
from freeproj.storage.names import printable

__all__ = ["SweepView", "cell_names"]

_NAMED = ("task", "memory", "projection.length")
_EVERY = 30.0  # seconds between two lines about one run, where there is no terminal
_NEXT = 4  # waiting runs that are shown before those that are done
_STYLES = {"running": "bold", "failed": "red", "elsewhere": "dim", "done": "green"}
_AFTER = {"started": "running", "row": "running", "retry": "waiting"}


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
        self.config, self.name, self.state = config, printable(name), "waiting"
        self.update = 0
        self.returns = {"train/episode_return": math.nan, held_out(config): math.nan}
        self.began = self.changed = self.told = time.monotonic()
        self.first_update: int | None = None  # a resumed run does not begin at 0

    def take(self, row: dict[str, Any]) -> None:
        self.changed, self.update = time.monotonic(), row["update"]
        if self.first_update is None:  # rates are without compilation
            self.first_update, self.began = self.update, self.changed
        for name in self.returns:
            value = row.get(name)
            if value is not None and math.isfinite(value):
                self.returns[name] = value

    def cells(self) -> list[str]:
        n_updates, left = self.update - (self.first_update or 0), ""
        if self.state == "running" and n_updates:
            rate = (self.changed - self.began) / n_updates
            left = duration(rate * (self.config.n_updates - self.update))
        updates = f"{self.update}/{self.config.n_updates}"
        return [self.state, updates, *map(number, self.returns.values()), left]


class SweepView:
    """Display of the events of a sweep; `n_done` counts the runs that are done."""

    def __init__(self, configs: Sequence[Any], *, quiet: bool = False):
        self._runs = {
            config: _RunState(config, name)
            for config, name in zip(configs, cell_names(configs), strict=True)
        }
        self._console = Console(stderr=True)
        self._quiet, self._began = quiet, time.monotonic()
        self._is_live = self._console.is_terminal and not quiet
        self._live = Live(console=self._console, get_renderable=self._table)

    def __enter__(self) -> SweepView:
        if self._is_live:
            self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._live.stop()

    @property
    def n_done(self) -> int:
        """How many runs are done."""
        return len(self._in("done"))

    def show(self, event: Any) -> None:
        """Show one event of an engine."""
        run = self._runs[event.config]
        if event.row is not None:
            run.take(event.row)
        run.state = _AFTER.get(event.kind, str(event.kind))
        if event.kind == "started":
            run.first_update = None
        if self._quiet:
            return
        name = f"{run.name} seed {run.config.seed}"
        is_due = event.kind != "row" or time.monotonic() - run.told >= _EVERY
        if event.kind in ("retry", "failed"):
            again = "tried again" if event.kind == "retry" else "given up"
            self._print(f"{name} failed, {again}:\n{event.text}")
        elif not self._is_live and is_due:
            run.told = time.monotonic()
            state, updates, train, test, _ = run.cells()
            numbers = f" {updates} train {train} test {test}" if run.update else ""
            n_ended = len(self._in("done", "failed"))
            self._print(f"[{n_ended}/{len(self._runs)}] {name} {state}{numbers}")

    def _print(self, text: str) -> None:
        text = printable(text, keep="\n\t")
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _table(self) -> Group:
        """Return a table of as many runs as fit, and a summary line of all runs."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("run", "state", "update", "train", "test", "time left"):
            justify = "left" if name in ("run", "state") else "right"
            table.add_column(name, justify=justify, no_wrap=True)
        waiting, active = (
            self._in("waiting"),
            self._in("failed", "running", "elsewhere"),
        )
        done = sorted(self._in("done"), key=lambda run: -run.changed)
        runs = [*active, *waiting[:_NEXT], *done, *waiting[_NEXT:]]
        room, width = max(4, self._console.height - 9), self._console.width - 56
        for run in runs[:room]:
            name = run.name if len(run.name) <= width else f"{run.name[: width - 1]}…"
            style = _STYLES.get(run.state, "")
            table.add_row(f"{name} seed {run.config.seed}", *run.cells(), style=style)
        hidden = [f"… and {_counts(runs[room:])}"] if runs[room:] else []
        return Group(table, *hidden, self._summary(runs))

    def _in(self, *states: str) -> list[_RunState]:
        runs = self._runs.values()
        return [run for state in states for run in runs if run.state == state]

    def _summary(self, runs: list[_RunState]) -> str:
        passed, n_ended = (
            time.monotonic() - self._began,
            len(self._in("done", "failed")),
        )
        text = f"{len(runs)} runs: {_counts(runs)}; {duration(passed)} so far"
        if not 0 < n_ended < len(runs):
            return text
        left = passed / n_ended * (len(runs) - n_ended)
        return f"{text}, about {duration(left)} left"


def _counts(runs: Sequence[_RunState]) -> str:
    counts = sorted(collections.Counter(run.state for run in runs).items())
    return ", ".join(f"{count} {state}" for state, count in counts)
