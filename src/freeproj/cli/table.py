"""`freeproj table NAME`: a table of the paper beside the numbers of your runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from freeproj.cli.options import FILE, import_option, json_option
from freeproj.cli.progress import working

__all__ = ["table", "table_width"]

_FORMATS = ("terminal", "markdown", "latex", "csv", "json")
_WIDE = 240


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
    from freeproj.storage.files import write_atomically

    with working(name):
        dataset = read_dataset(*sources)
        if not dataset.runs:
            raise ValueError(_no_runs(sources, dataset))
        width = table_width(wide or out is not None)
        text = format_table(name, dataset, "json" if as_json else form, width)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_atomically(out, lambda file: file.write(text.encode()))
        click.echo(out)


def table_width(wide: bool = False) -> int:
    """Return how wide a table may be: the terminal's width, or any width."""
    return _WIDE if wide else max(60, shutil.get_terminal_size((80, 24)).columns)


def _no_runs(sources: tuple[str, ...], dataset) -> str:
    from freeproj.findings.labels import run_counts

    named = ", ".join(sources)
    if dataset.set_aside:
        return f"{named}: no run that can be read. {run_counts(dataset)}"
    return f"{named} holds no runs; `freeproj sweep quick --out DIR` makes some."
