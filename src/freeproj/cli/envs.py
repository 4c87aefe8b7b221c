"""`freeproj envs [NAME]`: the tasks, and the returns to compare an agent's with."""

import textwrap
from dataclasses import replace
from typing import Any

import click

from freeproj.cli.options import json_option
from freeproj.cli.output import show
from freeproj.envs import REGISTRY, Box, Discrete, Environment, make
from freeproj.envs.baselines import Baselines, Ceiling, baselines
from freeproj.envs.registry import Family, find

__all__ = ["envs"]

_N_TRIALS = 16
_LEGEND = (
    "obs: size of an observation. act: number of actions (R: a real number). steps: "
    "longest trial. Returns of one trial: chance, uniformly random actions; open-loop, "
    "the best simple policy that ignores its observation; best, the best policy that "
    f"has met the same start before. limit: the most that {_N_TRIALS} trials "
    "from one new start can earn. ~ estimate, ≤ bound, ≥ reached, – not known. Easy "
    "may be left out of a name. `freeproj envs NAME` shows more."
)
_MARKS = {"exact": "", "estimate": "~", "bound": "≤", "reached": "≥"}
_UNKNOWN = "–"


@click.command()
@click.argument("name", required=False)
@json_option
def envs(name: str | None, as_json: bool) -> None:
    """List the tasks with their sizes, chance level and best return.

    With NAME, show all that is known about that task.
    """
    if name is None:
        tasks = [f.make(level) for f in REGISTRY.values() for level in f.levels or [""]]
        facts, width = [_facts(env) for env in tasks], max(len(t.name) for t in tasks)
        returns = f"{'chance':>8}{'open-loop':>11}{'best':>8}{'limit':>8}"
        rows = [f"{env.name:<{width}}{_row(env)}" for env in tasks]
        head = f"{'task':<{width}} obs act steps{returns}"
        lines = [head, *rows, "", textwrap.fill(_LEGEND, 79)]
    else:
        env = make(name)
        lines, facts = _describe(env), _facts(env)
    show(facts, lines, as_json)


def _facts(env: Environment) -> dict[str, Any]:
    """Return what the table says about a task, under full names."""
    space, known = env.action_space, baselines(env.name)
    family, level = find(env.name)
    facts = {
        "name": env.name,
        "family": family.name,
        "level": level,
        "popgym": _popgym_id(family, level),
        "summary": family.summary,
        "observation_size": env.observation_space.size,
        "n_actions": space.n if isinstance(space, Discrete) else None,
        "max_steps": env.max_steps,
    }
    many = f"{_N_TRIALS}_trials"
    names = ("chance", "best_blind", "best")
    names += (f"limit_{many}", f"headroom_{many}", f"reward_only_{many}")
    if known is None:
        return facts | dict.fromkeys(names)
    reward = known.best_reward_only
    numbers = (
        *(known.chance.mean, known.best_blind[1].mean, known.best.value),
        *(known.best_episode(_N_TRIALS), known.headroom(_N_TRIALS)),
        reward[1].episode(_N_TRIALS) if reward else None,
    )
    return facts | dict(zip(names, numbers, strict=True))


def _row(env: Environment) -> str:
    space, known = env.action_space, baselines(env.name)
    actions = str(space.n) if isinstance(space, Discrete) else "R"
    sizes = f"{env.observation_space.size:>4}{actions:>4}{env.max_steps:>6}"
    if known is None:
        return f"{sizes}{_UNKNOWN:>8}{_UNKNOWN:>11}{_UNKNOWN:>8}{_UNKNOWN:>8}"
    chance, blind = known.chance.mean, known.best_blind[1].mean
    total = replace(known.best, value=known.best_episode(_N_TRIALS))
    best = f"{_ceiling(known.best):>8}{_ceiling(total, 2):>8}"
    return f"{sizes}{chance:>z8.3f}{blind:>z11.3f}{best}"


def _describe(env: Environment) -> list[str]:
    known, (family, level) = baselines(env.name), find(env.name)
    lines = [
        f"{env.name}: {family.summary}",
        f"  observation  {env.observation_space.size} entries",
        f"  actions      {_actions(env)}",
        f"  length       at most {env.max_steps} steps",
    ]
    if popgym := _popgym_id(family, level):
        same = family.make_popgym(level) == env
        delay = "" if same else ", which has POPGym's own, shorter delay"
        lines.append(f"  in POPGym    {popgym}{delay}")
    if family.levels:
        lines.append(f"  levels       {', '.join(family.levels)}")
    if known is None:
        return [*lines, "Chance and best return have not been measured."]
    return [*lines, *_one_trial(known), *_many_trials(known)]


def _one_trial(known: Baselines) -> list[str]:
    # All open-loop policies, but only the best of the constant ones.
    constants = [name for name in known.blind if name.startswith("always")]
    best = max(constants, key=lambda name: known.blind[name].mean)
    rows = [
        (name, f"{value.mean:z.4f} ± {value.standard_error:.4f}")
        for name, value in known.blind.items()
        if name == best or name not in constants
    ]
    rows.append(("best", _ceiling(known.best, 4)))
    notes = [f"Best: {known.best.argument}"]
    if known.first_trial and known.first_trial != known.best:
        rows.append(("best, first trial", _ceiling(known.first_trial, 4)))
        notes.append(f"First trial: {known.first_trial.argument}")
    if (maps := known.random_map) is not None:
        spread = f"{maps.mean:z.4f} ± {maps.std:.4f} between them"
        rows.append(("random lookup", spread))
    width = max(len(name) for name, _ in rows)
    shown = [f"  {name:<{width}}  {value}" for name, value in rows]
    return ["Return of one trial", *shown, *notes]


def _many_trials(known: Baselines) -> list[str]:
    lines = [f"Return of {_N_TRIALS} trials of one start"]
    for name, player in known.reward_only.items():
        lines.append(f"  reward only, {name}  {player.episode(_N_TRIALS):.2f}")
        lines.append(f"    {player.argument}")
    blind, room = known.best_blind[1].mean, known.headroom(_N_TRIALS)
    return [
        *lines,
        f"  best open-loop policy  {_N_TRIALS * blind:z.2f}",
        f"  oracle  {known.oracle(_N_TRIALS):.2f}",
        f"  headroom (oracle minus best open-loop policy)  {room:.2f}",
    ]


def _popgym_id(family: Family, level: str) -> str | None:
    return f"popgym-{family.popgym_name}{level}-v0" if family.popgym_name else None


def _actions(env: Environment) -> str:
    space, names = env.action_space, env.action_names
    if isinstance(space, Box):
        return f"vectors between {list(space.low)} and {list(space.high)}"
    shown = names if len(names) <= 4 else (*names[:2], "…", names[-1])
    return f"{len(names)}: {', '.join(shown)}"


def _ceiling(ceiling: Ceiling, digits: int = 3) -> str:
    return f"{_MARKS[ceiling.kind]}{ceiling.value:.{digits}f}"
