"""`freeproj reproduce`: the main job."""

from __future__ import annotations

from pathlib import Path

import click

from freeproj.cli.progress import track
from freeproj.report.figures import REGISTRY, find, make_figure
from freeproj.report.html import Picture, write_page

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
    specs = [find(name) for name in only or REGISTRY]
    specs = [spec for spec in specs if only or not spec.needs_runs]
    pictures = []
    for spec in track(specs, lambda spec: spec.name, quiet=quiet):
        picture = Picture(
            spec.name, spec.title, out / f"{spec.name}.png", out / f"{spec.name}.npz"
        )
        # The picture is written last, so where it is the numbers are too.
        if again or not (picture.png.exists() and picture.numbers.exists()):
            make_figure(spec.name, picture.png)
        pictures.append(picture)
    click.echo(write_page(out / "report.html", pictures))
