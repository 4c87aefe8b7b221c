"""`freeproj figure`, `figures`, `table` and `published`: results, printed or drawn."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli import options
from freeproj.cli.output import answer_facts, columns, fill, show
from freeproj.cli.sweep import stated_lines
from freeproj.experiments.dataset import Dataset, read_dataset
from freeproj.experiments.progress import working
from freeproj.findings.labels import run_counts
from freeproj.storage.files import write_text

if TYPE_CHECKING:
    from freeproj.findings.answers import Answer

__all__ = ["figure", "figures", "published", "table"]

_FORMATS = ("terminal", "markdown", "latex", "csv", "json")
_WIDE = 240


@click.command()
@click.argument("name")
@click.option(
    "--out", type=options.FILE, help="File: .png, .svg or .pdf. Default: NAME.png."
)
@click.option("--from", "numbers", type=options.FILE, help="Draw these numbers (.npz).")
@click.option(
    "--runs",
    help="For figures of runs: their folder, or published:NAME. Default: the folder "
    "runs, or else the runs of `freeproj reproduce` in results.",
)
@options.set_option("Change an option of the figure, e.g. depth=7")
@options.import_option
def figure(
    name: str, out: Path | None, numbers: Path | None, runs: str | None, settings: dict
) -> None:
    """Draw figure NAME and save its numbers in an .npz file beside it.

    `freeproj figures` lists the names.
    """
    from freeproj.report.figures import find, make_figure

    needs_runs = find(name).needs_runs and numbers is None
    if runs is not None and not needs_runs:
        click.echo(f"{name} is not drawn from runs; --runs is ignored.", err=True)
    with working(name):
        source = (runs or _usual_runs()) if needs_runs else None
        dataset = _read(source) if source else None
        file = out or Path(f"{name.replace(':', '.')}.png")
        paths = make_figure(name, file, numbers, settings, dataset)
    click.echo("\n".join(map(str, paths)))


def _usual_runs() -> Path | None:
    """Return the first of the commands' default folders that exists."""
    for name in ("runs", *(f"results/runs-{s}" for s in ("paper", "laptop", "quick"))):
        if Path(name).is_dir():
            click.echo(f"Runs: {name}", err=True)
            return Path(name)
    return None


def _read(*sources: str | Path) -> Dataset:
    dataset = read_dataset(*sources)
    if dataset.runs:
        return dataset
    why = "holds no runs; `freeproj sweep quick --out DIR` makes some."
    if dataset.set_aside:
        why = f"holds no run that can be read. {run_counts(dataset)}"
    raise ValueError(f"{', '.join(map(str, sources))} {why}")


@click.command()
@options.import_option
def figures() -> None:
    """List the figures that `freeproj figure` can draw."""
    from freeproj.report.figures import FIGURES, find

    notes = {True: " [needs --runs]", False: ""}
    specs = map(find, FIGURES)
    click.echo(columns([(s.name, f"{s.title}{notes[s.needs_runs]}") for s in specs]))


@click.command()
@click.argument("name")
@click.option(
    "--runs",
    "sources",
    multiple=True,
    help="A folder of runs, a dataset file or published:NAME; may be repeated.",
)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="terminal")
@options.json_option
@options.wide_option
@options.import_option
@click.option("--out", type=options.FILE, help="Write to this file; print its path.")
def table(
    name: str, sources: tuple, form: str, as_json: bool, wide: bool, out: Path | None
) -> None:
    """Print a table of your runs beside the paper's numbers.

    NAME is table-results (Table 1), table-lengths (Table 2), table-held-out (tasks
    held out from training) or table-maps (returns per trial on every test projection).
    Columns that do not fit the terminal are left out.
    """
    from freeproj.report.tables import TABLES, format_table

    TABLES.resolve(name)
    if not sources:
        raise ValueError("Give --runs: a folder, a dataset file or published:NAME.")
    with working(name):
        width = _table_width(wide or out is not None)
        text = format_table(name, _read(*sources), "json" if as_json else form, width)
    if out is not None:
        write_text(out, text)
    click.echo(out or text, nl=out is not None)


def _table_width(wide: bool) -> int:
    """Return how wide a table may be: the terminal's width, or any width."""
    return _WIDE if wide else max(60, shutil.get_terminal_size((80, 24)).columns)


@click.command()
@click.argument("name", default="")
@options.json_option
@options.wide_option
def published(name: str, as_json: bool, wide: bool) -> None:
    """List the studies whose results ship with freeproj, or print study NAME."""
    with working("reading"):
        from freeproj.published import load, names, summary

        if name:
            study = load(name)
            facts = _facts(study) if as_json else {}
            text = "" if as_json else _text(study, _table_width(wide))
        else:
            studies = [summary(load(each)) for each in names()]
            facts = {"studies": studies}
            more = "`freeproj published NAME` prints one; `freeproj report --published`"
            text = f"{_overview(studies)}\n{more} draws them."
    show(facts, text, as_json)


def _overview(studies: Sequence[dict[str, Any]]) -> str:
    """Return a table of studies, and what its columns are."""
    rows = [("study", "runs", "seeds", "tasks", "looks", "hours", "made", "version")]
    for told in studies:
        by_task = told["seeds_per_configuration"].values()
        counts = [count for pair in by_task for count in pair]
        seeds = "–".join(str(n) for n in dict.fromkeys((min(counts), max(counts))))
        sizes = str(told["runs"]), seeds, str(len(by_task)), str(told.get("looks", 1))
        versions = told["version"].replace(" and ", ", ")
        made = f"{told['cpu_hours']:.2f}", told["date"], versions
        rows.append((told["study"], *sizes, *made))
    note = (
        "seeds: of each configuration. looks: how often the results were judged while "
        "seeds came in. hours: of one CPU core. `freeproj sweep STUDY` runs one again."
    )
    return f"{columns(rows)}\n\n{fill(note)}"


def _text(study: Dataset, width: int) -> str:
    from freeproj.published import summary
    from freeproj.report.tables import format_table

    stated = "\n".join(stated_lines(study.meta.get("stated", {})))
    answers = [fill(f"- {answer}", width, indent=2) for answer in _answers(study)]
    table = format_table("table-maps", study, width=width)
    parts = _overview([summary(study)]), stated.rstrip(), table.rstrip()
    return "\n\n".join(part for part in (*parts, "\n".join(answers)) if part)


def _answers(study: Dataset) -> list[Answer]:
    from freeproj.findings.claims import ask_published

    name = study.meta.get("study")
    return [each for each in ask_published().values() if each.study == name]


def _facts(study: Dataset) -> dict[str, Any]:
    """Return a study's summary, answers, and cells as `table-maps` has them."""
    from freeproj.published import summary
    from freeproj.report.tables.maps import map_records

    answers = [answer_facts(each) for each in _answers(study)]
    cells = [{"cell": each.settings, **each.flat()} for each in map_records(study)]
    return {**summary(study), "answers": answers, "cells": cells}
