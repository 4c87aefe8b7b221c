"""`freeproj envs` and `freeproj play`: list the tasks, play one in the terminal."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.options import COUNT, json_option
from freeproj.cli.output import columns, fill, show
from freeproj.cli.stopping import stop_code
from freeproj.storage.signals import waiting

if TYPE_CHECKING:
    from freeproj.envs import Environment
    from freeproj.envs.baselines import Baselines

__all__ = ["envs", "parse_action", "play"]

_QUIT = ("q", "quit", "exit")
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
    from freeproj.envs.baselines import baselines

    if name is not None:
        env = make(name)
        known = baselines(env.name)
        facts = _facts(env, known)
        show(facts, _describe(env, facts, known), as_json)
        return
    families = REGISTRY.values()
    tasks = [f.make(level) for f in families for level in f.levels or [""]]
    levels = [baselines(env.name) for env in tasks]
    found = list(map(_facts, tasks, levels))
    rows = [_LINE.format(*row) for row in (_HEAD, *map(_row, found, levels))]
    show(found, [*rows, "", fill(_LEGEND)], as_json)


def _facts(env: Environment, known: Baselines | None) -> dict[str, Any]:
    """Return what the table says about a task, under full names."""
    from freeproj.envs.registry import find

    (family, level), n = find(env.name), _N_TRIALS
    popgym, reward = family.popgym_name, known and known.best_reward_only
    return {
        "name": env.name,
        "family": family.name,
        "level": level,
        "popgym": f"popgym-{popgym}{level}-v0" if popgym else None,
        "summary": family.summary,
        "observation_size": env.observation_space.size,
        "n_actions": getattr(env.action_space, "n", None),  # none: real numbers
        "max_steps": env.max_steps,
        "chance": known and known.chance.mean,
        "best_blind": known and known.best_blind[1].mean,
        "best": known and known.best.value,
        f"limit_{n}_trials": known and known.best_episode(n),
        f"headroom_{n}_trials": known and known.headroom(n),
        f"reward_only_{n}_trials": reward and reward[1].episode(n),
    }


def _row(facts: dict[str, Any], known: Baselines | None) -> list[Any]:
    sizes = facts["observation_size"], facts["n_actions"] or "R", facts["max_steps"]
    if known is None:
        return [facts["name"], *sizes, *"––––"]
    means = f"{facts['chance']:z.3f}", f"{facts['best_blind']:z.3f}"
    mark, limit = _MARKS[known.best.kind], known.best_episode(_N_TRIALS)
    best = f"{mark}{facts['best']:.3f}", f"{mark}{limit:.2f}"
    return [facts["name"], *sizes, *means, *best]


def _describe(env: Environment, facts: dict, known: Baselines | None) -> list[str]:
    from freeproj.envs.registry import find

    family, level = find(env.name)
    rows = [
        ("observation", f"{env.observation_space.size} entries"),
        ("actions", _actions(env)),
        ("length", f"at most {env.max_steps} steps"),
    ]
    if facts["popgym"]:
        same = family.make_popgym(level) == env
        delay = "" if same else ", which has POPGym's own, shorter delay"
        rows.append(("in POPGym", f"{facts['popgym']}{delay}"))
    if family.levels:
        rows.append(("levels", ", ".join(family.levels)))
    lines = [f"{env.name}: {family.summary}", *_indented(rows)]
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
    ceilings = {"best": known.best}
    if known.first_trial and known.first_trial != known.best:
        ceilings["best, first trial"] = known.first_trial
    rows += [(n, f"{_MARKS[c.kind]}{c.value:.4f}") for n, c in ceilings.items()]
    notes = [fill(f"{n.capitalize()}: {c.argument}") for n, c in ceilings.items()]
    if (maps := known.random_map) is not None:
        spread = f"{maps.mean:z.4f} ± {maps.std:.4f} between them"
        rows.append(("random lookup", spread))
    return ["Return of one trial", *_indented(rows), *notes]


def _many_trials(known: Baselines) -> list[str]:
    policies = known.reward_only.items()
    rows = [
        *((f"reward only, {name}", one.episode(_N_TRIALS)) for name, one in policies),
        ("best open-loop policy", _N_TRIALS * known.best_blind[1].mean),
        ("oracle", known.oracle(_N_TRIALS)),
        ("headroom: oracle minus open-loop", known.headroom(_N_TRIALS)),
    ]
    lines = _indented([(name, f"{value:z.2f}") for name, value in rows])
    notes = [fill(f"{name.capitalize()}: {one.argument}") for name, one in policies]
    return [f"Return of {_N_TRIALS} trials of one start", *lines, *notes]


def _indented(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"  {line}" for line in columns(rows).splitlines()]


def _actions(env: Any) -> str:
    space, names = env.action_space, env.action_names
    if not hasattr(space, "n"):
        return f"vectors between {list(space.low)} and {list(space.high)}"
    return f"{len(names)}: {_listed(names)}"


@click.command()
@click.argument("task")
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the start. Default: a new one."
)
@click.option("--trials", type=COUNT, default=1, help="Trials of the same start.")
def play(task: str, seed: int | None, trials: int) -> None:
    """Play TASK yourself: type an action's name or number.

    Quit with q, Ctrl-D or Ctrl-C. `freeproj envs` lists the tasks.
    """
    from freeproj.envs import Discrete, make
    from freeproj.envs.baselines import baselines
    from freeproj.envs.registry import find

    env = make(task)
    if not isinstance(env.action_space, Discrete):
        found = f"got {env.name}, whose actions are real numbers"
        way_out = "`freeproj envs` lists the numbers of actions"
        raise ValueError(f"TASK must have named actions, {found}; {way_out}.")
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
        code = stop_code(stop) if isinstance(stop, KeyboardInterrupt) else 0
        click.echo(f"\nStopped in trial {len(returns)}.")
    click.echo(f"Return of each trial: {' '.join(f'{x:+.3f}' for x in returns)}")
    if known := baselines(env.name):
        chance, best = known.chance.mean, known.best.value
        click.echo(f"By chance {chance:+.3f}, at best {best:+.3f}.")
    if code:
        raise SystemExit(code)


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


def _rewards(env: Environment, seed: int) -> Iterator[float]:
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
    return f"{_listed(names)} (or 0 … {len(names) - 1})"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]} … {names[-1]}"
