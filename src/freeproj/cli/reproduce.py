"""`freeproj reproduce`: the main job."""

from __future__ import annotations

from pathlib import Path

import click

from freeproj.cli.progress import track

__all__ = ["reproduce"]

# What is trained: two minutes, the published studies anew (hours), the paper's (days).
_SCALES = ("quick", "laptop", "paper", "none")


@click.command()
@click.option(
    "--scale",
    type=click.Choice(_SCALES),
    default="quick",
    show_default=True,
    help="quick: the sign slip, in minutes; laptop: the published studies anew, in "
    "hours; paper: the paper's own, for accelerators; none: analyses only.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="The folder for runs, pictures, numbers and report.html.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Only this picture.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; one per core.")
@click.option("--again", is_flag=True, help="Compute the analyses anew.")
@click.option("--quiet", is_flag=True, help="No progress.")
def reproduce(
    scale: str,
    out: Path,
    only: tuple[str, ...],
    jobs: int | None,
    again: bool,
    quiet: bool,
) -> None:
    """Train the study, compute every analysis, write report.html.

    What an earlier, broken run has finished is kept. The runs are in OUT/runs-SCALE, so
    that scales do not mix.
    """
    from freeproj.report.figures import find
    from freeproj.report.page.building import key_lines, make_report

    specs = [find(name) for name in only]  # a wrong name is told before the work
    runs = out / f"runs-{scale}"
    trains = scale != "none" and (not only or any(spec.needs_runs for spec in specs))
    failed = _train(scale, runs, jobs, quiet) if trains else 0
    _announce("Analyses and pictures", quiet)
    made = make_report(
        out,
        runs if runs.exists() else None,
        only=only,
        again=again,
        follow=lambda specs: track(specs, lambda spec: spec.name, quiet=quiet),
    )
    for name, why in made.missing.items():
        click.echo(f"{name} was not drawn: {why}", err=True)
    for line in [] if only else key_lines(made.claims):
        click.echo(line)
    click.echo(made.page)
    if failed:
        raise SystemExit(1)


def _train(scale: str, runs: Path, jobs: int | None, quiet: bool) -> int:
    """Carry out the studies of a scale; return how many of their runs failed."""
    from freeproj.cli.sweep import carry_out
    from freeproj.experiments.study import read_study
    from freeproj.published import names

    failed = 0
    for study in names() if scale == "laptop" else (scale,):
        _announce(f"Study {study}", quiet)
        configs = read_study(study).runs()
        failed += len(carry_out(configs, runs, jobs=jobs, quiet=quiet))
    return failed


def _announce(stage: str, quiet: bool) -> None:
    if not quiet:
        click.echo(stage, err=True)
