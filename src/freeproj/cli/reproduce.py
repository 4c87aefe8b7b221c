"""`freeproj reproduce`: the main job."""

from __future__ import annotations

from pathlib import Path

import click

from freeproj.cli.progress import track
from freeproj.report.building import make_report

__all__ = ["reproduce"]


@click.command()
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
def reproduce(out: Path, only: tuple[str, ...], again: bool, quiet: bool) -> None:
    """Compute every analysis, draw every picture, write report.html.

    What an earlier, broken run has finished is kept; `--again` starts over.
    """
    made = make_report(
        out,
        only=only,
        again=again,
        follow=lambda specs: track(specs, lambda spec: spec.name, quiet=quiet),
    )
    click.echo(made.page)
