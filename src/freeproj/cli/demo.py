"""`freeproj demo`: an agent that visibly learns within an episode, in a minute."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

import freeproj as fp
from freeproj.cli.options import json_option, out_option, seed_option
from freeproj.cli.output import columns, number, show
from freeproj.experiments.progress import working

__all__ = ["demo"]

_INTRODUCTION = """\
Flash cards behind a random projection. Each of four suits is shown as four
numbers: its column of a random matrix, and the matrix is new in every episode.
Only the rewards tell which numbers mean which suit, so a good agent guesses
in the first trial and knows the suits by the second. An episode is {n_trials} trials
of 12 cards; a right answer earns 1/12, a wrong one -1/12.

Two agents are trained at once for {n_updates} updates each, about a minute including
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
    and of the first with its observation blanked, beside chance. Saves an episode as a
    GIF.
    """
    from freeproj.cli.sweep import carry_out
    from freeproj.experiments.run import run_folder

    settings = [{"seed": seed, "encoder": encoder} for encoder in _AGENTS.values()]
    configs = tuple(fp.read_config("demo", each) for each in settings)
    config, n_trials = configs[0], configs[0].n_trials
    if not as_json:
        sizes = {"n_trials": n_trials, "n_updates": config.n_updates}
        click.echo(_INTRODUCTION.format(**sizes, chance=_CHANCE * n_trials))
    if carry_out(configs, out, quiet=as_json):
        raise SystemExit(1)
    folders = [run_folder(out, each) for each in configs]
    found: dict[str, Any] = {}
    with working("playing"), ThreadPoolExecutor() as pool:  # they compile at once
        for shown in pool.map(_show_agent, folders, _AGENTS):
            found |= shown
    found["chance"] = [_CHANCE] * n_trials
    show(found, _lines(found, config.evaluation.n_envs), as_json)


def _show_agent(run: Path, name: str) -> dict[str, Any]:
    """Play an agent under matrices not used in training; draw that with the frame."""
    import jax

    from freeproj.cli.agents import save_episode

    loaded = fp.load_agent(run)
    key = jax.random.fold_in(jax.random.key(loaded.config.seed), 1)
    maps = ("random", "zero") if name == "frame" else "random"
    found = fp.evaluate(key, loaded.agent, loaded.config, maps=maps)
    trials = {shown: each.trial_returns.tolist() for shown, each in found.items()}
    shown = {name: trials["random"], f"{name}_run": str(run)}
    if name != "frame":
        return shown
    gif = run / "episode.gif"
    try:
        save_episode(loaded, gif, seed=1, scale=1.0)
    except ModuleNotFoundError:  # of Pillow
        gif = None
    return shown | {"blanked": trials["zero"], "gif": gif and str(gif)}


def _lines(found: dict[str, Any], n_episodes: int) -> list[str]:
    rows = [
        (name, *(number(value).rjust(5) for value in found[name]))
        for name in (*_AGENTS, "blanked", "chance")
    ]
    gif = found["gif"] and f"An episode as a GIF:\n  {found['gif']}"
    return [
        f"\nMean return of each trial, from -1 to 1, over {n_episodes} episodes. Each "
        "episode has\na matrix that was not used in training. blanked: the frame agent "
        "shown only zeros.\n",
        columns([("trial", *map(str, range(1, len(rows[0])))), *rows]),
        "",
        gif or "No GIF was drawn: it needs `pip install 'freeproj[report]'`.",
        f"Watch another:\n  freeproj watch {found['frame_run']} --map random",
    ]
