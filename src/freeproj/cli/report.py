"""`freeproj report RUNS`: the page of a folder of runs."""

from __future__ import annotations

from pathlib import Path

import click

from freeproj.cli.progress import track
from freeproj.report.page.building import key_lines, make_report

__all__ = ["report"]


@click.command()
@click.argument("runs", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="The folder for pictures, numbers and report.html.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Only this picture.")
@click.option("--again", is_flag=True, help="Compute anew what is already there.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def report(
    runs: Path, out: Path, only: tuple[str, ...], again: bool, quiet: bool
) -> None:
    """Write report.html from the runs in the folder RUNS.

    Pictures that are missing are drawn first; those of the runs always. Runs that are
    still going on count as far as they are.
    """
    made = make_report(
        out,
        runs,
        only=only,
        again=again,
        follow=lambda specs: track(specs, lambda spec: spec.name, quiet=quiet),
    )
    for name, why in made.missing.items():
        click.echo(f"{name} was not drawn: {why}", err=True)
    for line in key_lines(made.claims):
        click.echo(line)
    click.echo(made.page)
