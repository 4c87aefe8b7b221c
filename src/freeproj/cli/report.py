"""`freeproj report RUNS`: a page about runs; `freeproj reproduce`: train them first."""

from pathlib import Path
from typing import Any

import click

from freeproj.cli import options
from freeproj.cli.output import answer_facts, show
from freeproj.experiments.progress import track

__all__ = ["report", "reproduce"]

_ONLY = click.option(
    "--only", multiple=True, metavar="NAME", help="Draw only this figure."
)


@click.command()
@click.argument("runs", required=False, metavar="[RUNS]")
@click.option("--published", is_flag=True, help="Only the published studies.")
@options.out_option("results", "Folder for figures, their numbers and report.html.")
@_ONLY
@options.import_option
@click.option(
    "--question",
    "questions",
    multiple=True,
    metavar="MODULE:NAME",
    help="Ask this question of the runs too; may be repeated.",
)
@click.option("--with-published", is_flag=True, help="Add the published studies.")
@options.quiet_option
@options.json_option
def report(
    runs: str | None, published: bool, out: Path, with_published: bool, **how: Any
) -> None:
    """Write report.html from RUNS: a folder of runs, or a dataset file.

    The page opens with what varies between the runs. Analyses that are not saved yet
    are computed first; figures of runs are always drawn again. Unfinished runs are
    included as far as they have come.
    """
    if published == (runs is not None):
        raise ValueError("Give either a folder of runs or --published.")
    from freeproj.report.page.building import shipped

    _write_report(out, runs, published=shipped() if with_published else None, **how)


@click.command()
@click.option(
    "--scale",
    type=click.Choice(("quick", "laptop", "paper", "none")),
    default="quick",
    help="What to train. quick: a small study, minutes; laptop: the published studies, "
    "hours; paper: the paper's own study, for accelerators; none: only analyses.",
)
@options.out_option("results", "Folder for runs, figures and report.html.")
@_ONLY
@options.jobs_option
@options.import_option
@options.quiet_option
def reproduce(
    scale: str, out: Path, only: tuple, jobs: int | None, quiet: bool
) -> None:
    """Train a study, compute all analyses and write report.html.

    Rerun the same command to resume: finished runs and analyses are kept. The runs are
    stored in OUT/runs-SCALE.
    """
    from freeproj.report.figures import find
    from freeproj.report.page.building import shipped

    specs = [find(name) for name in only]  # refuse a wrong name before any work
    runs, n_lines = out / f"runs-{scale}", 0 if only else 4
    trains = scale != "none" and (not only or any(spec.needs_runs for spec in specs))
    failed = _train(scale, runs, jobs, quiet) if trains else 0
    if not quiet:
        click.echo("Analyses and figures", err=True)
    there = runs if runs.exists() else None
    _write_report(out, there, quiet, n_lines=n_lines, published=shipped(), only=only)
    if failed:
        raise SystemExit(1)


def _train(scale: str, runs: Path, jobs: int | None, quiet: bool) -> int:
    """Carry out the studies of a scale; return how many of their runs failed."""
    from freeproj.cli.sweep import carry_out
    from freeproj.experiments.study import read_study
    from freeproj.published import names

    failed = 0
    for study in names() if scale == "laptop" else (scale,):
        if not quiet:
            click.echo(f"Study {study}", err=True)
        configs = read_study(study).runs()
        failed += len(carry_out(configs, runs, jobs=jobs, quiet=quiet))
    return failed


def _write_report(
    out: Path, runs: Any, quiet: bool, as_json=False, n_lines=4, **more: Any
) -> None:
    """Make the page; say what was not drawn, the main answers, and where it is."""
    from freeproj.report.page.building import make_report

    def follow(jobs):
        return track(jobs, lambda job: job.name, quiet=quiet)

    made = make_report(out, runs, follow=follow, **more)
    for name, why in made.missing.items():
        click.echo(f"{name} was not drawn: {why}", err=True)
    told = [answer_facts(each) for each in made.answers]
    facts = {"page": str(made.page), "missing": made.missing, "answers": told}
    show(facts, [*map(str, made.answers[:n_lines]), str(made.page)], as_json)
