"""`freeproj evaluate`, `watch` and `export`: a trained agent at work, and as a file."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import freeproj as fp
from freeproj.cli import options
from freeproj.cli.output import columns, echo, fill, number, show
from freeproj.cli.train import compared_with, levels_text
from freeproj.experiments.progress import working

if TYPE_CHECKING:
    from freeproj.experiments.agents import LoadedAgent
    from freeproj.learning.evaluate import EpisodeStats, Evaluation

__all__ = ["evaluate", "export", "save_episode", "watch"]

_MAP = ("--map", "--maps")
_TASK = click.option(
    "--task", default="", show_default=False, help="A task, if not its own."
)


@click.command(cls=options.SpreadCommand, spread=_MAP)
@options.run_argument
@_TASK
@click.option(
    *_MAP,
    "maps",
    multiple=True,
    metavar="NAME...",
    help="Test projections, e.g. `tile minus_tile random zero`, or your own as "
    "module:function. Default: those of the run.",
)
@click.option(
    "--action-map",
    metavar="NAME",
    help="identity, or random: relabelled for each episode. Default: as in training.",
)
@options.seed_option
@options.json_option
def evaluate(
    run: Path, task: str, maps: tuple, action_map: str | None, seed: int, as_json: bool
) -> None:
    """Test the agent of RUN on several projections at once; its weights are frozen.

    RUN is a run's folder, an exported file, or an agent that ships with freeproj:
    cartpole, flash-cards, minesweeper, repeat-first.
    """
    from freeproj.learning.evaluate import map_norms
    from freeproj.learning.train import seed_key

    loaded = fp.load_agent(run)
    config, chosen = loaded.config, options.split_words(maps)
    if action_map is not None:
        tests = replace(config.evaluation, action_map=action_map)
        config = replace(config, evaluation=tests)
    with working("playing"):
        key = seed_key(seed)
        found = fp.evaluate(key, loaded.agent, config, task=task, maps=chosen)
    held_out = task or config.evaluation.task
    tasks = [held_out] if held_out else list(config.tasks)
    other = tasks[0] if len(tasks) == 1 else ""  # the norm may depend on the task
    plain = replace(config, normalize_observations=False)
    norms = map_norms(plain.evaluation_env(other), tuple(found))  # of maps alone
    facts = {
        "tasks": tasks,
        "n_trials": config.n_tested_trials,
        "training_norm": config.projection.scale,
        "action_map": config.evaluation.action_map,
        "maps": {name: _facts(each, norms[name]) for name, each in found.items()},
    }
    levels = compared_with(tasks, config).items()
    notes = [f"{name}: {levels_text(each)}." for name, each in levels]
    if not task and action_map is None and (run / "final.json").is_file():
        notes += _last_test(run, tuple(found))
    lines = _lines(facts, config.evaluation.n_envs)
    show(facts, [*lines, *map(fill, notes)], as_json)


def _facts(found: Evaluation, norm: float) -> dict[str, Any]:
    def numbers(stats: EpisodeStats) -> dict[str, Any]:
        error = float(stats.standard_error)
        counts = {"count": int(stats.n_finished), "unfinished": int(stats.n_unfinished)}
        return {"mean": float(stats.mean_return), "standard_error": error, **counts}

    trials, window = found.trial_returns.tolist(), numbers(found.window)
    whole = numbers(found.episodes)
    return {**whole, "norm": norm, "window": window, "trial_returns": trials}


def _lines(facts: dict[str, Any], n_envs: int) -> list[str]:
    head = "projection", "norm", "return", "± se", "episodes", "first trial"
    rows: list[tuple[str, ...]] = [(*head, "last trial")]
    for name, each in facts["maps"].items():
        mean, error = number(each["mean"], 3), number(each["standard_error"], 3)
        trials = [number(value, 3) for value in each["trial_returns"]]
        counts = mean, error, str(each["count"])
        rows.append((name, number(each["norm"]), *counts, trials[0], trials[-1]))
    n_trials = facts["n_trials"]
    lines = [
        f"{', '.join(facts['tasks'])}: {n_envs} environments per projection, episodes "
        f"of {n_trials} trial{'s' * (n_trials > 1)}\n",
        columns(rows),
        f"\nTraining projections have norm {facts['training_norm']:.2f}.",
    ]
    if any("–" in row for row in rows):
        lines.append("A dash: too few episodes finished.")
    if facts["action_map"] != "identity":
        lines.append(f"Actions are mapped by {facts['action_map']}.")
    if "zero" in facts["maps"]:
        lines.append("zero: blanked, that is, zeros instead of the observation.")
    return lines


def _last_test(run: Path, maps: tuple[str, ...]) -> list[str]:
    """Say what the run's own last test found, and why that differs."""
    from freeproj.experiments.run import read_run

    row = read_run(run).log()[-1]
    found = {name: row.get(f"test/{name}/episodes/episode_return") for name in maps}
    known = [f"{n} {number(x, 3)}" for n, x in found.items() if x is not None]
    why = "It played other episodes, drawn from the run's seed."
    return [f"The run's own last test: {', '.join(known)}. {why}"] if known else []


@click.command()
@options.run_argument
@_TASK
@click.option(*_MAP, "map_", help="Projection to play under. Default: the run's first.")
@options.seed_option
@click.option("--delay", default=0.15, help="Seconds per step.")
@click.option("--gif", type=options.FILE, help="Save the episode as a GIF instead.")
def watch(
    run: Path, task: str, map_: str | None, seed: int, delay: float, gif: Path | None
) -> None:
    """Show one episode of the agent of RUN, step by step. Ctrl-C ends it."""
    if gif is not None and gif.suffix.lower() != ".gif":
        raise click.UsageError(f"`--gif` takes a file name ending in .gif, got {gif}.")
    from freeproj.learning.watch import play_episode

    loaded = fp.load_agent(run)
    played_map = map_ or loaded.config.test_maps[0]
    if gif is not None:
        with working("drawing"):
            save_episode(loaded, gif, task, played_map, seed)
        echo(gif)
        return
    env = loaded.config.evaluation_env(task, played_map)
    for frame in play_episode(loaded.agent, env, seed):
        echo(frame.text)
        time.sleep(delay)


def save_episode(
    loaded: LoadedAgent, path: Path, task="", map_name="random", seed=0, scale=0.0
) -> None:
    """Play an episode, under an unseen projection by default; save it as a GIF."""
    from freeproj.learning.watch import play_episode
    from freeproj.report.animation import save_gif

    env = loaded.config.evaluation_env(task, map_name)
    title = f"{', '.join(each.name for each in env.tasks)}, {loaded.config.memory}"
    save_gif(path, play_episode(loaded.agent, env, seed), title, scale=scale)


@click.command()
@options.run_argument
@click.argument("file", required=False, type=options.FILE)
@click.option(
    "--hub",
    type=options.FOLDER,
    help="Folder to write in the layout of the Hugging Face Hub; nothing is uploaded.",
)
@options.json_option
def export(run: Path, file: Path | None, hub: Path | None, as_json: bool) -> None:
    """Save the agent of RUN as FILE, which must end in .npz, or as a folder.

    FILE holds weights, settings and a card with its returns on four projections. Use
    it, or the folder of `--hub`, wherever a command takes a run, or in Python with
    `freeproj.load_agent`.
    """
    from freeproj.experiments.agents import export_agent
    from freeproj.experiments.hub import REPLAY, write_hub

    if file is None and hub is None:
        raise click.UsageError("Name a FILE ending in .npz, or a folder by `--hub`.")
    loaded = fp.load_agent(run)
    card: dict[str, Any] = loaded.card
    if not card.get("returns"):
        with working("testing for the card"):
            card = _card(loaded)
    card = {"command": "", "does_not": ""} | card
    if file is not None:
        export_agent(loaded, file, card)
    if hub is not None:
        hub.mkdir(parents=True, exist_ok=True)
        with working("drawing an episode"):  # under an unseen projection
            save_episode(loaded, hub / REPLAY)
        write_hub(loaded.agent, loaded.config, hub, card, run.name)
    head = "projection", "return per trial", "first trial", "last trial"
    rows: list[tuple[str, ...]] = [head]
    for name, found in card["returns"].items():
        values = found["mean"], found["trials"][0], found["trials"][-1]
        rows.append((name, *(number(value, 3) for value in values)))
    paths = [str(path) for path in (file, hub) if path is not None]
    show(card, [columns(rows), "", *paths], as_json)


def _card(loaded: LoadedAgent) -> dict[str, Any]:
    """Test the agent under several projections; returns are those of one trial."""
    import jax

    from freeproj.experiments.log import without_nans
    from freeproj.experiments.settings import flat

    config, key = loaded.config, jax.random.key(2**31 - 1)
    maps = ("tile", "minus_tile", "random", "zero")
    found = fp.evaluate(key, loaded.agent, config, maps=maps)
    returns = {
        name: {
            "mean": float(each.episodes.mean_return) / config.n_tested_trials,
            "trials": each.trial_returns.tolist(),
            "episodes": int(each.episodes.n_finished),
        }
        for name, each in found.items()
    }
    return {
        "task": list(config.tasks),
        "seed": config.seed,
        "steps": config.n_updates * config.n_envs * config.n_steps,
        "weights": sum(leaf.size for leaf in jax.tree.leaves(loaded.agent)),
        "settings": flat(config),
        "returns": without_nans(returns),
    }
