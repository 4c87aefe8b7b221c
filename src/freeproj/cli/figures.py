"""`freeproj figure NAME` and `freeproj figures`."""

from __future__ import annotations

from pathlib import Path

import click

from freeproj.cli.progress import working
from freeproj.cli.settings import parse_settings
from freeproj.report.figures import REGISTRY, find, make_figure

__all__ = ["figure", "figures"]


@click.command()
@click.argument("name")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write: .png, .svg or .pdf. Default: NAME.png.",
)
@click.option(
    "--from",
    "numbers_from",
    type=click.Path(path_type=Path),
    help="Draw from a saved .npz instead of computing.",
)
@click.option(
    "--runs",
    type=click.Path(path_type=Path),
    help="A folder of training runs, for the pictures that are drawn from them. "
    "Default: runs, or what `freeproj reproduce` has left in results.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a number of the picture, e.g. depth=7; may be repeated.",
)
def figure(
    name: str,
    out: Path | None,
    numbers_from: Path | None,
    runs: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Draw the picture NAME and save its numbers beside it.

    `freeproj figures` lists the names.
    """
    options = parse_settings(settings)
    if find(name).needs_runs and numbers_from is None:
        runs = runs or _usual_runs()
        options |= {} if runs is None else {"runs": str(runs)}
    elif runs is not None:
        click.echo(f"{name} is not drawn from runs; --runs is left aside.", err=True)
    with working(name):
        paths = make_figure(name, out or Path(f"{name}.png"), numbers_from, options)
    for path in paths:
        click.echo(path)


def _usual_runs() -> Path | None:
    """The first folder that the commands fill by default and that is there."""
    scales = ("paper", "laptop", "quick")
    usual = [Path("runs"), *(Path("results") / f"runs-{scale}" for scale in scales)]
    for folder in usual:
        if folder.is_dir():
            click.echo(f"Runs: {folder}", err=True)
            return folder
    return None


@click.command()
def figures() -> None:
    """List the pictures that `freeproj figure` can draw."""
    width = max(map(len, REGISTRY))
    for spec in REGISTRY.values():
        runs = "; from --runs" if spec.needs_runs else ""
        click.echo(f"{spec.name:<{width}}  {spec.title}{runs}")
