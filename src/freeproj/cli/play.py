"""`freeproj play TASK`: a person in the agent's place."""

import secrets
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from freeproj.cli.stopping import exit_code
from freeproj.storage.signals import waiting

__all__ = ["parse_action", "play"]

_QUIT = ("q", "quit", "exit")


@click.command()
@click.argument("task")
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the start. Default: a new one."
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    default=1,
    help="How often to play the same deck, board or start.",
)
def play(task: str, seed: int | None, trials: int) -> None:
    """Play TASK yourself: type an action's name or number.

    Quit with q, Ctrl-D or Ctrl-C. `freeproj envs` lists the tasks.
    """
    from freeproj.envs import Discrete, make
    from freeproj.envs.baselines import baselines
    from freeproj.envs.registry import find

    env = make(task)
    if not isinstance(env.action_space, Discrete):
        raise ValueError(
            f"TASK must have actions that can be named, got {env.name}, whose actions "
            "are real numbers; `freeproj envs` lists the numbers of actions."
        )
    seed = secrets.randbelow(10**6) if seed is None else seed
    choices = f"{_choices(env.action_names)}. q leaves. Seed {seed}."
    click.echo(f"{env.name}: {find(env.name)[0].summary}.\nActions: {choices}")
    returns: list[float] = []
    code = 0
    try:
        for trial in range(1, trials + 1):
            click.echo(f"\nTrial {trial} of {trials}")
            returns.append(0.0)
            for reward in _rewards(env, seed):
                returns[-1] += reward
                click.echo(f"reward {reward:+.3f}, return {returns[-1]:+.3f}")
    except (EOFError, KeyboardInterrupt) as stop:
        code = exit_code(stop) if isinstance(stop, KeyboardInterrupt) else 0
        click.echo(f"\nStopped in trial {len(returns)}.")
    click.echo(f"Return of each trial: {' '.join(f'{x:+.3f}' for x in returns)}")
    if known := baselines(env.name):
        chance, best = known.chance.mean, known.best.value
        click.echo(f"By chance {chance:+.3f}, at best {best:+.3f}.")
    if code:
        sys.exit(code)


def parse_action(text: str, names: Sequence[str]) -> int:
    """Return the action meant by its number, its name or a unique beginning of it."""
    word = text.strip().lower()
    if word.isdecimal() and int(word) < len(names):
        return int(word)
    exact = [i for i, name in enumerate(names) if name == word]
    meant = exact or [i for i, name in enumerate(names) if name.startswith(word)]
    if word and len(meant) == 1:
        return meant[0]
    raise ValueError(f"{text.strip()!r} is not an action; choose {_choices(names)}.")


def _rewards(env: Any, seed: int) -> Iterator[float]:
    """Play one trial by asking for actions; yield each step's reward."""
    import jax

    key, params = jax.random.key(seed), env.default_params
    _, state = env.reset(key, params)
    step = jax.jit(env.step)
    ended, time = False, 0
    while not ended:
        click.echo(env.render(state))
        action = _ask(env.action_names)
        key_step = jax.random.fold_in(key, time)
        _, state, reward, *ends, _ = step(key_step, state, action, params)
        ended, time = any(map(bool, ends)), time + 1
        yield float(reward)
    click.echo(env.render(state))


def _ask(names: Sequence[str]) -> int:
    """Prompt until an action is understood."""
    prompt = f"{'/'.join(names)}> " if len(names) <= 4 else "> "
    while True:
        with waiting():
            text = input(prompt)
        if text.strip().lower() in _QUIT:
            raise EOFError
        try:
            return parse_action(text, names)
        except ValueError as error:
            click.echo(str(error))


def _choices(names: Sequence[str]) -> str:
    listed = ", ".join(names) if len(names) <= 4 else f"{names[0]} … {names[-1]}"
    return f"{listed} (or 0 … {len(names) - 1})"
