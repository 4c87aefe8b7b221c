"""`freeproj train`: one run, in a folder of its own."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.options import (
    json_option,
    out_option,
    parse_settings,
    quiet_option,
    set_option,
)
from freeproj.cli.output import echo, print_json
from freeproj.cli.stopping import exit_code, explain
from freeproj.cli.trackers import Tracker, open_trackers
from freeproj.storage.signals import stoppable, take_stop

if TYPE_CHECKING:
    from freeproj.experiments.progress import TrainProgress
    from freeproj.learning.config import TrainConfig

__all__ = ["summary", "summary_text", "train"]

_SAVED = "Stopped; finished updates are saved. Rerun the same command to resume."


@click.command()
@click.argument("config", required=False)
@set_option("Override a setting, e.g. ppo.discount=0.95")
@out_option("runs", "Folder in which the run gets its own folder.")
@click.option("--tensorboard", is_flag=True, help="Write TensorBoard files as well.")
@click.option("--wandb", is_flag=True, help="Report to Weights & Biases as well.")
@quiet_option
@json_option
def train(
    config: str | None,
    settings: tuple[str, ...],
    out: Path,
    tensorboard: bool,
    wandb: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Train an agent with the settings in CONFIG: a TOML file, or a preset.

    Presets: smoke (seconds), demo, laptop (minutes), in_context, paper, release.
    Without CONFIG the settings are the paper's. Rerun the same command to resume an
    interrupted run; a finished run is not trained again.
    """
    from freeproj.experiments.progress import TrainProgress
    from freeproj.experiments.run import open_run, run_training
    from freeproj.experiments.settings import flat, read_config
    from freeproj.storage.threads import n_threads

    chosen = read_config(config, parse_settings(settings))
    run = open_run(out, chosen)
    if not quiet:
        plural = "s" * (n_threads() > 1)
        echo(f"Training with {n_threads()} thread{plural}.", err=True)
    trackers = open_trackers(run.folder, flat(chosen), tensorboard, wandb)
    try:
        progress = TrainProgress(chosen, len(run.log()), quiet)
        with stoppable(_SAVED), progress:
            run_training(chosen, out, report=_reporter(progress, trackers))
    except KeyboardInterrupt as stop:
        done = len(run.log())
        echo(
            f"Stopped after {done} of {chosen.n_updates} updates; all of them are "
            "saved. Rerun the same command to resume.",
            err=True,
        )
        raise SystemExit(exit_code(stop)) from None
    except OSError as error:
        kept = (
            "The run keeps its last checkpoint: fix this, then rerun the same command "
            "to resume."
            if run.has_checkpoint
            else f"{run.folder} has no checkpoint: the run will start anew."
        )
        echo(f"freeproj: {explain(error)} {kept}", err=True)
        raise SystemExit(1) from None
    finally:
        for tracker in trackers:
            tracker.close()
    found = summary(chosen, run.folder, run.log()[-1])
    if as_json:
        print_json(found)
        return
    if not quiet:
        echo(summary_text(chosen, found), err=True)
    echo(run.folder)


def _reporter(progress: TrainProgress, trackers: list[Tracker]):
    def report(row: dict[str, Any]) -> None:
        progress.show(row)
        for tracker in trackers:
            tracker.log(row)
        take_stop()

    return report


def summary(config: TrainConfig, folder: Path, row: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a finished run, with the returns to compare them with."""
    held_out = config.evaluation.task
    levels = {t: _levels(t, config) for t in ([held_out] if held_out else config.tasks)}
    return {
        "folder": str(folder),
        "updates": row["update"],
        "steps": row["steps"],
        "train": _or_none(row.get("train/episode_return", math.nan)),
        "test": {
            name: {
                "return": _or_none(row.get(f"{_of(name)}", math.nan)),
                "std": _or_none(row.get(f"{_of(name)}_std", math.nan)),
                "episodes": row.get(f"test/{name}/episodes/n_finished"),
            }
            for name in config.test_maps
        },
        "compare": levels,
    }


def summary_text(config: TrainConfig, found: dict[str, Any]) -> str:
    """Write the summary of a run for people, with the next two commands."""
    lines = []
    tested = {k: v for k, v in found["test"].items() if v["return"] is not None}
    if not tested:
        lines.append(f"test      – ({_why_missing(config)})")
    for name, test in tested.items():
        what = "observation blanked" if name == "zero" else f"projection {name}"
        error = (test["std"] or 0.0) / math.sqrt(max(test["episodes"] or 1, 1))
        lines.append(
            f"test      {test['return']:.2f} ± {error:.2f} ({what}, "
            f"{test['episodes']} episodes, ± standard error)"
        )
    for task, level in found["compare"].items():
        if level is None:
            lines.append(f"compare   {task}: chance and best return are not known")
        else:
            numbers = ", ".join(f"{name} {value:.2f}" for name, value in level.items())
            lines.append(f"compare   {task}: {numbers}")
    folder = shlex.quote(found["folder"])
    lines.append(f"next      freeproj watch {folder}")
    lines.append(f"          freeproj evaluate {folder} --map random")
    return "\n".join(lines)


def _of(name: str) -> str:
    return f"test/{name}/episodes/episode_return"


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _why_missing(config: TrainConfig) -> str:
    if not config.evaluation.every:
        return "evaluation.every is 0, nothing was tested"
    if not config.evaluation.episodes:
        return "evaluation.episodes is off, only the window was counted"
    return "no episode ended"


def _levels(task: str, config: TrainConfig) -> dict[str, float] | None:
    from freeproj.findings.baselines import episode_levels

    fresh = config.trials != "same_start"
    known = episode_levels(task, config.n_trials, fresh)
    if math.isnan(known.chance):
        return None
    return {
        "chance": known.chance,
        "best open-loop": known.blind,
        "best": known.ceiling,
    }
