"""`freeproj runs` and `freeproj compare`: runs, their folders and agents as a table."""

from __future__ import annotations

import math
import re
import shlex
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import freeproj as fp
from freeproj.cli.options import json_option
from freeproj.cli.output import answer_facts, columns, echo, fill, number, show
from freeproj.experiments import measures
from freeproj.experiments.dataset import Dataset, read_dataset
from freeproj.experiments.progress import working
from freeproj.experiments.records import RunRecord
from freeproj.findings import labels

if TYPE_CHECKING:
    from freeproj.findings.answers import Answer

__all__ = ["compare", "runs"]

_WIDEST = 42  # of a line of a name, so that a row fits 80 columns
_MOST = 12  # settings that are named


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@json_option
def runs(folder: Path, as_json: bool) -> None:
    """List the runs below FOLDER with health, progress and last return.

    Beside the task, only settings that differ between the runs are shown. Times are
    those of the updates, without compiling. Runs that cannot be used are listed with
    the reason.
    """
    if not folder.exists():
        made = "`freeproj train smoke` makes runs in the folder runs."
        raise ValueError(f"{folder}: no such folder of runs; {made}")
    with working(f"{folder}"):
        dataset = read_dataset(folder)
    groups = dataset.group_by("task", *dataset.axes, "seed").values()
    found = [_run_facts(run, dataset.axes) for each in groups for run in each.runs]
    counts = dataset.health_counts()
    aside = [
        {"name": str(path), "health": health, "reason": reason}
        for path, health, reason in dataset.set_aside
    ]
    facts = {"axes": dataset.axes, "counts": counts, "runs": found, "set_aside": aside}
    show(facts, _run_lines(dataset, found, folder), as_json)


def _run_facts(run: RunRecord, axes: tuple[str, ...]) -> dict[str, Any]:
    metric = measures.metric_of(measures.map_of(run))  # on the first test projection
    return {
        "name": run.name,
        "folder": str(run.folder or ""),
        "task": run.settings["task"],
        "health": run.health,
        "update": len(run.updates) and int(run.updates[-1]),
        "n_updates": run.settings["n_updates"],
        "seconds": run.seconds,
        "seed": run.seed,
        "settings": {axis: run.settings.get(axis) for axis in axes},
        "return": measures.score(run, metric, "final"),
    }


def _run_lines(dataset: Dataset, found: list[dict], folder: Path) -> list[str]:
    axes = [axis for axis in dataset.axes if axis != "task"]
    names = map(labels.axis_name, axes)
    head = ["task", *names, "seed", "health", "update", "time", "return", "folder"]
    rows = [
        [
            str(run["task"]).rpartition(":")[2],
            *(labels.value_text(axis, run["settings"].get(axis)) for axis in axes),
            *(str(run["seed"]), run["health"], f"{run['update']}/{run['n_updates']}"),
            *(labels.duration(run["seconds"]), number(run["return"], 3)),
            _short(Path(run["folder"])) if run["folder"] else "–",
        ]
        for run in found
    ]
    lines = [columns([head, *rows])] if rows else []
    lines += [f"{kind}: {path}: {reason}" for path, kind, reason in dataset.set_aside]
    counts = [f"{n} {name}" for name, n in dataset.health_counts().items()]
    lines.append(f"{folder}: {', '.join(counts) or 'no runs'}.")
    for run in dataset.runs:
        if run.health == "running" and run.folder:
            config, out = run.folder / "config.toml", run.folder.parent
            again = f"{shlex.quote(str(config))} --out {shlex.quote(str(out))}"
            return [*lines, f"Resume an interrupted run: freeproj train {again}"]
    return lines


def _short(folder: Path) -> str:
    """Write a run's folder for a shell: `runs/*-6a7d5d71fa36` is the one it matches."""
    _, dash, end = folder.name.rpartition("-")
    named_by_hash = dash and re.fullmatch("[0-9a-f]{12}", end)
    parent = shlex.quote(str(folder.parent))
    return f"{parent}/*-{end}" if named_by_hash else shlex.quote(str(folder))


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="A B...")
@click.option("--along", metavar="SETTING", help="Compare this setting's values only.")
@click.option("--on", help="Test projection. Default: random ones.")
@click.option(
    "--pool",
    multiple=True,
    metavar="SETTING",
    help="Pool agents that differ in it, e.g. memory; may be repeated.",
)
@json_option
def compare(
    sources: tuple, along: str | None, on: str | None, pool: tuple, as_json: bool
) -> None:
    """Compare A, B, …: each a run, a folder of runs, an agent, or published:NAME.

    Several are compared with the first, configuration by configuration; of a single
    one, the settings that vary are compared, except tasks. Each memory and projection
    family is judged by itself. A run's score is the mean return per trial of its last
    three evaluations; differences are between runs of the same seed, and a verdict
    needs at least three such pairs. An agent that ships with freeproj, or an exported
    file, has the returns on its card.
    """
    named = _read_all(sources, on)
    on = on or next(iter(named.values())).test_map
    rows = [row for name in named for row in _rows(name, named, on)]
    if not any(row["seeds"] for row in rows):
        why = "None of these runs was tested; `freeproj evaluate` tests one."
        raise ValueError(why)
    answers = _answers(named, along, on=on, pool=pool)
    differences = _differences(named)
    facts = {"on": on, "differences": differences, "rows": rows}
    facts["answers"] = [answer_facts(answer) for answer in answers]
    what = f"Return per trial on {labels.map_title(on)}"
    head = f"{what}, last three evaluations of each run"
    differ = [_difference_line(differences)] if len(named) > 1 else []
    told = [fill(line) for line in (*map(str, answers), *differ)]
    show(facts, [head, "", _table(rows), "", *told], as_json)


def _read_all(sources: tuple[str, ...], on: str | None) -> dict[str, Dataset]:
    """Read all sources, by the last parts of their paths if these differ."""
    short = {source: Path(source).name or source for source in sources}
    alike, named = Counter(short.values()), {}
    for source, name in short.items():
        dataset = _read(source)
        named[name if alike[name] == 1 else source] = dataset
        for path, health, reason in dataset.set_aside:
            echo(f"Left out as {health}: {path}: {reason}", err=True)
        if not len(dataset):
            raise ValueError(f"{source}: no runs that can be read.")
        if on and not any(on in measures.tested_maps(run) for run in dataset.runs):
            raise ValueError(f"{source}: no run was tested on {on!r}.")
    return named


def _read(source: str) -> Dataset:
    """Read runs, or the card of an exported agent as one run."""
    from freeproj.experiments.agents import PRETRAINED
    from freeproj.experiments.settings import flat, flat_settings
    from freeproj.experiments.store import is_stored

    path, is_published = Path(source), source.startswith("published:")
    is_file = path.suffix != ".npz" or is_stored(path)
    if is_published or (source not in PRETRAINED and path.exists() and is_file):
        return read_dataset(source)
    loaded = fp.load_agent(source)
    config, returns = loaded.config, loaded.card.get("returns", {})
    metrics = {
        measures.metric_of(name): np.array([config.n_tested_trials * one["mean"]])
        for name, one in returns.items()
        if one.get("mean") is not None
    }
    settings = flat_settings(flat(config) | {"written_by": {}})
    updates = np.array([config.n_updates])
    return Dataset((RunRecord(source, settings, "finished", updates, metrics),))


def _differences(named: dict[str, Dataset]) -> dict[str, dict[str, list]]:
    """Return the settings whose values differ between sources, with the values."""
    first, *others = (each.runs[0].settings for each in named.values())
    differ = {}
    for key in first:
        if all(key in each for each in others):  # an older version may lack it
            values = {name: [*each.values(key)] for name, each in named.items()}
            if len(set(map(tuple, values.values()))) > 1:
                differ[key] = values
    return differ


def _difference_line(differences: dict[str, dict[str, list]]) -> str:
    if not differences:
        return "All settings and seeds are the same."
    parts = []
    for key, sides in differences.items():
        texts = ([labels.value_text(key, v) for v in each] for each in sides.values())
        parts.append(f"{key} {' against '.join(map(', '.join, texts))}")
    what = "one setting" if len(parts) == 1 else f"{len(parts)} settings"
    if len(parts) > _MOST:
        parts[_MOST:] = [f"{len(parts) - _MOST} more (--json has all)"]
    return f"They differ in {what}: {'; '.join(parts)}."


def _answers(named: dict[str, Dataset], along: str | None, **how: Any) -> list[Answer]:
    from freeproj.findings.comparing import compare_axes, compare_sources

    if len(named) > 1 and along is None:
        return compare_sources(named, **how)
    if len(named) > 1:
        raise ValueError("--along compares the settings of one folder; name one.")
    (dataset,) = named.values()
    found = compare_axes(dataset, *([along] if along else []), **how)
    if not found and (along or not dataset.axes):
        same = f"All these runs have the same {along or 'settings'}"
        raise ValueError(f"{same}; name others to compare them with.")
    return found


def _rows(name: str, named: dict[str, Dataset], on: str) -> Iterator[dict[str, Any]]:
    """Yield what the seeds of each configuration of a source say together."""
    from freeproj.findings.numbers import episode_levels

    dataset, source = named[name], [name] if len(named) > 1 else []
    for row in fp.Study(dataset).table(on).rows:
        cell = dict(zip(dataset.axes, row.cell, strict=True))
        group = dataset.where(cell).runs
        settings, which = group[0].settings, labels.settings_text(cell)
        n, fresh = measures.length_of(settings), settings.get("trials") == "fresh_start"
        task = settings.get("evaluation.task") or settings["task"]
        best = episode_levels(task, n, fresh).ceiling / n
        ends = row.low, float(np.fmin(row.high, best))  # which may not be known
        yield {
            "runs": ": ".join([*source, which] if which else source),
            "mean": row.mean,
            "interval": None if math.isnan(row.low) else ends,
            "seeds": row.seeds,
            "without": len(group) - row.seeds,
        }


def _table(rows: list[dict[str, Any]]) -> str:
    cells = [("runs", "mean", "95 % interval", "seeds")]
    for row in rows:
        n, without = row["seeds"], row["without"]
        ends = row["interval"] and " to ".join(number(e, 3) for e in row["interval"])
        seeds = f"{n} of {n + without}" if without else str(n)
        wrapped = textwrap.wrap(row["runs"], _WIDEST, subsequent_indent="  ")
        name, *rest = wrapped or [""]
        cells.append((name, number(row["mean"], 3), ends or "–", seeds))
        cells += [(line, "", "", "") for line in rest]
    return columns(cells)
