"""`freeproj train`: one run, in a folder of its own."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from freeproj.cli.progress import held_out
from freeproj.cli.settings import parse_settings
from freeproj.cli.trackers import Tracker, open_trackers

__all__ = ["train"]


@click.command()
@click.argument("config", required=False)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override a setting, e.g. ppo.discount=0.95; may be repeated.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="The folder that holds the run's folder.",
)
@click.option("--resume", is_flag=True, help="Only go on with an interrupted run.")
@click.option("--tensorboard", is_flag=True, help="Write TensorBoard files as well.")
@click.option("--wandb", is_flag=True, help="Report to Weights & Biases as well.")
@click.option("--quiet", is_flag=True, help="No progress.")
def train(
    config: str | None,
    settings: tuple[str, ...],
    out: Path,
    resume: bool,
    tensorboard: bool,
    wandb: bool,
    quiet: bool,
) -> None:
    """Train an agent as CONFIG says: a TOML file, or paper, laptop or smoke.

    Without CONFIG the settings are the paper's. The run's folder is named by its
    settings; a finished run is not run again, an interrupted one goes on.
    """
    from freeproj.experiments.run import open_run, run_training
    from freeproj.experiments.settings import read_config, run_name

    chosen = read_config(config, parse_settings(settings))
    folder = out / run_name(chosen)
    if resume and not (folder / "checkpoint").exists():
        raise ValueError(
            f"{folder} has no checkpoint: nothing to resume; leave out --resume."
        )
    run = open_run(out, chosen)
    trackers = open_trackers(run.folder, tensorboard, wandb)
    try:
        with _Progress(chosen, len(run.log()), quiet) as progress:
            run_training(chosen, out, report=_reporter(progress, trackers))
    except KeyboardInterrupt:
        done = len(run.log())
        click.echo(
            f"Stopped after {done} of {chosen.n_updates} updates; all of them are "
            "saved. The same command goes on from there.",
            err=True,
        )
        raise SystemExit(130) from None
    except OSError as error:
        click.echo(
            f"freeproj: {error}. The run keeps its last checkpoint: mend this, and the "
            "same command goes on from there.",
            err=True,
        )
        raise SystemExit(1) from None
    finally:
        for tracker in trackers:
            tracker.close()
    click.echo(run.folder)


def _reporter(progress: _Progress, trackers: list[Tracker]):
    def report(row: dict[str, Any]) -> None:
        progress.show(row)
        for tracker in trackers:
            tracker.log(row)

    return report


class _Progress:
    """A bar on a terminal, a line for each update elsewhere, or nothing."""

    def __init__(self, config, n_done: int, quiet: bool):
        self._console = Console(stderr=True)
        self._config, self._quiet = config, quiet
        self._n_done, self._began = n_done, time.perf_counter()
        self._test = float("nan")
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[numbers]}"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=self._console)
        self._task = self._bar.add_task(
            "compiling", total=config.n_updates, completed=n_done, numbers=""
        )

    def __enter__(self) -> _Progress:
        if self._is_bar:
            self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._is_bar:
            self._bar.stop()

    @property
    def _is_bar(self) -> bool:
        return self._console.is_terminal and not self._quiet

    def show(self, row: dict[str, Any]) -> None:
        """Shows one update."""
        if self._quiet:
            return
        updates = row["update"] - self._n_done
        steps = updates * self._config.n_envs * self._config.n_steps
        rate = steps / (time.perf_counter() - self._began)
        self._test = row.get(held_out(self._config), self._test)
        numbers = (
            f"{rate:,.0f} steps/s  train {row['train/episode_return']:.2f}  "
            f"test {self._test:.2f}"
        )
        if self._is_bar:
            self._bar.update(
                self._task,
                completed=row["update"],
                description="training",
                numbers=numbers,
            )
        else:
            total = self._config.n_updates
            self._console.print(f"[{row['update']}/{total}] {numbers}", markup=False)
