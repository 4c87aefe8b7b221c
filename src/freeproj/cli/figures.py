"""`freeproj figure NAME` and `freeproj figures`."""

from __future__ import annotations

from pathlib import Path

import click

from freeproj.cli.options import FILE, import_option, parse_settings, set_option
from freeproj.cli.progress import working
from freeproj.report.figures import FIGURES, find, make_figure

__all__ = ["figure", "figures"]


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


def _read(source: str | Path):
    from freeproj.experiments.dataset import read_dataset

    dataset = read_dataset(source)
    if not dataset.runs:
        raise ValueError(
            f"{source} holds no runs; `freeproj sweep quick --out DIR` makes some."
        )
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
    width = max(map(len, FIGURES))
    for spec in map(find, FIGURES):
        runs = " [needs --runs]" if spec.needs_runs else ""
        click.echo(f"{spec.name:<{width}}  {spec.title}{runs}")
