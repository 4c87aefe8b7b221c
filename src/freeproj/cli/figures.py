"""`freeproj figure NAME`, `freeproj figures` and `freeproj table NAME`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from freeproj.cli.options import (
    FILE,
    import_option,
    json_option,
    parse_settings,
    set_option,
)
from freeproj.experiments.progress import working

if TYPE_CHECKING:
    from freeproj.experiments.dataset import Dataset

__all__ = ["figure", "figures", "table", "table_width"]

_FORMATS = ("terminal", "markdown", "latex", "csv", "json")
_WIDE = 240


@click.command()
@click.argument("name")
@click.option("--out", type=FILE, help="File: .png, .svg or .pdf. Default: NAME.png.")
@click.option(
    "--from",
    "numbers_from",
    type=FILE,
    help="Draw the numbers in this .npz file instead of computing them.",
)
@click.option(
    "--runs",
    metavar="RUNS",
    help="For figures of training runs: their folder, or published:NAME. Default: the "
    "folder runs, or else the runs of `freeproj reproduce` in results.",
)
@set_option("Change an option of the figure, e.g. depth=7")
@import_option
def figure(
    name: str,
    out: Path | None,
    numbers_from: Path | None,
    runs: str | None,
    settings: tuple[str, ...],
) -> None:
    """Draw figure NAME and save its numbers in an .npz file beside it.

    `freeproj figures` lists the names.
    """
    from freeproj.report.figures import find, make_figure

    options, dataset = parse_settings(settings), None
    needs_runs = find(name).needs_runs and numbers_from is None
    if runs is not None and not needs_runs:
        click.echo(f"{name} is not drawn from runs; --runs is ignored.", err=True)
    with working(name):
        if needs_runs and (source := runs or _usual_runs()):
            dataset = _read(source)
        file = out or Path(f"{name.replace(':', '.')}.png")
        paths = make_figure(name, file, numbers_from, options, dataset)
    for path in paths:
        click.echo(path)


def _read(source: str | Path) -> Dataset:
    from freeproj.experiments.dataset import read_dataset

    dataset = read_dataset(source)
    if not dataset.runs:
        raise ValueError(_no_runs(str(source), dataset))
    return dataset


def _usual_runs() -> Path | None:
    """Return the first of the commands' default folders that exists."""
    scales = ("paper", "laptop", "quick")
    usual = [Path("runs"), *(Path("results") / f"runs-{scale}" for scale in scales)]
    for folder in usual:
        if folder.is_dir():
            click.echo(f"Runs: {folder}", err=True)
            return folder
    return None


@click.command()
@import_option
def figures() -> None:
    """List the figures that `freeproj figure` can draw."""
    from freeproj.report.figures import FIGURES, find

    width = max(map(len, FIGURES))
    for spec in map(find, FIGURES):
        runs = " [needs --runs]" if spec.needs_runs else ""
        click.echo(f"{spec.name:<{width}}  {spec.title}{runs}")


@click.command()
@click.argument("name")
@click.option(
    "--runs",
    "sources",
    multiple=True,
    metavar="RUNS",
    help="A folder of runs, a dataset file (.npz) or published:NAME; may be repeated.",
)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="terminal")
@json_option
@click.option("--wide", is_flag=True, help="All columns, however wide.")
@import_option
@click.option("--out", type=FILE, help="Write to this file instead of printing.")
def table(
    name: str,
    sources: tuple[str, ...],
    form: str,
    as_json: bool,
    wide: bool,
    out: Path | None,
) -> None:
    """Print a table of your runs beside the paper's numbers.

    NAME is table-results (Table 1), table-lengths (Table 2), table-held-out (tasks
    held out from training) or table-maps (returns per trial on every test projection).
    Columns that do not fit the terminal are left out.
    """
    from freeproj.report.tables import TABLES, format_table

    TABLES.resolve(name)
    if not sources:
        raise ValueError("Give the results: --runs FOLDER (or published:NAME).")
    from freeproj.experiments.dataset import read_dataset
    from freeproj.storage.files import write_text

    with working(name):
        dataset = read_dataset(*sources)
        if not dataset.runs:
            raise ValueError(_no_runs(", ".join(sources), dataset))
        width = table_width(wide or out is not None)
        text = format_table(name, dataset, "json" if as_json else form, width)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text)
        click.echo(out)


def table_width(wide: bool = False) -> int:
    """Return how wide a table may be: the terminal's width, or any width."""
    return _WIDE if wide else max(60, shutil.get_terminal_size((80, 24)).columns)


def _no_runs(source: str, dataset: Dataset) -> str:
    from freeproj.findings.labels import run_counts

    if dataset.set_aside:
        return f"{source}: no run that can be read. {run_counts(dataset)}"
    return f"{source} holds no runs; `freeproj sweep quick --out DIR` makes some."
