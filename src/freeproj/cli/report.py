"""`freeproj report RUNS`: the page of a folder of runs, or of the published studies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from freeproj.cli.options import (
    import_option,
    json_option,
    out_option,
    quiet_option,
)
from freeproj.cli.output import print_json
from freeproj.cli.progress import track

__all__ = ["report", "write_report"]


@click.command()
@click.argument("runs", required=False, metavar="[RUNS]")
@click.option(
    "--published",
    is_flag=True,
    help="Only the published studies, without runs of your own.",
)
@out_option("results", "Folder for figures, their numbers and report.html.")
@click.option("--only", multiple=True, metavar="NAME", help="Only this figure.")
@import_option
@click.option(
    "--question",
    "questions",
    multiple=True,
    metavar="MODULE:NAME",
    help="Ask this question of the runs too; may be repeated.",
)
@click.option(
    "--with-published", is_flag=True, help="The published studies below your own runs."
)
@quiet_option
@json_option
def report(
    runs: str | None,
    published: bool,
    out: Path,
    only: tuple[str, ...],
    questions: tuple[str, ...],
    with_published: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write report.html from RUNS: a folder of runs, or a dataset file.

    The page opens with what varies between the runs. Analyses that are not saved yet
    are computed first; figures of runs are always drawn again. Unfinished runs are
    included as far as they have come.
    """
    if published == (runs is not None):
        raise ValueError("Give either a folder of runs or --published.")
    from freeproj.report.page.building import shipped

    shown = shipped() if with_published else None
    more = {"published": shown, "only": only, "questions": questions}
    write_report(out, runs, quiet, as_json=as_json, **more)


def write_report(
    out: Path,
    runs: str | Path | None,
    quiet: bool,
    n_lines: int = 4,
    as_json: bool = False,
    **more: Any,
) -> None:
    """Make the page; say what was not drawn, the main answers, and where it is."""
    from freeproj.report.page.building import make_report

    def follow(jobs):
        return track(jobs, lambda job: job.name, quiet=quiet)

    made = make_report(out, runs, follow=follow, **more)
    for name, why in made.missing.items():
        click.echo(f"{name} was not drawn: {why}", err=True)
    if as_json:
        told = [
            {"question": each.name, "outcome": str(each.outcome), "answer": str(each)}
            for each in made.answers
        ]
        print_json({"page": str(made.page), "missing": made.missing, "answers": told})
        return
    for answer in made.answers[:n_lines]:
        click.echo(answer)
    click.echo(made.page)
