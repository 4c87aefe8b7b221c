"""`freeproj published`: the results that come with the package."""

from __future__ import annotations

import json
from typing import Any

import click

from freeproj.cli.progress import working

__all__ = ["published"]

# Settings that follow from a task's budget: they tell no cells apart.
_FOLLOW = ("network.", "n_updates", "n_trials", "evaluation.")


@click.command()
@click.argument("name", default="")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def published(name: str, as_json: bool) -> None:
    """List the published studies, or print the returns of the study NAME."""
    with working("reading"):
        from freeproj.published import names
        from freeproj.published import published as read

        found = [read(each) for each in ([name] if name else names())]
    if as_json and name:
        click.echo(
            json.dumps({**found[0].summary, "cells": _cells(found[0])}, indent=2)
        )
    elif as_json:
        click.echo(json.dumps({"studies": [each.summary for each in found]}, indent=2))
    else:
        lines = _table(found[0]) if name else [_line(each.summary) for each in found]
        click.echo("\n".join(lines) or "No study is published yet.")
        if not name and lines:
            click.echo(
                "\nfreeproj published NAME prints one; freeproj report "
                "--published draws them."
            )


def _line(summary: dict[str, Any]) -> str:
    seeds = sorted(set(summary["seeds_per_cell"].values()))
    spread = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    return (
        f"{summary['study']}: {summary['runs']} runs, {spread} seeds per cell, tasks: "
        f"{len(summary['seeds_per_cell'])}\n  {summary['cpu_hours']} CPU hours, "
        f"{summary['date']}, version {summary['version']}"
    )


def _cells(study: Any) -> list[dict[str, Any]]:
    from freeproj.published import cell_returns

    return [
        {**row, "paper": _paper(row["cell"])} for row in cell_returns(study.dataset)
    ]


def _paper(cell: dict[str, Any]) -> dict[str, Any] | None:
    """The paper's own Table 1 beside a cell, per trial; GRU unless the cell says so."""
    from freeproj.report.paper.numbers import PAPER_RESULTS

    method = "RP" if cell.get("projection.length") == 1 else "FRP"
    row = PAPER_RESULTS.get((str(cell.get("task")), method, cell.get("memory", "gru")))
    if row is None:
        return None
    raw, mmer = row.raw.mean / 16, row.mmer.mean / 16
    return {"method": method, "raw": round(raw, 4), "mmer": round(mmer, 4)}


def _table(study: Any) -> list[str]:
    """Returns per trial; a block for each task, a line for each cell."""
    cells, lines = _cells(study), [_line(study.summary), ""]
    maps = list(dict.fromkeys(name for row in cells for name in row["maps"]))
    lines.append("Mean return per trial ± half of the 95 % interval, last evaluations.")
    for task in dict.fromkeys(row["cell"].get("task", "") for row in cells):
        rows = [row for row in cells if row["cell"].get("task", "") == task]
        lines += ["", _head(task, maps), *(_row(row, maps) for row in rows)]
    return [*lines, "", "paper: Table 1, raw value / 16 (RP at ℓ = 1, else FRP)."]


def _head(task: str, maps: list[str]) -> str:
    return (
        f"{task:<25}" + "".join(f"{name[:10]:>12}" for name in maps) + f"{'paper':>7}"
    )


def _row(row: dict[str, Any], maps: list[str]) -> str:
    axes = {key: value for key, value in row["cell"].items() if key != "task"}
    label = " ".join(filter(None, (_short(*each) for each in axes.items())))
    shown = [_shown(row["maps"].get(name)) for name in maps]
    paper = f"{row['paper']['raw']:.2f}" if row["paper"] else "–"
    return (
        f"{label[:25]:<25}" + "".join(f"{each:>12}" for each in shown) + f"{paper:>7}"
    )


def _short(key: str, value: Any) -> str:
    if key == "projection.length":
        return f"ℓ={value}"
    if key == "redraw_every":
        return "fixed" if value == 0 else "fresh"
    if key in ("projection.family", "memory", "observation", "trials"):
        return str(value)
    return "" if key.startswith(_FOLLOW) else f"{value}"


def _shown(estimate: dict[str, Any] | None) -> str:
    if estimate is None or estimate["mean"] is None:
        return "–"
    mean = round(estimate["mean"], 2) + 0.0  # never -0.00
    if estimate["low"] is None:
        return f"{mean:.2f}"
    return f"{mean:.2f}±{(estimate['high'] - estimate['low']) / 2:.2f}"
