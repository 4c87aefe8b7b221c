"""`freeproj sweep`: all runs of a study, here or on a cluster."""

import collections
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from freeproj.cli import options
from freeproj.cli.output import columns, echo, fill, show
from freeproj.cli.stopping import resumable
from freeproj.cli.sweep_view import SweepView, cell_names
from freeproj.experiments.progress import working
from freeproj.findings.labels import duration
from freeproj.storage.names import named_by

__all__ = ["carry_out", "stated_lines", "sweep"]

# Read off the folder: importing the studies would make --help slow.
_STUDIES = sorted(each.stem for each in Path(__file__).parents[1].glob("studies/*"))
_HELP = f"""Carry out STUDY: a TOML file, or one of these studies of freeproj.

\b
{fill(", ".join(_STUDIES), 76)}

Finished runs are skipped and interrupted ones resumed, so rerun the same command after
an interruption."""

# Options that not all engines take, and those that do.
_TAKEN_BY = {
    "jobs": ("local", "slurm"),
    "seeds_together": ("local", "ray", "slurm"),
    "address": ("ray",),
    "cpus": ("ray", "slurm"),
    "gpus": ("ray", "slurm"),
    "slurm": ("slurm",),
}


@click.command(help=_HELP)
@click.argument("study")
@options.out_option("runs", "Folder in which each run gets its own folder.")
@click.option("--dry-run", is_flag=True, help="List and count the runs; start nothing.")
@click.option("--estimate", is_flag=True, help="Like --dry-run; also time updates.")
@click.option(
    "--engine", default="local", help="local, ray, slurm, or your own module:attribute."
)
@options.jobs_option
@click.option(
    "--seeds-together",
    type=options.COUNT,
    default=1,
    help="Seeds that a process, task or job trains at once: for accelerators.",
)
@click.option("--address", help="A running Ray cluster, e.g. auto. Default: a new one.")
@click.option("--cpus", default=1.0, help="CPUs per Ray task or SLURM job.")
@click.option("--gpus", default=0.0, help="GPUs per Ray task or SLURM job.")
@options.set_option(
    "Option of the SLURM jobs, e.g. time=720 (minutes), mem_gb=4, partition=gpu",
    "--slurm",
)
@options.set_option("Override a setting of every run, or an axis, e.g. seeds=[0,1]")
@options.quiet_option
@options.json_option
@click.pass_context
def sweep(
    ctx: click.Context,
    study: str,
    out: Path,
    dry_run: bool,
    estimate: bool,
    engine: str,
    settings: dict[str, Any],
    quiet: bool,
    as_json: bool,
    **more: Any,
) -> None:
    for name, engines in _TAKEN_BY.items():
        source = ctx.get_parameter_source(name)
        if engine not in engines and source is not ParameterSource.DEFAULT:
            option, known = name.replace("_", "-"), " or ".join(engines)
            raise ValueError(f"--{option} works only with --engine {known}.")
    from freeproj.experiments.engines import split_finished
    from freeproj.experiments.study import read_study

    chosen = read_study(study, settings)
    with named_by(study):
        configs = chosen.runs(resolve=not dry_run)
    if dry_run or estimate:
        plan, costs = _plan(configs, chosen.stated, out), None
        if estimate and plan["to_do"]:
            costs = _estimate(split_finished(configs, out)[0], more["jobs"])
        lines = [*_plan_lines(plan), *(_estimate_lines(costs) if costs else [])]
        show({**plan, "estimate": costs}, lines, as_json)
        return
    taken = {k: more[k] for k, engines in _TAKEN_BY.items() if engine in engines}
    if engine == "slurm":
        taken["options"] = taken.pop("slurm")
    failed = carry_out(configs, out, engine=engine, quiet=quiet, **taken)
    show(_plan(configs, chosen.stated, out) if as_json else {}, out, as_json)
    if failed:
        echo(f"freeproj: {len(failed)} of {len(configs)} runs failed.", err=True)
        sys.exit(1)


def carry_out(
    configs: tuple, out: Path, *, engine="local", quiet: bool = False, **more: Any
) -> list:
    """Run what is not finished yet; report and return the runs that failed."""
    from freeproj.experiments.engines import find_engine, split_finished
    from freeproj.experiments.run import run_folder

    run = find_engine(engine)
    todo, finished = split_finished(configs, out)
    if not quiet:
        text = f"{len(configs)} runs in {out}: {len(finished)} finished"
        echo(f"{text}, {len(todo)} to do.", err=True)
    if not todo:
        return []
    view = SweepView(todo, quiet=quiet)

    def reached() -> str:
        done = f"with {view.n_done} of {len(todo)} runs done"
        return f"{done}; all updates so far are saved."

    with resumable(reached), view:
        outcomes = run(todo, out, report=view.show, **more)
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed:
        folder = run_folder(out, outcome.config)
        echo(f"freeproj: {folder} failed:\n{outcome.error}", err=True)
    return failed


def _plan(configs: tuple, stated: Any, out: Path) -> dict[str, Any]:
    """Return the runs with their states, and which effects the study can find."""
    from freeproj.experiments.engines import split_finished
    from freeproj.experiments.run import run_folder
    from freeproj.stats import power_line

    waiting, names = set(split_finished(configs, out)[0]), cell_names(configs)
    counts = collections.Counter(names)
    runs = [
        {
            "configuration": name,
            "seed": config.seed,
            "state": "to do" if config in waiting else "finished",
            "folder": run_folder(out, config).name,
        }
        for config, name in zip(configs, names, strict=True)
    ]
    return {
        "stated": dict(stated),
        "runs": runs,
        "configurations": len(counts),
        "to_do": len(waiting),
        "power": power_line(min(counts.values()), n_cells=len(counts)),
    }


def _plan_lines(plan: dict[str, Any]) -> list[str]:
    runs, n = plan["runs"], plan["configurations"]
    rows = []
    for run in runs:
        end = run["folder"].rpartition("-")[2]  # enough for a shell
        name = f"{run['configuration']} seed {run['seed']}"
        rows.append((name, run["state"], f"*-{end}"))
    total = f"{len(runs)} runs of {n} configuration{'s' * (n != 1)}, {plan['to_do']}"
    stated = stated_lines(plan["stated"])
    return [*stated, columns(rows), f"{total} to do.", fill(plan["power"])]


def stated_lines(stated: Mapping[str, Any]) -> list[str]:
    """Write what a study stated before it ran."""
    if not stated:
        return []
    lines = [fill(f"  {name:<9} {value}", indent=12) for name, value in stated.items()]
    return ["Stated before the study ran:", *lines, ""]


def _estimate(todo: list, jobs: int | None) -> dict[str, Any]:
    """Time a short update of each network; return what the runs will take here."""
    from freeproj.experiments.engines.costs import run_bytes, run_seconds
    from freeproj.experiments.engines.local import measure_costs
    from freeproj.storage.threads import n_cores

    samples = {_network_of(config): config for config in reversed(todo)}
    with working(f"one short update of {'; '.join(samples)}"):
        measured = measure_costs(list(samples.values()))
    costs = dict(zip(samples, measured, strict=True))
    of_run = {config: costs[_network_of(config)] for config in todo}
    programs = {config.program: cost.start_seconds for config, cost in of_run.items()}
    seconds = sum(run_seconds(*pair) for pair in of_run.items())
    seconds += sum(programs.values())
    n_workers = min(jobs or n_cores(), len(todo))
    networks = {
        name: {
            "updates": sample.n_updates,
            "run_seconds": run_seconds(sample, costs[name]),
            "compile_seconds": costs[name].start_seconds,
        }
        for name, sample in samples.items()
    }
    return {
        "networks": networks,
        "processes": n_workers,
        "seconds": seconds / n_workers,
        "core_seconds": seconds,
        "bytes_per_process": max(run_bytes(*pair) for pair in of_run.items()),
    }


def _network_of(config: Any) -> str:
    """Name what the time of a sample depends on: the memory and the sizes around it."""
    network = config.network
    sizes = f"{network.embedding_size}-{network.hidden_size}-{network.head_size}"
    depth = f", {network.n_layers} layers" if config.memory != "gru" else ""
    return f"{config.memory} {sizes}{depth}"


def _estimate_lines(found: dict[str, Any]) -> list[str]:
    lines = []
    for name, each in found["networks"].items():
        run, start = duration(each["run_seconds"]), duration(each["compile_seconds"])
        text = f"{name}: a run of {each['updates']} updates takes about {run}, "
        lines.append(fill(f"{text}compiling its programs {start}."))
    whole, core = duration(found["seconds"]), duration(found["core_seconds"])
    n, size = found["processes"], found["bytes_per_process"] / 1e9
    where = f"{n} process{'es' * (n > 1)} of one thread"
    text = f"About {whole} in {where}, {core} of one core in all, {size:.1f} GB each"
    return [*lines, fill(f"{text}; measured on this machine as it is now.")]
