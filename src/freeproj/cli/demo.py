"""`freeproj demo`: an agent that visibly learns within an episode, in a minute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.options import json_option, out_option, seed_option
from freeproj.cli.output import print_json
from freeproj.cli.plotting import plot

if TYPE_CHECKING:
    from freeproj.experiments.agents import LoadedAgent
    from freeproj.learning.config import TrainConfig

__all__ = ["demo"]

_INTRODUCTION = """\
Flash cards behind a random projection. Each of four suits is shown as four
numbers: its column of a random matrix, and the matrix is new in every episode.
Only the rewards tell which numbers mean which suit, so a good player guesses
in the first trial and knows the suits by the second. An episode is {n_trials} trials
of 12 cards; a right answer earns 1/12, a wrong one -1/12.

Two agents are trained for {n_updates} updates each, about a minute including
compilation. One sees the numbers as they are; the other sees a frame: the same
numbers in coordinates that no matrix changes. "train" is the return of a whole
episode; {n_trials} would be perfect, guessing earns {chance:g}.
"""
_CHANCE = -0.5  # one suit of four is right
_AGENTS = {"frame": "frame", "ordinary": "none"}  # and their encoders


@click.command()
@out_option("demo", "Folder for the run and its GIF.")
@seed_option
@json_option
def demo(out: Path, seed: int, as_json: bool) -> None:
    """Train an agent that adapts within an episode, and an ordinary one: a minute.

    Prints the return in each trial of an agent that sees a frame, of an ordinary one,
    and of the first with its observation blanked, beside chance. Draws a plot, and
    saves an episode as a GIF.
    """
    from freeproj.experiments.agents import load_agent
    from freeproj.experiments.settings import read_config

    configs = {
        name: read_config("demo", {"seed": seed, "encoder": encoder})
        for name, encoder in _AGENTS.items()
    }
    config = configs["frame"]
    if not as_json:
        sizes = {"n_trials": config.n_trials, "n_updates": config.n_updates}
        click.echo(_INTRODUCTION.format(**sizes, chance=_CHANCE * config.n_trials))
    found: dict[str, Any] = {}
    for name, each in configs.items():
        if not as_json:
            click.echo(f"{name} agent:")
        run = _train(each, out, quiet=as_json)
        loaded = load_agent(run)
        found |= {name: _trials(loaded, "random"), f"{name}_run": str(run)}
        if name == "frame":
            found |= {"blanked": _trials(loaded, "zero"), "gif": _gif(loaded, run)}
    found["chance"] = [_CHANCE] * config.n_trials
    if as_json:
        print_json(found)
    else:
        _show(found, config)


def _train(config: TrainConfig, out: Path, quiet: bool) -> Path:
    from freeproj.experiments.progress import TrainProgress
    from freeproj.experiments.run import open_run, run_training

    run = open_run(out, config)
    with TrainProgress(config, len(run.log()), quiet) as progress:
        run_training(config, out, report=progress.show)
    return run.folder


def _trials(loaded: LoadedAgent, map_name: str) -> list[float]:
    """Return the mean return of each trial, under matrices not used in training."""
    import jax

    from freeproj.learning.evaluate import evaluate

    key = jax.random.fold_in(jax.random.key(loaded.config.seed), 1)
    found = evaluate(key, loaded.agent, loaded.config, maps=map_name)
    return found[map_name].trial_returns.tolist()


def _gif(loaded: LoadedAgent, folder: Path) -> str | None:
    """Draw an episode; None where Pillow is not installed."""
    from freeproj.cli.evaluate import save_episode

    env, file = loaded.config.evaluation_env("", "random"), folder / "episode.gif"
    try:
        save_episode(loaded, env, file, seed=1, scale=1.0)
    except ModuleNotFoundError:
        return None
    return str(file)


def _show(found: dict[str, Any], config: TrainConfig) -> None:
    names = ("frame", "ordinary", "blanked", "chance")
    n_envs = config.evaluation.n_envs
    click.echo(
        f"\nMean return of each trial, from -1 to 1, over {n_envs} episodes. Each "
        "episode has\na matrix that was not used in training. blanked: the frame agent "
        "shown only zeros."
    )
    trials = range(1, config.n_trials + 1)
    click.echo("trial    " + "".join(f"{trial:>8}" for trial in trials))
    for name in names:
        click.echo(f"{name:<9}" + "".join(f"{value:>8.2f}" for value in found[name]))
    click.echo()
    ends = ("1", str(config.n_trials))
    shown = {name: found[name] for name in names}
    click.echo(plot(shown, x_name="trial", x_ends=ends, width=50))
    click.echo()
    if found["gif"]:
        click.echo(f"An episode as a GIF:\n  {found['gif']}")
    else:
        click.echo("No GIF was drawn; it needs Pillow: pip install 'freeproj[report]'.")
    click.echo(f"Watch another:\n  freeproj watch {found['frame_run']} --map random")
