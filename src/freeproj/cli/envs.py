"""`freeproj envs [NAME]`: the tasks, and what their returns are to be compared with."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import click

from freeproj.envs import REGISTRY, Box, Discrete, Environment, make
from freeproj.envs.baselines import Baselines, Ceiling, baselines
from freeproj.envs.blind import Estimate
from freeproj.envs.registry import find

__all__ = ["envs"]

_N_TRIALS = 16
_LEGEND = (
    "obs: entries of an observation; act: actions (R: a real number); steps: of the "
    "longest trial; chance: uniform actions; blind: the best simple policy that looks "
    "at nothing; best: of all policies, where the start was met in an earlier trial; "
    f"limit: what none exceeds in {_N_TRIALS} trials of a new start; ~ estimate; "
    "≤ bound. A name may end in Easy (default), Medium or Hard: --all lists them. "
    "`freeproj envs NAME` says more."
)
_MARKS = {"exact": "", "estimate": "~", "bound": "≤", "reached": "≥"}


@click.command()
@click.argument("name", required=False)
@click.option("--all", "all_levels", is_flag=True, help="List Medium and Hard as well.")
def envs(name: str | None, all_levels: bool) -> None:
    """List the tasks with sizes, chance level and best return.

    With NAME: what is known about that task, in full.
    """
    if name is not None:
        for line in _describe(make(name)):
            click.echo(line)
        return
    for line in _table(all_levels):
        click.echo(line)


def _table(all_levels: bool) -> list[str]:
    tasks = [
        family.make(level)
        for family in REGISTRY.values()
        for level in list(family.levels)[: None if all_levels else 1]
    ]
    width = max(len(env.name) for env in tasks)
    sizes, returns = " obs act steps", f"{'chance':>7}{'blind':>7}"
    return [
        f"{'':<{width + len(sizes)}}{'one trial':^21} {f'{_N_TRIALS} trials':^21}",
        f"{'task':<{width}}{sizes}{returns}{'best':>7} {returns}{'limit':>7}",
        *(_row(env, width) for env in tasks),
        "",
        textwrap.fill(_LEGEND, 79),
    ]


def _row(env: Environment, width: int) -> str:
    known = baselines(env.name)
    chance, blind = known.chance.mean, known.best_blind[1].mean
    trial = f"{chance:>z7.3f}{blind:>z7.3f}{_ceiling(known.best):>7}"
    total = _ceiling(replace(known.best, value=known.best_episode(_N_TRIALS)), 2)
    episode = f"{_N_TRIALS * chance:>z7.2f}{_N_TRIALS * blind:>z7.2f}{total:>7}"
    space = env.action_space
    actions = str(space.n) if isinstance(space, Discrete) else "R"
    sizes = f"{env.observation_space.size:>4}{actions:>4}{env.max_steps:>6}"
    return f"{env.name:<{width}}{sizes}{trial} {episode}"


def _describe(env: Environment) -> list[str]:
    known, (family, level) = baselines(env.name), find(env.name)
    lines = [
        f"{env.name}: {family.summary}",
        f"  observation  {env.observation_space.size} entries",
        f"  actions      {_actions(env)}",
        f"  length       at most {env.max_steps} steps",
        f"  in POPGym    popgym-{family.popgym_name}{level}-v0",
        f"  levels       {', '.join(family.levels)}",
        "Return of one trial",
    ]
    rows = [(name, _estimate(value)) for name, value in _shown_policies(known).items()]
    rows.append(("best", _ceiling(known.best, 4)))
    first = known.first_trial if known.first_trial != known.best else None
    if first:
        rows.append(("best, first trial", _ceiling(first, 4)))
    width = max(len(name) for name, _ in rows)
    lines += [f"  {name:<{width}}  {value}" for name, value in rows]
    lines.append(f"Best: {known.best.argument}")
    if first:
        lines.append(f"First trial: {first.argument}")
    return lines


def _actions(env: Environment) -> str:
    space, names = env.action_space, env.action_names
    if isinstance(space, Box):
        return f"vectors between {list(space.low)} and {list(space.high)}"
    shown = names if len(names) <= 4 else (*names[:2], "…", names[-1])
    return f"{len(names)}: {', '.join(shown)}"


def _shown_policies(known: Baselines) -> dict[str, Estimate]:
    """All blind policies, but of the constants only the one that earned most."""
    constants = {n: e for n, e in known.blind.items() if n.startswith("always")}
    best = max(constants, key=lambda name: constants[name].mean)
    return {n: e for n, e in known.blind.items() if n == best or n not in constants}


def _estimate(value: Estimate) -> str:
    return f"{value.mean:z.4f} ± {value.standard_error:.4f}"


def _ceiling(ceiling: Ceiling, digits: int = 3) -> str:
    return f"{_MARKS[ceiling.kind]}{ceiling.value:.{digits}f}"
