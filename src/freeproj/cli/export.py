"""`freeproj export`: a trained agent as one file, with its card."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.progress import working

if TYPE_CHECKING:
    from freeproj.experiments.agents import LoadedAgent

__all__ = ["export"]

_MAPS = ("tile", "minus_tile", "random", "zero")


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--command", default="", help="Text for the card: how the agent was trained."
)
@click.option(
    "--does-not", default="", help="Text for the card: what the agent does not do."
)
@click.option("--json", "as_json", is_flag=True, help="Print the card as JSON.")
def export(run: Path, file: Path, command: str, does_not: str, as_json: bool) -> None:
    """Save the agent of RUN as FILE, which must end in .npz.

    FILE holds weights, settings and a card with its returns on four maps. Use it
    wherever a command takes a run, or in Python with `freeproj.load_agent(FILE)`.
    """
    from freeproj.experiments.agents import export_agent, load_agent

    loaded = load_agent(run)
    with working("testing for the card"):
        card: dict[str, Any] = _card(loaded)
    card |= {"command": command, "does_not": does_not}
    export_agent(loaded, file, card)
    if as_json:
        click.echo(json.dumps(card, indent=2))
        return
    for name, found in card["returns"].items():
        trials = "  ".join(_number(value) for value in found["trials"])
        click.echo(f"{name:<11}{_number(found['mean'])} a trial; by trial  {trials}")
    click.echo(file)


def _card(loaded: LoadedAgent) -> dict[str, Any]:
    """Test the agent under several maps; returns are those of one trial."""
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


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"
