"""`freeproj published`: the results that come with the package."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.figures import table_width
from freeproj.cli.options import json_option
from freeproj.cli.output import print_json
from freeproj.cli.sweep import stated_lines
from freeproj.experiments.progress import working

if TYPE_CHECKING:
    from freeproj.experiments.dataset import Dataset
    from freeproj.findings.answers import Answer

__all__ = ["published"]


@click.command()
@click.argument("name", default="")
@json_option
@click.option("--wide", is_flag=True, help="All columns, however wide.")
def published(name: str, as_json: bool, wide: bool) -> None:
    """List the studies whose results ship with freeproj, or print study NAME."""
    with working("reading"):
        from freeproj.published import load, names

        found = [load(each) for each in ([name] if name else names())]
        if as_json:
            told = _as_json(found, bool(name))
        elif name:
            told = _returns(found[0], table_width(wide))
        else:
            told = _list(found)
    if isinstance(told, str):
        click.echo(told)
    else:
        print_json(told)


def _list(studies: list[Dataset]) -> str:
    if not studies:
        return "No study is published yet."
    lines = [_line(study) for study in studies]
    more = "freeproj published NAME prints one; freeproj report --published draws them."
    return "\n".join([*lines, "", more])


def _line(study: Dataset) -> str:
    from freeproj.published import summary

    told = summary(study)
    counts = [n for pair in told["seeds_per_configuration"].values() for n in pair]
    spread = " to ".join(str(n) for n in dict.fromkeys((min(counts), max(counts))))
    n_tasks = len(told["seeds_per_configuration"])
    looks = told.get("looks", 1)
    judged = f"; judged {looks} times as seeds came in" if looks > 1 else ""
    return (
        f"{told['study']}: {told['runs']} runs, {spread} seeds per configuration, "
        f"{n_tasks} task{'s' * (n_tasks != 1)}{judged}\n  {told['cpu_hours']} CPU "
        f"hours, {told['date']}, version {told['version']}: {told['command']}"
    )


def _returns(study: Dataset, width: int) -> str:
    from freeproj.report.tables import format_table

    table = format_table("table-maps", study, width=width)
    lines = [
        textwrap.fill(f"- {answer}", width, subsequent_indent="  ")
        for answer in _answers(study)
    ]
    stated = "\n".join(stated_lines(study.meta.get("stated", {}))).rstrip()
    parts = [_line(study), stated, table.rstrip(), "\n".join(lines)]
    return "\n\n".join(part for part in parts if part)


def _answers(study: Dataset) -> list[Answer]:
    from freeproj.findings.claims import ask_published

    name = study.meta.get("study")
    return [each for each in ask_published().values() if each.study == name]


def _as_json(studies: list[Dataset], with_cells: bool) -> dict[str, Any]:
    from freeproj.published import summary

    if not with_cells:
        return {"studies": [summary(study) for study in studies]}
    from freeproj.report.tables.maps import map_records

    (study,) = studies
    cells = [_cell(record) for record in map_records(study)]
    names = ("status", "sentence")
    answers = [
        {"question": each.name, "outcome": str(each.outcome)}
        | {name: getattr(each, name) for name in names}
        for each in _answers(study)
    ]
    return {**summary(study), "answers": answers, "cells": cells}


def _cell(record: Any) -> dict[str, Any]:
    """Return a cell with its returns per trial; null where there is no data."""
    flat = record.flat()
    beside = ("chance", "blind", "ceiling", "paper_raw", "paper_mmer")
    return {
        "cell": record.settings,
        "steps": record.steps,
        "maps": {name: _estimate(each) for name, each in record.maps.items()},
        "mmer": _estimate(record.mmer),
        **{name: flat[name] for name in beside},
    }


def _estimate(summary: Any) -> dict[str, Any]:
    low, high = (summary.interval or (None, None))[:2]
    return {"mean": summary.mean, "low": low, "high": high, "seeds": summary.n}
