"""`freeproj export`: a trained agent as one file, with its card."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.options import FILE, json_option
from freeproj.cli.output import number, print_json
from freeproj.experiments.progress import working

if TYPE_CHECKING:
    from freeproj.experiments.agents import LoadedAgent

__all__ = ["export"]

_MAPS = ("tile", "minus_tile", "random", "zero")


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("file", required=False, type=FILE)
@click.option(
    "--hub",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write in the layout of the Hugging Face Hub: safetensors, model "
    "card, replay. Nothing is uploaded.",
)
@json_option
def export(run: Path, file: Path | None, hub: Path | None, as_json: bool) -> None:
    """Save the agent of RUN as FILE, which must end in .npz, or as a folder.

    FILE holds weights, settings and a card with its returns on four projections. Use
    it, or the folder of `--hub`, wherever a command takes a run, or in Python with
    `freeproj.load_agent`.
    """
    from freeproj.experiments.agents import export_agent, load_agent

    if file is None and hub is None:
        raise click.UsageError("Name a FILE ending in .npz, or a folder by `--hub`.")
    loaded = load_agent(run)
    card: dict[str, Any] = loaded.card
    if not card.get("returns"):
        with working("testing for the card"):
            card = _card(loaded)
    card = {"command": "", "does_not": ""} | card
    if file is not None:
        export_agent(loaded, file, card)
    if hub is not None:
        _write_hub(loaded, hub, card, run.name)
    if as_json:
        print_json(card)
        return
    for name, found in card["returns"].items():
        trials = "  ".join(number(value, 3) for value in found["trials"])
        click.echo(f"{name:<11}{number(found['mean'], 3)} a trial; by trial  {trials}")
    for path in (file, hub):
        if path is not None:
            click.echo(path)


def _write_hub(
    loaded: LoadedAgent, folder: Path, card: dict[str, Any], name: str
) -> None:
    """Write the folder; its replay is an episode under an unseen projection."""
    from freeproj.cli.evaluate import save_episode
    from freeproj.experiments.hub import REPLAY, write_hub

    folder.mkdir(parents=True, exist_ok=True)
    with working("drawing an episode"):
        save_episode(
            loaded, loaded.config.evaluation_env("", "random"), folder / REPLAY
        )
    write_hub(loaded.agent, loaded.config, folder, card, name)


def _card(loaded: LoadedAgent) -> dict[str, Any]:
    """Test the agent under several projections; returns are those of one trial."""
    import jax

    from freeproj.experiments.settings import flat
    from freeproj.learning.evaluate import evaluate

    config = loaded.config
    found = evaluate(jax.random.key(2**31 - 1), loaded.agent, config, maps=_MAPS)
    returns = {}
    for name, each in found.items():
        trials = each.trial_returns.tolist()
        mean = float(each.episodes.mean_return) / config.n_trials
        returns[name] = {
            "mean": mean if math.isfinite(mean) else None,
            "trials": [t if math.isfinite(t) else None for t in trials],
            "episodes": int(each.episodes.n_finished),
        }
    return {
        "task": list(config.tasks),
        "seed": config.seed,
        "steps": config.n_updates * config.n_envs * config.n_steps,
        "weights": sum(leaf.size for leaf in jax.tree.leaves(loaded.agent)),
        "settings": flat(config),
        "returns": returns,
    }
