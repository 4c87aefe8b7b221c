"""`freeproj reproduce`: train a study, compute all analyses, write the report."""

from __future__ import annotations

from pathlib import Path

import click

from freeproj.cli.options import import_option, out_option, quiet_option
from freeproj.cli.report import write_report

__all__ = ["reproduce"]

# Training time: quick takes minutes, laptop hours, paper days.
_SCALES = ("quick", "laptop", "paper", "none")


@click.command()
@click.option(
    "--scale",
    type=click.Choice(_SCALES),
    default="quick",
    help="What to train. quick: a small study of the missing sign correction, minutes; "
    "laptop: the published studies again, hours; paper: the paper's own study, for "
    "accelerators; none: nothing, only the analyses.",
)
@out_option("results", "Folder for runs, figures, their numbers and report.html.")
@click.option("--only", multiple=True, metavar="NAME", help="Only this figure.")
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes. Default: one per core."
)
@import_option
@quiet_option
def reproduce(
    scale: str, out: Path, only: tuple[str, ...], jobs: int | None, quiet: bool
) -> None:
    """Train a study, compute all analyses and write report.html.

    Rerun the same command to resume: finished runs and analyses are kept. The runs are
    stored in OUT/runs-SCALE.
    """
    from freeproj.report.figures import find
    from freeproj.report.page.building import shipped

    specs = [find(name) for name in only]  # refuse a wrong name before any work
    runs = out / f"runs-{scale}"
    trains = scale != "none" and (not only or any(spec.needs_runs for spec in specs))
    failed = _train(scale, runs, jobs, quiet) if trains else 0
    _announce("Analyses and figures", quiet)
    there = runs if runs.exists() else None
    n_lines = 0 if only else 4
    write_report(out, there, quiet, n_lines, published=shipped(), only=only)
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
