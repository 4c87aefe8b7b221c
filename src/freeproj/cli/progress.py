"""Progress of long work: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

__all__ = ["track", "working"]

_Item = TypeVar("_Item")


def track(
    items: Sequence[_Item], name: Callable[[_Item], str], *, quiet: bool = False
) -> Iterator[_Item]:
    """Yield the items and show on standard error which one is being worked on."""
    console = Console(stderr=True)
    if quiet:
        yield from items
    elif console.is_terminal:
        yield from _bar(items, name, console)
    else:
        yield from _lines(items, name, console)


@contextmanager
def working(on: str) -> Iterator[None]:
    """Show on a terminal that work of unknown length goes on, and for how long."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    if not console.is_terminal:
        yield
        return
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(on, total=None)
        yield


def _bar(items, name, console: Console) -> Iterator:
    columns = (
        TextColumn("{task.description:<24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(items))
        for item in items:
            progress.update(task, description=name(item))
            yield item
            progress.advance(task)


def _lines(items, name, console: Console) -> Iterator:
    for number, item in enumerate(items, start=1):
        start = time.perf_counter()
        yield item
        seconds = time.perf_counter() - start
        console.print(
            f"[{number}/{len(items)}] {name(item)} {seconds:.1f} s", markup=False
        )
