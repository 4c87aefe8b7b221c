"""`freeproj sweep`: all runs of a study, here or on a cluster."""

from __future__ import annotations

import collections
import sys
from pathlib import Path
from typing import Any

import click

from freeproj.cli.progress import working
from freeproj.cli.settings import parse_settings
from freeproj.cli.stopping import exit_code
from freeproj.cli.sweep_view import SweepView, duration

__all__ = ["carry_out", "sweep"]


@click.command()
@click.argument("study")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="The folder that holds the runs' folders.",
)
@click.option("--dry-run", is_flag=True, help="Only list and count the runs.")
@click.option(
    "--estimate",
    is_flag=True,
    help="With --dry-run: time short updates, say what all take.",
)
@click.option(
    "--engine",
    default="local",
    show_default=True,
    help="local (processes), ray (Ray tasks), or your own module:attribute.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; one per core.")
@click.option(
    "--seeds-together",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="K",
    help="Train K seeds at once in each process or Ray task: for accelerators.",
)
@click.option("--address", help="A running Ray cluster, e.g. auto. Default: start one.")
@click.option("--cpus", type=float, default=1, show_default=True, help="Per Ray task.")
@click.option("--gpus", type=float, default=0, show_default=True, help="Per Ray task.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override a setting of every run, or values of the grid: seeds=[0,1].",
)
@click.option("--quiet", is_flag=True, help="No progress.")
def sweep(
    study: str,
    out: Path,
    dry_run: bool,
    estimate: bool,
    engine: str,
    jobs: int | None,
    seeds_together: int,
    address: str | None,
    cpus: float,
    gpus: float,
    settings: tuple[str, ...],
    quiet: bool,
) -> None:
    """Carry out STUDY: a TOML file, or quick, laptop or paper.

    Finished runs are skipped, interrupted ones go on where they were.
    """
    if engine != "ray" and (address or cpus != 1 or gpus):
        raise ValueError("--address, --cpus and --gpus are for --engine ray.")
    if engine != "local" and jobs:
        raise ValueError("--jobs is for --engine local; Ray's is --cpus per task.")
    if engine not in ("local", "ray") and seeds_together > 1:
        raise ValueError("--seeds-together is for --engine local and ray.")
    from freeproj.experiments.study import read_study

    configs = read_study(study, parse_settings(settings)).runs()
    if dry_run or estimate:
        todo = _print_plan(configs, out)
        if estimate and todo:
            _print_estimate(todo, jobs)
        return
    together = {"seeds_together": seeds_together}
    options = {
        "local": {"jobs": jobs, **together},
        "ray": {"address": address, "cpus": cpus, "gpus": gpus, **together},
    }.get(engine, {})
    failed = carry_out(configs, out, engine=engine, quiet=quiet, **options)
    click.echo(out)
    if failed:
        click.echo(f"freeproj: {len(failed)} of {len(configs)} runs failed.", err=True)
        sys.exit(1)


def carry_out(
    configs: tuple,
    out: Path,
    *,
    engine: str = "local",
    quiet: bool = False,
    **options: Any,
) -> list:
    """Does what is left of the runs, tells of each that failed and returns those."""
    from freeproj.experiments.engines import find_engine, split_finished
    from freeproj.experiments.run import run_folder

    run = find_engine(engine)
    todo, finished = split_finished(configs, out)
    if not quiet:
        text = f"{len(configs)} runs in {out}: {len(finished)} finished"
        click.echo(f"{text}, {len(todo)} to do.", err=True)
    outcomes = _run(run, todo, out, quiet, options) if todo else []
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed:
        folder = run_folder(out, outcome.config)
        click.echo(f"freeproj: {folder} failed:\n{outcome.error}", err=True)
    return failed


def _run(run: Any, todo: list, out: Path, quiet: bool, options: dict[str, Any]) -> list:
    view = SweepView(todo, quiet=quiet)
    try:
        with view:
            return run(todo, out, report=view.show, **options)
    except KeyboardInterrupt as stop:
        click.echo(
            f"Stopped with {view.n_done} of {len(todo)} runs done; all updates so far "
            "are saved. Rerun the same command to resume.",
            err=True,
        )
        raise SystemExit(exit_code(stop)) from None


def _print_plan(configs: tuple, out: Path) -> list:
    """List the runs and say what the study can tell; return those that are to do."""
    from freeproj.experiments.engines import split_finished
    from freeproj.experiments.run import run_folder
    from freeproj.experiments.study import cell_names
    from freeproj.stats import power_line

    todo, _ = split_finished(configs, out)
    waiting, names = set(todo), cell_names(configs)
    width = max(map(len, names))
    for config, name in zip(configs, names, strict=True):
        state = "to do" if config in waiting else "finished"
        folder = run_folder(out, config).name
        click.echo(
            f"{name} seed {config.seed}".ljust(width + 9) + f" {state:<8} {folder}"
        )
    cells = collections.Counter(names)
    click.echo(f"{len(configs)} runs of {len(cells)} cells, {len(todo)} to do.")
    click.echo(power_line(min(cells.values()), n_cells=len(cells)))
    return todo


def _print_estimate(todo: list, jobs: int | None) -> None:
    from freeproj.experiments.engines import programs_of
    from freeproj.experiments.engines.costs import run_bytes, run_seconds
    from freeproj.experiments.engines.local import measure_costs, n_cores

    samples = {config.memory: config for config in reversed(todo)}
    with working(f"one short update of {', '.join(samples)}"):
        measured = measure_costs(list(samples.values()))
    costs = dict(zip(samples, measured, strict=True))
    n_workers = min(jobs or n_cores(), len(todo))
    programs = {programs_of(config): config for config in todo}
    training = sum(run_seconds(each, costs[each.memory]) for each in todo)
    starting = sum(costs[each.memory].start_seconds for each in programs.values())
    memory = max(run_bytes(each, costs[each.memory]) for each in todo)
    for name, sample in samples.items():
        seconds = run_seconds(sample, costs[name])
        click.echo(
            f"{name}: a run of {sample.n_updates} updates takes about "
            f"{duration(seconds)}, getting its programs ready "
            f"{duration(costs[name].start_seconds)}."
        )
    click.echo(
        f"About {duration((training + starting) / n_workers)} in {n_workers} "
        f"process(es) of one thread, {memory / 1e9:.1f} GB each; measured on this "
        f"machine as it is now."
    )
