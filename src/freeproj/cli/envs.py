"""`freeproj envs [NAME]`: the tasks, and the returns to compare an agent's with."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from freeproj.cli.options import json_option
from freeproj.cli.output import columns, show

if TYPE_CHECKING:
    from freeproj.envs import Environment
    from freeproj.envs.baselines import Baselines, Ceiling
    from freeproj.envs.registry import Family

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
_LINE = "{:<28} {:>3} {:>3} {:>5} {:>7} {:>10} {:>7} {:>7}"
_HEAD = ("task", "obs", "act", "steps", "chance", "open-loop", "best", "limit")


@click.command()
@click.argument("name", required=False)
@json_option
def envs(name: str | None, as_json: bool) -> None:
    """List the tasks with their sizes, chance level and best return.

    With NAME, show all that is known about that task.
    """
    from freeproj.envs import REGISTRY, make

    if name is None:
        families = REGISTRY.values()
        tasks = [_known(f.make(level)) for f in families for level in f.levels or [""]]
        facts = [_facts(task) for task in tasks]
        rows = [_LINE.format(*row) for row in (_HEAD, *map(_row, tasks))]
        lines = [*rows, "", textwrap.fill(_LEGEND, 79)]
    else:
        task = _known(make(name))
        lines, facts = _describe(task), _facts(task)
    show(facts, lines, as_json)


class _Task(NamedTuple):
    env: Environment
    family: Family
    level: str
    known: Baselines | None

    @property
    def n_actions(self) -> int | None:
        return getattr(self.env.action_space, "n", None)  # None: real numbers

    @property
    def popgym(self) -> str | None:
        name = self.family.popgym_name
        return f"popgym-{name}{self.level}-v0" if name else None


def _known(env: Environment) -> _Task:
    from freeproj.envs.baselines import baselines
    from freeproj.envs.registry import find

    return _Task(env, *find(env.name), baselines(env.name))


def _facts(task: _Task) -> dict[str, Any]:
    """Return what the table says about a task, under full names."""
    known, n = task.known, _N_TRIALS
    reward = known and known.best_reward_only
    return {
        "name": task.env.name,
        "family": task.family.name,
        "level": task.level,
        "popgym": task.popgym,
        "summary": task.family.summary,
        "observation_size": task.env.observation_space.size,
        "n_actions": task.n_actions,
        "max_steps": task.env.max_steps,
        "chance": known and known.chance.mean,
        "best_blind": known and known.best_blind[1].mean,
        "best": known and known.best.value,
        f"limit_{n}_trials": known and known.best_episode(n),
        f"headroom_{n}_trials": known and known.headroom(n),
        f"reward_only_{n}_trials": reward and reward[1].episode(n),
    }


def _row(task: _Task) -> list[Any]:
    env, known = task.env, task.known
    sizes = env.observation_space.size, task.n_actions or "R", env.max_steps
    if known is None:
        return [env.name, *sizes, *"––––"]
    total = replace(known.best, value=known.best_episode(_N_TRIALS))
    means = f"{known.chance.mean:z.3f}", f"{known.best_blind[1].mean:z.3f}"
    return [env.name, *sizes, *means, _ceiling(known.best), _ceiling(total, 2)]


def _describe(task: _Task) -> list[str]:
    env, family, level, known = task
    lines = [
        f"{env.name}: {family.summary}",
        f"  observation  {env.observation_space.size} entries",
        f"  actions      {_actions(env)}",
        f"  length       at most {env.max_steps} steps",
    ]
    if task.popgym:
        same = family.make_popgym(level) == env
        delay = "" if same else ", which has POPGym's own, shorter delay"
        lines.append(f"  in POPGym    {task.popgym}{delay}")
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
    shown = [f"  {line}" for line in columns(rows).splitlines()]
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


def _actions(env: Any) -> str:
    space, names = env.action_space, env.action_names
    if not hasattr(space, "n"):
        return f"vectors between {list(space.low)} and {list(space.high)}"
    shown = names if len(names) <= 4 else (*names[:2], "…", names[-1])
    return f"{len(names)}: {', '.join(shown)}"


def _ceiling(ceiling: Ceiling, digits: int = 3) -> str:
    return f"{_MARKS[ceiling.kind]}{ceiling.value:.{digits}f}"
