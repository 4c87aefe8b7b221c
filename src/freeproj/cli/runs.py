"""`freeproj runs`: the runs of a folder, each with its health."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.output import echo
from freeproj.cli.progress import working
from freeproj.cli.sweep_view import duration

if TYPE_CHECKING:
    from freeproj.experiments.dataset import Dataset
    from freeproj.experiments.records import RunRecord

__all__ = ["runs"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@click.option(
    "--health", help="Only runs of this health: running, finished, diverged or damaged."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def runs(folder: Path, health: str | None, as_json: bool) -> None:
    """List the runs below FOLDER with health, progress and last return.

    Only settings that differ between the runs are shown. Runs that cannot be used are
    listed with the reason.
    """
    from freeproj.experiments.dataset import read_dataset
    from freeproj.experiments.records import HEALTHS

    if health is not None and health not in HEALTHS:
        raise ValueError(f"No health {health!r}. Known: {', '.join(HEALTHS)}.")
    with working(f"{folder}"):
        dataset = read_dataset(folder)
    if as_json:
        echo(json.dumps(_plain(dataset, health), indent=2))
    else:
        _print(dataset, folder, health)


def _plain(dataset: Dataset, health: str | None) -> dict[str, Any]:
    found = [
        {
            "name": run.name,
            "health": run.health,
            "update": _last(run),
            "n_updates": run.settings["n_updates"],
            "seconds": None if math.isnan(run.seconds) else run.seconds,
            "seed": run.seed,
            "settings": {axis: run.settings.get(axis) for axis in dataset.axes},
            "return": None if math.isnan(_return(run)) else _return(run),
        }
        for run in dataset.runs
        if health in (None, run.health)
    ]
    aside = [
        {"name": str(path), "health": kind, "reason": reason}
        for path, kind, reason in dataset.set_aside
        if health in (None, kind)
    ]
    counts = dataset.health_counts()
    return {"axes": dataset.axes, "counts": counts, "runs": found, "set_aside": aside}


def _print(dataset: Dataset, folder: Path, health: str | None) -> None:
    head = ["health", "update", *dataset.axes, "seed", "time", "return"]
    rows = [
        _row(run, dataset.axes) for run in dataset.runs if health in (None, run.health)
    ]
    if rows:
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        for row in (head, *rows):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            echo("  ".join(cells).rstrip())
    for path, kind, reason in dataset.set_aside:
        if health in (None, kind):
            echo(f"{kind}: {path}: {reason}")
    counts = (f"{n} {name}" for name, n in dataset.health_counts().items())
    echo(f"{folder}: {', '.join(counts) or 'no runs'}.")
    waiting = [run for run in dataset.runs if run.health == "running" and run.folder]
    if waiting:
        first = waiting[0].folder
        assert first is not None
        echo(
            "Resume an interrupted run: "
            f"freeproj train {first / 'config.toml'} --out {first.parent}"
        )


def _row(run: RunRecord, axes: tuple[str, ...]) -> list[str]:
    value = _return(run)
    return [
        run.health,
        f"{_last(run)}/{run.settings['n_updates']}",
        *(_text(run.settings.get(axis)) for axis in axes),
        str(run.seed),
        "–" if math.isnan(run.seconds) else duration(run.seconds),
        "–" if math.isnan(value) else f"{value:.3f}",
    ]


def _last(run: RunRecord) -> int:
    return int(run.updates[-1]) if len(run.updates) else 0


def _return(run: RunRecord) -> float:
    """Return the last held-out return, under the first map."""
    from freeproj.experiments.measures import map_of, metric_of, score

    return score(run, metric_of(map_of(run)), "final")


def _text(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
