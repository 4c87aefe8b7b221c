"""`freeproj published`: the results that come with the package."""

from __future__ import annotations

import json
import math
from typing import Any

import click

from freeproj.cli.progress import working
from freeproj.cli.table import table_width

__all__ = ["published"]


@click.command()
@click.argument("name", default="")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--wide", is_flag=True, help="All columns, however wide.")
def published(name: str, as_json: bool, wide: bool) -> None:
    """List the studies whose results ship with freeproj, or print study NAME."""
    with working("reading"):
        from freeproj.published import names
        from freeproj.published import published as read

        found = [read(each) for each in ([name] if name else names())]
        if as_json:
            text = json.dumps(_as_json(found, bool(name)), indent=2)
        elif name:
            text = _returns(found[0], table_width(wide))
        else:
            text = _list(found)
    click.echo(text)


def _list(studies: list[Any]) -> str:
    if not studies:
        return "No study is published yet."
    lines = [_line(study.summary) for study in studies]
    more = "freeproj published NAME prints one; freeproj report --published draws them."
    return "\n".join([*lines, "", more])


def _line(summary: dict[str, Any]) -> str:
    seeds = sorted(set(summary["seeds_per_cell"].values()))
    spread = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    n_tasks = len(summary["seeds_per_cell"])
    return (
        f"{summary['study']}: {summary['runs']} runs, {spread} seeds per cell, "
        f"{n_tasks} task{'s' * (n_tasks != 1)}\n  {summary['cpu_hours']} CPU hours, "
        f"{summary['date']}, version {summary['version']}: {summary['command']}"
    )


def _returns(study: Any, width: int) -> str:
    from freeproj.report.tables import format_table

    table = format_table("table-maps", study.dataset, width=width)
    return f"{_line(study.summary)}\n\n{table}".rstrip()


def _as_json(studies: list[Any], with_cells: bool) -> dict[str, Any]:
    if not with_cells:
        return {"studies": [study.summary for study in studies]}
    from freeproj.report.tables.maps import map_records

    cells = [_cell(record) for record in map_records(studies[0].dataset)]
    return {**studies[0].summary, "cells": cells}


def _cell(record: Any) -> dict[str, Any]:
    """Return a cell with its returns per trial; null where there is no data."""
    flat = record.flat()
    beside = ("chance", "blind", "ceiling", "paper_raw", "paper_mmer")
    return {
        "cell": record.settings,
        "steps": record.steps,
        "maps": {name: _estimate(each) for name, each in record.maps.items()},
        "mmer": _estimate(record.mmer),
        **{name: _number(flat[name]) for name in beside},
    }


def _estimate(summary: Any) -> dict[str, Any]:
    low, high = (summary.interval or (math.nan, math.nan))[:2]
    numbers = {"mean": summary.mean, "low": low, "high": high}
    return {**{k: _number(v) for k, v in numbers.items()}, "seeds": summary.n}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
