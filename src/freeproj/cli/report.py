"""`freeproj report RUNS`: the page of a folder of runs, or of the published studies."""

from __future__ import annotations

from pathlib import Path

import click

from freeproj.cli.guests import import_option
from freeproj.cli.progress import track

__all__ = ["report"]


@click.command()
@click.argument("runs", required=False, metavar="[RUNS]")
@click.option(
    "--published",
    is_flag=True,
    help="Only the published studies, without runs of your own.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="Folder for figures, their numbers and report.html.",
)
@click.option(
    "--only", multiple=True, metavar="NAME", help="Only this figure; may be repeated."
)
@import_option
@click.option(
    "--question",
    "questions",
    multiple=True,
    metavar="MODULE:NAME",
    help="Ask this question of the runs too; may be repeated.",
)
@click.option(
    "--with-published",
    is_flag=True,
    help="Also show the published studies, below your own runs.",
)
@click.option(
    "--again", is_flag=True, help="Compute and draw everything again, even if saved."
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
def report(
    runs: str | None,
    published: bool,
    out: Path,
    only: tuple[str, ...],
    questions: tuple[str, ...],
    with_published: bool,
    again: bool,
    quiet: bool,
) -> None:
    """Write report.html from RUNS: a folder of runs, or a dataset file.

    The page opens with what varies between the runs. Analyses that are not saved yet
    are computed first; figures of runs are always drawn again. Unfinished runs are
    included as far as they have come.
    """
    if published == (runs is not None):
        raise ValueError("Give either a folder of runs or --published.")
    from freeproj.report.page.building import key_lines, make_report, shipped

    made = make_report(
        out,
        runs,
        published=shipped() if with_published else None,
        only=only,
        questions=questions,
        again=again,
        follow=lambda jobs: track(jobs, lambda job: job.name, quiet=quiet),
    )
    for name, why in made.missing.items():
        click.echo(f"{name} was not drawn: {why}", err=True)
    for line in key_lines(made.answers):
        click.echo(line)
    click.echo(made.page)
