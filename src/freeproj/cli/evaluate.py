"""`freeproj evaluate` and `freeproj watch`: a trained agent at work."""

from __future__ import annotations

import dataclasses
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.options import (
    FILE,
    SpreadCommand,
    json_option,
    seed_option,
    split_words,
)
from freeproj.cli.output import echo, number, print_json
from freeproj.experiments.progress import working

if TYPE_CHECKING:
    from freeproj.experiments.agents import LoadedAgent
    from freeproj.learning.config import TrainConfig
    from freeproj.learning.evaluate import EpisodeStats, Evaluation
    from freeproj.meta.episodes import MetaEnv

__all__ = ["evaluate", "save_episode", "watch"]

_RUN = click.argument("run", type=click.Path(path_type=Path))
_TASK = click.option(
    "--task", default="", show_default=False, help="Another task than the run's own."
)


@click.command(cls=SpreadCommand, spread=("--map", "--maps"))
@_RUN
@_TASK
@click.option(
    "--map",
    "--maps",
    "maps",
    multiple=True,
    metavar="NAME...",
    help="Test projections, e.g. `tile minus_tile random zero`, or your own as "
    "module:function. Default: those of the run.",
)
@click.option(
    "--action-map",
    metavar="NAME",
    help="identity: actions as they are; random: relabelled anew for each episode. "
    "Default: the run's own setting.",
)
@seed_option
@json_option
def evaluate(
    run: Path,
    task: str,
    maps: tuple[str, ...],
    action_map: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Test the agent of RUN on several projections at once; its weights are frozen.

    RUN is a run's folder, an exported file, or an agent that ships with freeproj:
    cartpole, flash-cards, minesweeper, repeat-first.
    """
    from freeproj.experiments.agents import load_agent
    from freeproj.learning.evaluate import evaluate as measure
    from freeproj.learning.train import seed_key

    loaded = load_agent(run)
    config, chosen = loaded.config, split_words(maps)
    if action_map is not None:
        tests = dataclasses.replace(config.evaluation, action_map=action_map)
        config = dataclasses.replace(config, evaluation=tests)
    with working("playing"):
        found = measure(
            seed_key(seed), loaded.agent, config, task=task, maps=tuple(chosen)
        )
    held_out = task or config.evaluation.task
    tasks = [held_out] if held_out else list(config.tasks)
    if as_json:
        print_json(_as_json(found, config, tasks))
        return
    echo("\n".join(_as_text(found, config, tasks)))
    if not task and action_map is None and (run / "final.json").is_file():
        echo("\n".join(_last_test(run, tuple(found))))


def _as_json(
    found: dict[str, Evaluation], config: TrainConfig, tasks: list[str]
) -> dict[str, Any]:
    maps = {
        name: {
            **_numbers(found[name].episodes),
            "norm": norm,
            "window": _numbers(found[name].window),
            "trial_returns": found[name].trial_returns,
        }
        for name, norm in _norms(config, tasks, found).items()
    }
    return {
        "tasks": tasks,
        "n_trials": config.n_trials,
        "training_norm": config.projection.scale,
        "action_map": config.evaluation.action_map,
        "maps": maps,
    }


def _numbers(stats: EpisodeStats) -> dict[str, Any]:
    return {
        "mean": float(stats.mean_return),
        "standard_error": float(stats.standard_error),
        "count": int(stats.n_finished),
        "unfinished": int(stats.n_unfinished),
    }


def _as_text(
    found: dict[str, Evaluation], config: TrainConfig, tasks: list[str]
) -> list[str]:
    lines = [
        f"{', '.join(tasks)}: {config.evaluation.n_envs} environments per projection, "
        f"episodes of {config.n_trials} trials",
        "",
        f"{'projection':<14}{'norm':>6}{'return':>10}{'± se':>9}{'episodes':>10}"
        f"{'first trial':>13}{'last trial':>12}",
    ]
    for name, norm in _norms(config, tasks, found).items():
        stats, trials = found[name].episodes, found[name].trial_returns.tolist()
        lines.append(
            f"{name:<14}{number(norm):>6}{number(stats.mean_return, 3):>10}"
            f"{number(stats.standard_error, 3):>9}{int(stats.n_finished):>10}"
            f"{number(trials[0], 3):>13}{number(trials[-1], 3):>12}"
        )
    norm = f"Training projections have norm {config.projection.scale:.2f}."
    lines += ["", f"{norm} A dash: no episode finished."]
    if config.evaluation.action_map != "identity":
        lines.append(f"Actions are mapped by {config.evaluation.action_map}.")
    if "zero" in found:
        lines.append("zero: blanked, that is, zeros instead of the observation.")
    return lines + [_levels(task, config.n_trials) for task in tasks]


def _last_test(run: Path, maps: tuple[str, ...]) -> list[str]:
    """Say what the run's own last test found, and why that differs."""
    from freeproj.experiments.run import read_run

    row = read_run(run).log()[-1]
    found = {name: row.get(f"test/{name}/episodes/episode_return") for name in maps}
    known = [
        f"{n} {number(value, 3)}" for n, value in found.items() if value is not None
    ]
    if not known:
        return []
    return [
        f"The run's own last test: {', '.join(known)}. It played other episodes, drawn "
        "from the run's seed."
    ]


def _norms(
    config: TrainConfig, tasks: list[str], maps: dict[str, Evaluation]
) -> dict[str, float]:
    from freeproj.learning.evaluate import map_norms

    other = tasks[0] if len(tasks) == 1 else ""  # the norm may depend on the task
    return map_norms(config.evaluation_env(other), tuple(maps))


def _levels(task: str, n_trials: int) -> str:
    """Say what to compare an episode's return with, as far as it is known."""
    from freeproj.findings.baselines import episode_levels

    known = episode_levels(task, n_trials)
    if math.isnan(known.chance):
        return f"{task}: chance and best return are not known."
    return (
        f"{task}: chance {known.chance:.2f}, best open-loop policy {known.blind:.2f}, "
        f"best possible {known.ceiling:.2f}."
    )


@click.command()
@_RUN
@_TASK
@click.option(
    "--map",
    "--maps",
    "map_",
    help="Projection to play under. Default: the run's first.",
)
@seed_option
@click.option("--delay", default=0.15, help="Seconds per step.")
@click.option("--gif", type=FILE, help="Save the episode as a GIF, do not print it.")
def watch(
    run: Path, task: str, map_: str | None, seed: int, delay: float, gif: Path | None
) -> None:
    """Show one episode of the agent of RUN, step by step. Ctrl-C ends it."""
    if gif is not None and gif.suffix.lower() != ".gif":
        raise click.UsageError(f"`--gif` takes a file name ending in .gif, got {gif}.")
    from freeproj.experiments.agents import load_agent
    from freeproj.learning.watch import play_episode

    loaded = load_agent(run)
    env = loaded.config.evaluation_env(task, map_ or loaded.config.test_maps[0])
    if gif is None:
        for frame in play_episode(loaded.agent, env, seed):
            echo(frame.text)
            time.sleep(delay)
        return
    with working("drawing"):
        save_episode(loaded, env, gif, seed)
    echo(gif)


def save_episode(
    loaded: LoadedAgent, env: MetaEnv, path: Path, seed: int = 0, scale: float = 0.0
) -> None:
    """Play an episode and save it as a GIF."""
    from freeproj.learning.watch import play_episode
    from freeproj.report.animation import save_gif

    title = f"{', '.join(each.name for each in env.tasks)}, {loaded.config.memory}"
    save_gif(path, play_episode(loaded.agent, env, seed), title, scale=scale)
