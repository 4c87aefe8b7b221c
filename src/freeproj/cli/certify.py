"""`freeproj certify`: does an agent adapt to projections it has never seen?"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import click

from freeproj.cli.output import echo
from freeproj.cli.progress import working
from freeproj.storage.names import import_name, is_import_name

__all__ = ["certify"]


@click.command()
@click.argument("agent")
@click.option(
    "--task",
    default="",
    help="A task, or the id of a Gymnasium environment. Default: the agent's own.",
)
@click.option(
    "--episodes",
    default=64,
    show_default=True,
    help="Episodes under each condition, and unseen projections.",
)
@click.option(
    "--trials",
    default=0,
    help="Trials of an episode. Default: as in the agent's training, or 4.",
)
@click.option(
    "--dim",
    default=0,
    help="Numbers that the policy sees. Default: as many as it was trained on.",
)
@click.option(
    "--scale", default=1.0, show_default=True, help="Norm of the projections."
)
@click.option(
    "--frame",
    default=0,
    help="Put a frame of this many directions in front of the policy.",
)
@click.option(
    "--algorithm",
    default="",
    help="Class of a Stable-Baselines3 file. Default: read from the file.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the episodes.")
@click.option(
    "--card",
    "cards",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the card to FILE: .md, .html or .json; may be repeated.",
)
@click.option(
    "--require",
    type=click.Choice(["uses", "adapts", "invariant"]),
    help="End with exit code 1 unless the agent uses its observation, adapts, or is "
    "invariant.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def certify(
    agent: str,
    task: str,
    episodes: int,
    trials: int,
    dim: int,
    scale: float,
    frame: int,
    algorithm: str,
    seed: int,
    cards: tuple[Path, ...],
    require: str | None,
    as_json: bool,
) -> None:
    """Say whether AGENT adapts to projections it has never seen.

    AGENT is an agent that ships with freeproj (cartpole, flash-cards, repeat-first), a
    run's folder, an exported file, a model saved by Stable-Baselines3 or sb3-contrib
    (.zip; loading one may run code in it), or your own policy as module:attribute.
    """
    from freeproj.adapters.certify import certify as play

    policy = _load(agent, algorithm)
    with working("playing"):
        found = play(
            policy,
            task or None,
            n_episodes=episodes,
            n_trials=trials,
            dim=dim,
            scale=scale,
            frame=frame,
            seed=seed,
            name=agent,
        )
    for card in cards:
        found.save(card)
    if as_json:
        echo(json.dumps(found.to_dict(), indent=2))
    else:
        *lines, sentence = str(found).splitlines()
        echo("\n".join([*lines, *textwrap.wrap(sentence, 79)]))
        for card in cards:
            echo(card)
    if require is not None and not found.meets(require):
        echo(f"freeproj: required `{require}`, found `{found.verdict}`.", err=True)
        raise SystemExit(1)


def _load(agent: str, algorithm: str) -> Any:
    """Return the policy that an argument names."""
    if Path(agent).suffix == ".zip":
        from freeproj.adapters.certify.models import load_model

        return load_model(agent, algorithm)
    if is_import_name(agent) and not Path(agent).exists():
        return import_name(agent, "policy")
    from freeproj.experiments.agents import load_agent

    return load_agent(agent)
