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
@click.option(
    "--import",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="Import this module first; it may add claims, figures or tables.",
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
    modules: tuple[str, ...],
    again: bool,
    quiet: bool,
) -> None:
    """Write report.html from RUNS: a folder of runs, or a dataset file.

    The page opens with the published studies; your own runs follow. Analyses that are
    not saved yet are computed first; figures of runs are always drawn again. Unfinished
    runs are included as far as they have come.
    """
    if published == (runs is not None):
        raise ValueError("Give either a folder of runs or --published.")
    from freeproj.report.page.building import key_lines, make_report
    from freeproj.storage.names import import_own

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
