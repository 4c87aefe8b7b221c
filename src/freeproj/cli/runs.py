"""`freeproj runs`: the runs of a folder, each with its health."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.options import json_option
from freeproj.cli.output import columns, echo, number, print_json
from freeproj.experiments.progress import working
from freeproj.findings.labels import axis_name, duration, value_text

if TYPE_CHECKING:
    from freeproj.experiments.dataset import Dataset
    from freeproj.experiments.records import RunRecord

__all__ = ["runs"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@json_option
def runs(folder: Path, as_json: bool) -> None:
    """List the runs below FOLDER with health, progress and last return.

    Beside the task, only settings that differ between the runs are shown. Times are
    those of the updates, without compiling. Runs that cannot be used are listed with
    the reason.
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
            "folder": str(run.folder or ""),
            "task": run.settings["task"],
            "health": run.health,
            "update": _last(run),
            "n_updates": run.settings["n_updates"],
            "seconds": run.seconds,
            "seed": run.seed,
            "settings": {axis: run.settings.get(axis) for axis in dataset.axes},
            "return": _return(run),
        }
        for run in _sorted(dataset)
    ]
    aside = [
        {"name": str(path), "health": kind, "reason": reason}
        for path, kind, reason in dataset.set_aside
    ]
    counts = dataset.health_counts()
    return {"axes": dataset.axes, "counts": counts, "runs": found, "set_aside": aside}


def _print(dataset: Dataset, folder: Path) -> None:
    axes = [axis for axis in dataset.axes if axis != "task"]
    head = ["task", *map(axis_name, axes), "seed", "health", "update", "time", "return"]
    if dataset.runs:
        rows = [_row(run, axes) for run in _sorted(dataset)]
        echo(columns([[*head, "folder"], *rows]))
    for path, kind, reason in dataset.set_aside:
        echo(f"{kind}: {path}: {reason}")
    counts = (f"{n} {name}" for name, n in dataset.health_counts().items())
    echo(f"{folder}: {', '.join(counts) or 'no runs'}.")
    waiting = [run for run in dataset.runs if run.health == "running" and run.folder]
    if waiting:
        first = waiting[0].folder
        assert first is not None
        config, out = map(shlex.quote, (str(first / "config.toml"), str(first.parent)))
        echo(f"Resume an interrupted run: freeproj train {config} --out {out}")


def _sorted(dataset: Dataset) -> list[RunRecord]:
    """Return the runs by task, by the settings that vary, and by seed."""
    groups = dataset.group_by("task", *dataset.axes).values() if dataset.runs else ()
    return [
        run for each in groups for run in sorted(each.runs, key=lambda run: run.seed)
    ]


def _row(run: RunRecord, axes: Sequence[str]) -> list[str]:
    return [
        str(run.settings["task"]).rpartition(":")[2],
        *(value_text(axis, run.settings.get(axis)) for axis in axes),
        str(run.seed),
        run.health,
        f"{_last(run)}/{run.settings['n_updates']}",
        duration(run.seconds),
        number(_return(run), 3),
        _short(run.folder),
    ]


def _short(folder: Path | None) -> str:
    """Write a run's folder for a shell: `runs/*-6a7d5d71fa36` is the one it matches."""
    if folder is None:
        return "–"
    _, dash, end = folder.name.rpartition("-")
    parent = shlex.quote(str(folder.parent))
    named_by_hash = dash and re.fullmatch("[0-9a-f]{12}", end)
    return f"{parent}/*-{end}" if named_by_hash else shlex.quote(str(folder))


def _last(run: RunRecord) -> int:
    return int(run.updates[-1]) if len(run.updates) else 0


def _return(run: RunRecord) -> float:
    """Return the last return on the first test projection."""
    from freeproj.experiments.measures import map_of, metric_of, score

    return score(run, metric_of(map_of(run)), "final")
