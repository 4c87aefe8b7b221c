"""`freeproj runs`: the runs of a folder, each with its health."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.options import json_option
from freeproj.cli.output import columns, echo, number, print_json
from freeproj.cli.progress import working
from freeproj.findings.labels import duration

if TYPE_CHECKING:
    from freeproj.experiments.dataset import Dataset
    from freeproj.experiments.records import RunRecord

__all__ = ["runs"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@json_option
def runs(folder: Path, as_json: bool) -> None:
    """List the runs below FOLDER with health, progress and last return.

    Only settings that differ between the runs are shown. Runs that cannot be used are
    listed with the reason.
    """
    from freeproj.experiments.dataset import read_dataset

    with working(f"{folder}"):
        dataset = read_dataset(folder)
    if as_json:
        print_json(_plain(dataset))
    else:
        _print(dataset, folder)


def _plain(dataset: Dataset) -> dict[str, Any]:
    found = [
        {
            "name": run.name,
            "health": run.health,
            "update": _last(run),
            "n_updates": run.settings["n_updates"],
            "seconds": run.seconds,
            "seed": run.seed,
            "settings": {axis: run.settings.get(axis) for axis in dataset.axes},
            "return": _return(run),
        }
        for run in dataset.runs
    ]
    aside = [
        {"name": str(path), "health": kind, "reason": reason}
        for path, kind, reason in dataset.set_aside
    ]
    counts = dataset.health_counts()
    return {"axes": dataset.axes, "counts": counts, "runs": found, "set_aside": aside}


def _print(dataset: Dataset, folder: Path) -> None:
    head = ["health", "update", *dataset.axes, "seed", "time", "return"]
    if dataset.runs:
        echo(columns([head, *(_row(run, dataset.axes) for run in dataset.runs)]))
    for path, kind, reason in dataset.set_aside:
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
    return [
        run.health,
        f"{_last(run)}/{run.settings['n_updates']}",
        *(_text(run.settings.get(axis)) for axis in axes),
        str(run.seed),
        duration(run.seconds),
        number(_return(run), 3),
    ]


def _last(run: RunRecord) -> int:
    return int(run.updates[-1]) if len(run.updates) else 0


def _return(run: RunRecord) -> float:
    """Return the last held-out return, under the first map."""
    from freeproj.experiments.measures import map_of, metric_of, score

    return score(run, metric_of(map_of(run)), "final")


def _text(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
