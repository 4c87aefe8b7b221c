"""`freeproj evaluate` and `freeproj watch`: a trained agent at work."""

from __future__ import annotations

import time
from pathlib import Path

import click

from freeproj.cli.progress import working

__all__ = ["evaluate", "watch"]

_RUN = click.argument("run", type=click.Path(path_type=Path))
_TASK = click.option("--task", default="", help="Another task than that of the run.")
_MAP = click.option(
    "--map",
    "map_",
    type=click.Choice(["tile", "pad", "identity", "random"]),
    help="The map of observations; the run's own by default.",
)
_SEED = click.option("--seed", default=0, show_default=True, help="Of the episodes.")


@click.command()
@_RUN
@_TASK
@_MAP
@_SEED
def evaluate(run: Path, task: str, map_: str | None, seed: int) -> None:
    """Test the agent of RUN without learning."""
    import jax

    from freeproj.evaluation import evaluate as measure
    from freeproj.experiments.agents import load_agent

    loaded = load_agent(run)
    config = loaded.config
    chosen = map_ or config.evaluation.map
    with working("playing"):
        found = measure(
            jax.random.key(seed), loaded.agent, config, task=task, map=chosen
        )
    tasks = (
        [task or config.evaluation.task] if task or config.protocol == "task" else []
    )
    tasks = tasks or list(config.tasks)
    click.echo(
        f"{', '.join(tasks)}, map {chosen}, {config.evaluation.n_envs} environments, "
        f"episodes of {config.n_trials} trials"
    )
    for counting in ("window", "episodes"):
        stats = getattr(found, counting)
        click.echo(
            f"{counting:<9} return {stats.mean_return:.3f} ± "
            f"{stats.std_return:.3f} (std) over {stats.n_finished} episodes; "
            f"{stats.n_unfinished} unfinished"
        )
    trials = "  ".join(f"{value:.3f}" for value in found.trial_returns.tolist())
    click.echo(f"trials    {trials}")
    for name in tasks:
        click.echo(_levels(name, config.n_trials))


def _levels(task: str, n_trials: int) -> str:
    """What an episode's return is to be compared with; a task of others has nothing."""
    from freeproj.envs.baselines import baselines

    try:
        known = baselines(task)
    except ValueError:
        return f"compare   {task}: chance and best return are not known"
    chance, blind = known.chance.mean, known.best_blind[1].mean
    return (
        f"compare   {task}: chance {n_trials * chance:.2f}, best blind "
        f"{n_trials * blind:.2f}, best {known.best_episode(n_trials):.2f}"
    )


@click.command()
@_RUN
@_TASK
@_MAP
@_SEED
@click.option("--delay", default=0.15, show_default=True, help="Seconds per step.")
@click.option(
    "--gif",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the episode into this file instead.",
)
def watch(
    run: Path, task: str, map_: str | None, seed: int, delay: float, gif: Path | None
) -> None:
    """Show one episode of the agent of RUN in the terminal. Ctrl-C ends it."""
    from freeproj.experiments.agents import load_agent
    from freeproj.watching import play_episode

    loaded = load_agent(run)
    env = loaded.config.evaluation_env(task, map_ or "")
    frames = play_episode(loaded.agent, env, seed)
    if gif is None:
        for frame in frames:
            click.echo(frame.text)
            time.sleep(delay)
        return
    from freeproj.report.animation import save_gif

    with working("drawing"):
        title = f"{', '.join(each.name for each in env.tasks)}, {loaded.config.memory}"
        path = save_gif(gif, frames, title)
    click.echo(path)
