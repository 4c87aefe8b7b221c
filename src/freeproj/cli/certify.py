"""`freeproj certify`: does an agent adapt to projections it has never seen?"""

from pathlib import Path
from typing import Any

import click

from freeproj.cli.options import FILE, json_option, seed_option
from freeproj.cli.output import echo, fill, show
from freeproj.experiments.progress import working
from freeproj.storage.names import import_name, is_import_name

__all__ = ["certify"]


@click.command()
@click.argument("agent")
@click.option("--task", help="A task, or a Gymnasium id, if not the agent's own.")
@click.option(
    "--episodes", "n_episodes", default=64, help="Episodes under each condition."
)
@click.option(
    "--trials",
    "n_trials",
    type=int,
    help="Trials of an episode. Default: as in the agent's training, or 4.",
)
@click.option("--dim", type=int, help="Size of what it sees. Default: as in training.")
@click.option("--scale", default=1.0, help="Factor of projections, if not the agent's.")
@click.option("--frame", type=int, help="Size of a frame to put before the policy.")
@seed_option
@click.option(
    "--card",
    "cards",
    multiple=True,
    type=FILE,
    help="Write the card to FILE: .md, .html or .json; may be repeated.",
)
@click.option(
    "--require",
    type=click.Choice(["uses", "adapts", "invariant"]),
    help="End with exit code 1 unless the agent does at least this.",
)
@json_option
def certify(
    agent: str,
    task: str | None,
    cards: tuple[Path, ...],
    require: str | None,
    as_json: bool,
    **how: Any,
) -> None:
    """Say whether AGENT adapts to projections it has never seen.

    AGENT is an agent that ships with freeproj (cartpole, flash-cards,
    minesweeper, repeat-first), a run's folder, an exported file, a model saved by
    Stable-Baselines3 or sb3-contrib (.zip; loading one may run code in it), or your
    own policy as module:attribute.
    """
    from freeproj.adapters.certify import certify as play

    chosen: Any = {name: value or 0 for name, value in how.items()}
    with working("playing"):
        found = play(_load(agent), task, name=agent, **chosen)
    for card in cards:
        found.save(card)
    *lines, sentence = str(found).splitlines()
    told = [*lines, fill(sentence), *map(str, cards)]
    show(found.to_dict(), told, as_json)
    if require is not None and not found.meets(require):
        echo(f"freeproj: required `{require}`, found `{found.verdict}`.", err=True)
        raise SystemExit(1)


def _load(agent: str) -> Any:
    """Return the policy that an argument names."""
    if Path(agent).suffix == ".zip":
        from freeproj.adapters.certify.players import load_model

        return load_model(agent)
    if is_import_name(agent) and not Path(agent).exists():
        return import_name(agent, "policy")
    from freeproj.experiments.agents import load_agent

    return load_agent(agent)
