"""`freeproj compare`: runs, or folders of runs, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.options import json_option
from freeproj.cli.output import columns, echo, number, print_json

if TYPE_CHECKING:
    from freeproj.experiments.dataset import Dataset
    from freeproj.findings.answers import Answer

__all__ = ["compare"]


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="A B...")
@click.option("--along", metavar="SETTING", help="Compare this setting's values only.")
@click.option("--on", help="Test projection. Default: random ones.")
@json_option
def compare(
    sources: tuple[str, ...], along: str | None, on: str | None, as_json: bool
) -> None:
    """Compare A, B, …: each a run, or a folder of runs, or published:NAME.

    Several are compared with the first, configuration by configuration; of a single
    one, the settings that vary are compared. A run's score is the mean return per
    trial of its last three evaluations; differences are between runs of the same seed,
    and a verdict needs at least three such pairs.
    """
    from freeproj.experiments.dataset import read_dataset
    from freeproj.experiments.measures import tested_maps
    from freeproj.findings.labels import map_title

    found = {source: read_dataset(source) for source in dict.fromkeys(sources)}
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
    rows = [
        row
        for name, dataset in named.items()
        for row in _rows(name if len(named) > 1 else "", dataset, on)
    ]
    if as_json:
        told = [_plain(answer) for answer in answers]
        print_json({"on": on, "rows": rows, "answers": told})
        return
    echo(f"Return per trial on {map_title(on)}, last three evaluations of each run\n")
    echo("\n".join([_table(rows), "", *map(str, answers)]))


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
        name, ends, without = row["runs"], row["interval"], row["without"]
        cells.append(
            (
                name if len(name) <= 40 else f"{name[:39]}…",
                number(row["mean"], 3),
                "–" if ends is None else " to ".join(number(end, 3) for end in ends),
                f"{row['seeds']}" + (f" ({without} untested)" if without else ""),
            )
        )
    return columns(cells)
