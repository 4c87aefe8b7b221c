"""`freeproj report RUNS`: the page of a folder of runs, or of the published studies."""

from __future__ import annotations

from pathlib import Path

import click

from freeproj.cli.progress import track

__all__ = ["report"]


@click.command()
@click.argument("runs", required=False, metavar="[RUNS]")
@click.option(
    "--published",
    is_flag=True,
    help="The page of the published studies only, without runs of one's own.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="The folder for figures, numbers and report.html.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Only this figure.")
@click.option(
    "--import",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="Import a module of one's own first, which adds claims, figures or tables.",
)
@click.option("--again", is_flag=True, help="Compute anew what is already there.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def report(
    runs: str | None,
    published: bool,
    out: Path,
    only: tuple[str, ...],
    modules: tuple[str, ...],
    again: bool,
    quiet: bool,
) -> None:
    """Write report.html from RUNS: a folder of runs, or a file of a dataset.

    The page opens with the published studies; the runs follow as the user's own.
    Analyses that are missing are computed first; figures of runs always. Runs that are
    still going on count as far as they are.
    """
    if published == (runs is not None):
        raise ValueError("Give a folder of runs, or --published, and not both.")
    from freeproj.names import import_own
    from freeproj.report.page.building import key_lines, make_report

    for module in modules:
        import_own(module, f"module {module!r}")
    made = make_report(
        out,
        runs,
        only=only,
        again=again,
        follow=lambda jobs: track(jobs, lambda job: job.name, quiet=quiet),
    )
    for name, why in made.missing.items():
        click.echo(f"{name} was not drawn: {why}", err=True)
    for line in key_lines(made.claims):
        click.echo(line)
    click.echo(made.page)
