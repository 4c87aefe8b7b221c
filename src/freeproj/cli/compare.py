"""`freeproj compare`: runs, folders of runs, or agents, side by side."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from freeproj.cli.options import json_option
from freeproj.cli.output import columns, echo, number, print_json

if TYPE_CHECKING:
    from freeproj.experiments.dataset import Dataset
    from freeproj.findings.answers import Answer

__all__ = ["compare"]

_WIDEST = 42  # of a name, so that a row fits 80 columns


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="A B...")
@click.option("--along", metavar="SETTING", help="Compare this setting's values only.")
@click.option("--on", help="Test projection. Default: random ones.")
@json_option
def compare(
    sources: tuple[str, ...], along: str | None, on: str | None, as_json: bool
) -> None:
    """Compare A, B, …: each a run, a folder of runs, an agent, or published:NAME.

    Several are compared with the first, configuration by configuration; of a single
    one, the settings that vary are compared. A run's score is the mean return per
    trial of its last three evaluations; differences are between runs of the same seed,
    and a verdict needs at least three such pairs. An agent that ships with freeproj, or
    an exported file, has the returns on its card.
    """
    from freeproj.experiments.measures import tested_maps
    from freeproj.findings.labels import map_title

    found = {source: _read(source) for source in dict.fromkeys(sources)}
    for source, dataset in found.items():
        for path, health, reason in dataset.set_aside:
            echo(f"Left out as {health}: {path}: {reason}", err=True)
        if not len(dataset):
            raise ValueError(f"{source}: no runs that can be read.")
        if on and not any(on in tested_maps(run) for run in dataset.runs):
            raise ValueError(f"{source}: no run was tested on {on!r}.")
    named = {_name(source, found): dataset for source, dataset in found.items()}
    on = on or next(iter(found.values())).test_map
    answers = _answers(named, along, on)
    differences = _differences(named)
    rows = [
        row
        for name, dataset in named.items()
        for row in _rows(name if len(named) > 1 else "", dataset, on)
    ]
    if as_json:
        told = [_plain(answer) for answer in answers]
        parts = {"differences": differences, "rows": rows, "answers": told}
        print_json({"on": on, **parts})
        return
    echo(f"Return per trial on {map_title(on)}, last three evaluations of each run\n")
    lines = [str(answer) for answer in answers]
    lines += _difference_lines(differences) if len(named) > 1 else []
    echo("\n".join([_table(rows), "", *map(_wrapped, lines)]))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 79, break_on_hyphens=False)


def _read(source: str) -> Dataset:
    """Read runs, or the card of an exported agent as one run."""
    from freeproj.experiments.agents import PRETRAINED, load_agent
    from freeproj.experiments.dataset import Dataset, read_dataset
    from freeproj.experiments.measures import metric_of
    from freeproj.experiments.records import RunRecord
    from freeproj.experiments.settings import flat_settings, to_toml
    from freeproj.experiments.store import is_stored
    from freeproj.storage.toml import parse_toml

    path = Path(source)
    if source not in PRETRAINED and (path.suffix != ".npz" or is_stored(path)):
        return read_dataset(source)
    loaded = load_agent(source)
    config, returns = loaded.config, loaded.card.get("returns", {})
    metrics = {
        metric_of(name): np.array([config.n_trials * one["mean"]])
        for name, one in returns.items()
        if one.get("mean") is not None
    }
    table = parse_toml(to_toml(config), source) | {"written_by": {}}
    updates = np.array([config.n_updates])
    one = RunRecord(source, flat_settings(table), "finished", updates, metrics)
    return Dataset((one,))


def _differences(named: dict[str, Dataset]) -> dict[str, dict[str, list]]:
    """Return the settings whose values differ between sources, with the values."""
    keys = dict.fromkeys(
        key for data in named.values() for run in data.runs for key in run.settings
    )
    found = {}
    for key in keys:
        values = {
            name: sorted({run.settings.get(key) for run in data.runs}, key=str)
            for name, data in named.items()
        }
        if len({tuple(each) for each in values.values()}) > 1:
            found[key] = values
    return found


def _difference_lines(differences: dict[str, dict[str, list]]) -> list[str]:
    from freeproj.findings.labels import value_text

    if not differences:
        return ["All settings and seeds are the same."]
    parts = [
        f"{key} "
        + " against ".join(
            ", ".join(value_text(key, value) for value in values) or "–"
            for values in sides.values()
        )
        for key, sides in differences.items()
    ]
    what = "one setting" if len(parts) == 1 else f"{len(parts)} settings"
    return [f"They differ in {what}: {'; '.join(parts)}."]


def _name(source: str, found: dict[str, Dataset]) -> str:
    """Return the last part of a path, if that is enough to tell the sources apart."""
    name = Path(source).name or source
    alike = sum((Path(each).name or each) == name for each in found)
    return name if alike == 1 else source


def _answers(named: dict[str, Dataset], along: str | None, on: str) -> list[Answer]:
    from freeproj.findings.comparing import compare_axes, compare_sources

    if len(named) > 1 and along is None:
        return [compare_sources(named, on)]
    if len(named) > 1:
        raise ValueError("--along compares the settings of one folder; name one.")
    (dataset,) = named.values()
    found = compare_axes(dataset, *([along] if along else []), on=on)
    if not found:
        raise ValueError(
            f"All these runs have the same {along or 'settings'}; name others to "
            "compare them with."
        )
    return found


def _rows(source: str, dataset: Dataset, on: str) -> Iterator[dict[str, Any]]:
    """Yield what the seeds of each configuration say together."""
    from freeproj.experiments.measures import map_of, metric_of, score
    from freeproj.findings.labels import settings_text
    from freeproj.stats.intervals import summarise

    for cell, group in dataset.group_by(*dataset.axes).items():
        which = settings_text(dict(zip(dataset.axes, cell, strict=True)))
        scores = [
            score(run, metric_of(map_of(run, on))) / run.settings["n_trials"]
            for run in group.runs
        ]
        found = summarise([value for value in scores if math.isfinite(value)])
        yield {
            "runs": ": ".join(part for part in (source, which) if part),
            "mean": found.mean,
            "interval": found.interval and found.interval[:2],
            "seeds": found.n,
            "without": len(group) - found.n,
        }


def _plain(answer: Answer) -> dict[str, Any]:
    names = ("status", "sentence", "selection", "unit")
    pooled = answer.pooled
    return {
        **{name: getattr(answer, name) for name in names},
        "outcome": str(answer.outcome),
        "mean": pooled and pooled.mean,
        "interval": pooled and pooled.interval and pooled.interval[:2],
        "comparisons": len(answer.findings),
    }


def _table(rows: list[dict[str, Any]]) -> str:
    cells = [("runs", "mean", "95 % interval", "seeds")]
    for row in rows:
        name, ends, n = row["runs"], row["interval"], row["seeds"]
        interval = ends and " to ".join(number(end, 3) for end in ends)
        seeds = f"{n} of {n + row['without']}" if row["without"] else str(n)
        name = name if len(name) <= _WIDEST else f"{name[: _WIDEST - 1]}…"
        cells.append((name, number(row["mean"], 3), interval or "–", seeds))
    return columns(cells)
