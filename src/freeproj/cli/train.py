"""`freeproj train`: one run, in a folder of its own, and in dashboards of others."""

from __future__ import annotations

import hashlib
import json
import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import freeproj as fp
from freeproj.cli.options import json_option, out_option, quiet_option, set_option
from freeproj.cli.output import echo, number, show
from freeproj.cli.stopping import explain, resumable
from freeproj.experiments.log import without_nans
from freeproj.storage.signals import take_stop

if TYPE_CHECKING:
    from freeproj.experiments.run import Run
    from freeproj.learning.config import TrainConfig

__all__ = ["compared_with", "levels_text", "open_trackers", "summary", "summary_text"]
__all__ += ["train"]


@click.command()
@click.argument("config", required=False)
@set_option("Override a setting, e.g. ppo.discount=0.95")
@out_option("runs", "Folder in which the run gets its own folder.")
@click.option("--tensorboard", is_flag=True, help="Write TensorBoard files as well.")
@click.option("--wandb", is_flag=True, help="Report to Weights & Biases as well.")
@quiet_option
@json_option
def train(
    config: str | None, settings: dict, out: Path, quiet: bool, as_json: bool, **also
) -> None:
    """Train an agent with the settings in CONFIG: a TOML file, or a preset.

    Presets: smoke (seconds), demo, frame, laptop, in_context, curriculum (minutes),
    paper, release, separated (for accelerators). Without CONFIG the settings are the
    paper's. Rerun the same command to resume an interrupted run; a finished run is not
    trained again.
    """
    from freeproj.experiments.run import open_run
    from freeproj.storage.threads import n_threads

    chosen = fp.read_config(config, settings)
    run = open_run(out, chosen)
    if not quiet:
        plural = "s" * (n_threads() > 1)
        echo(f"Training with {n_threads()} thread{plural}.", err=True)
    _train(run, chosen, quiet, **also)
    found = summary(chosen, run.folder, run.log()[-1])
    if not (quiet or as_json):
        echo(summary_text(chosen, found), err=True)
    show(found, run.folder, as_json)


def _train(run: Run, config: TrainConfig, quiet: bool, **also: bool) -> None:
    """Train while progress is shown and dashboards are told; say where a stop led."""
    from freeproj.experiments.progress import TrainProgress
    from freeproj.experiments.run import run_training
    from freeproj.experiments.settings import flat

    trackers = open_trackers(run.folder, flat(config), **also)
    n_updates = config.n_updates

    def report(row: dict[str, Any]) -> None:
        progress.show(row)
        for tracker in trackers:
            tracker.log(row)
        take_stop()

    def reached() -> str:
        return f"after {len(run.log())} of {n_updates} updates; all of them are saved."

    try:
        progress = TrainProgress(config, len(run.log()), quiet)
        with resumable(reached), progress:
            run_training(config, run.folder.parent, report=report)
    except OSError as error:
        kept = f"{run.folder} has no checkpoint: the run will start anew."
        if run.has_checkpoint:
            kept = "Its last checkpoint is kept: fix this, then rerun to resume."
        echo(f"freeproj: {explain(error)[1]} {kept}", err=True)
        raise SystemExit(1) from None
    finally:
        for tracker in trackers:
            tracker.close()


def summary(config: TrainConfig, folder: Path, row: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a finished run, with the returns to compare them with."""
    row, tests = without_nans(row), {}
    for name in config.test_maps:
        prefix = f"test/{name}/episodes"
        tests[name] = {
            "return": row.get(f"{prefix}/episode_return"),
            "std": row.get(f"{prefix}/episode_return_std"),
            "episodes": row.get(f"{prefix}/n_finished"),
        }
    held_out = config.evaluation.task
    return {
        "folder": str(folder),
        "updates": row["update"],
        "steps": row["steps"],
        "train": row.get("train/episode_return"),
        "test": tests,
        "compare": compared_with([held_out] if held_out else config.tasks, config),
    }


def compared_with(
    tasks: Sequence[str], config: TrainConfig
) -> dict[str, dict[str, float] | None]:
    """Return what an episode of each task earns by chance and at best, if known."""
    from freeproj.findings.numbers import episode_levels

    n, fresh = config.n_tested_trials, config.trials != "same_start"
    found: dict[str, dict[str, float] | None] = {}
    for task in tasks:
        known = episode_levels(task, n, fresh)
        levels = {"chance": known.chance, "best open-loop": known.blind}
        is_known = not math.isnan(known.chance)
        found[task] = levels | {"best": known.ceiling} if is_known else None
    return found


def levels_text(levels: dict[str, float] | None) -> str:
    """Write the levels of a task for people."""
    if levels is None:
        return "chance and best return are not known"
    return ", ".join(f"{name} {number(value)}" for name, value in levels.items())


def summary_text(config: TrainConfig, found: dict[str, Any]) -> str:
    """Write the summary of a run for people, with the next two commands."""
    tested = {k: v for k, v in found["test"].items() if v["return"] is not None}
    lines = [] if tested else [f"test      – ({_why_missing(config)})"]
    for name, test in tested.items():
        what = "observation blanked" if name == "zero" else f"projection {name}"
        error = (test["std"] or 0.0) / math.sqrt(max(test["episodes"] or 1, 1))
        counts = f"{what}, {test['episodes']} episodes, ± standard error"
        lines.append(f"test      {test['return']:.2f} ± {error:.2f} ({counts})")
    for task, levels in found["compare"].items():
        lines.append(f"compare   {task}: {levels_text(levels)}")
    folder = shlex.quote(found["folder"])
    lines.append(f"next      freeproj watch {folder}")
    lines.append(f"          freeproj evaluate {folder} --map random")
    return "\n".join(lines)


def _why_missing(config: TrainConfig) -> str:
    if not config.evaluation.every:
        return "evaluation.every is 0, nothing was tested"
    if not config.evaluation.episodes:
        return "evaluation.episodes is off, only the window was counted"
    return "no episode ended"


def open_trackers(
    folder: Path, settings: dict[str, Any], tensorboard: bool, wandb: bool
) -> list[_TensorBoard | _WeightsAndBiases]:
    """Open the trackers that were asked for; a folder's name is the run's stable id."""
    wanted = {_TensorBoard: tensorboard, _WeightsAndBiases: wandb}
    return [kind(folder, settings) for kind, is_wanted in wanted.items() if is_wanted]


class _TensorBoard:
    def __init__(self, folder: Path, settings: dict[str, Any]):
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(str(folder / "tensorboard"))
        self._settings = {k: str(v) for k, v in settings.items()} | _numbers(settings)
        self._returns: dict[str, int | float] = {}

    def log(self, row: dict[str, Any]) -> None:
        for name, value in _numbers(row).items():
            self._writer.add_scalar(name, value, row["steps"])
            if name.endswith("episode_return"):
                self._returns[name] = value
        self._writer.flush()

    def close(self) -> None:
        """Write the settings and the last returns to the tab of hyperparameters."""
        if self._returns:
            self._writer.add_hparams(self._settings, self._returns, name=".")
        self._writer.close()


class _WeightsAndBiases:
    """One run of Weights & Biases per run folder; a resumed run continues it."""

    def __init__(self, folder: Path, settings: dict[str, Any]):
        import wandb

        # Seeds of the same settings stand together.
        group = {k: v for k, v in settings.items() if k != "seed"}
        text = json.dumps(group, sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        name = {"project": "freeproj", "name": folder.name, "id": folder.name}
        name["group"] = f"{settings['task']}-{digest}"
        self._run = wandb.init(**name, resume="allow", config=settings, dir=str(folder))

    def log(self, row: dict[str, Any]) -> None:
        self._run.log(_numbers(row), step=row["steps"])

    def close(self) -> None:
        self._run.finish()


def _numbers(row: dict[str, Any]) -> dict[str, int | float]:
    """Return what is a number; missing data is left out, a gap in the curve."""
    numbers = {k: v for k, v in row.items() if isinstance(v, int | float)}
    return {k: v for k, v in numbers.items() if not math.isnan(v)}
