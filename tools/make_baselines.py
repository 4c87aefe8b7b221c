"""Make `src/freeproj/envs/baselines.json` anew: `python tools/make_baselines.py`.

Plays the blind policies, the reward-only players and the random maps of every task of
the package, and finds the ceilings. About ten minutes on one core.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import re
from dataclasses import asdict, replace
from pathlib import Path

import jax
from jaxtyping import PRNGKeyArray

from freeproj.envs import REGISTRY, baselines
from freeproj.envs.base import Environment
from freeproj.envs.baselines import Baselines, Ceiling
from freeproj.envs.cartpole import StatelessCartPole
from freeproj.envs.higher_lower import HigherLower
from freeproj.envs.minesweeper import Minesweeper
from freeproj.envs.pendulum import StatelessPendulum
from freeproj.envs.repeat_first import RepeatFirst
from freeproj.envs.repeat_previous import RepeatPrevious
from players.blind import blind_returns, estimate_mean
from players.ceilings import (
    higher_lower_counting_cards,
    higher_lower_knowing_deck,
    minesweeper_first_trial,
    repeat_previous_perfect,
)
from players.controllers import balance_returns, cost_to_go, swing_up_returns
from players.random_maps import random_map
from players.reward_only import reward_only_players

_FILE = Path(baselines.__file__).with_name("baselines.json")
_TASKS = (
    RepeatFirst,
    RepeatPrevious,
    HigherLower,
    Minesweeper,
    StatelessCartPole,
    StatelessPendulum,
)


def measure(
    key: PRNGKeyArray, env: Environment, n_trials: int, n_search: int = 256
) -> Baselines:
    """Play the players of a task of this package and find its ceilings."""
    key_blind, key_best, key_reward, key_map = jax.random.split(key, 4)
    best, first_trial = find_ceilings(key_best, env, n_trials)
    blind = blind_returns(key_blind, env, n_trials, n_search)
    if (chance := exact_chance(env)) is not None:
        blind["uniform"] = replace(blind["uniform"], mean=chance)
    return Baselines(
        task=env.name,
        blind=blind,
        best=best,
        first_trial=first_trial,
        reward_only=reward_only_players(key_reward, env, 2 * n_search),
        random_map=random_map(key_map, env),
    )


def exact_chance(env: Environment) -> float | None:
    """Return the uniform policy's mean where it is known: answers are independent."""
    if isinstance(env, HigherLower):
        return 0.0
    if isinstance(env, RepeatFirst):
        return -0.5
    if isinstance(env, RepeatPrevious):
        return -repeat_previous_perfect(env.n_cards, env.delay) / 2
    return None


def find_ceilings(
    key: PRNGKeyArray, env: Environment, n_trials: int
) -> tuple[Ceiling, Ceiling | None]:
    """Returns the best return of a trial whose start is known, and of a first one."""
    if isinstance(env, RepeatFirst):
        best = Ceiling(1.0, "exact", "Every answer can be right: the suit was seen.")
        return best, best
    if isinstance(env, RepeatPrevious):
        perfect = repeat_previous_perfect(env.n_cards, env.delay)
        why = "Every answer that counts can be right; the first k count nothing."
        return (best := Ceiling(perfect, "exact", why)), best
    if isinstance(env, HigherLower):
        return _higher_lower(env)
    if isinstance(env, Minesweeper):
        return _minesweeper(env)
    if isinstance(env, StatelessCartPole):
        return _cartpole(key, env, n_trials)
    if isinstance(env, StatelessPendulum):
        return _pendulum(key, env, n_trials)
    raise ValueError(
        f"`env` must be a task of this package, got {env.name}; its blind policies are "
        "measured by `blind_returns`."
    )


def _higher_lower(env: HigherLower) -> tuple[Ceiling, Ceiling]:
    known = "Who knows the deck from an earlier trial is always right; ties earn 0."
    first = "Counting cards and guessing the likelier side; exact by summation."
    return (
        Ceiling(higher_lower_knowing_deck(), "exact", known),
        Ceiling(higher_lower_counting_cards(env.n_decks), "exact", first),
    )


def _minesweeper(env: Minesweeper) -> tuple[Ceiling, Ceiling | None]:
    known = "Who knows the board from an earlier trial clicks all safe cells."
    best = Ceiling(1.0, "exact", known)
    if env.name != "Minesweeper":
        return best, None  # too many boards
    first = "Dynamic programming over all boards that agree with the counts."
    value = minesweeper_first_trial(env.side, env.n_mines)
    return best, Ceiling(value, "exact", first)


def _cartpole(
    key: PRNGKeyArray, env: StatelessCartPole, n_trials: int
) -> tuple[Ceiling, Ceiling]:
    reached = estimate_mean(balance_returns(key, env, n_trials))
    player = "A Kalman filter on what is seen with linear feedback"
    if math.isclose(reached.mean, 1.0, abs_tol=1e-6):
        why = f"No trial outlasts the limit. {player} always reaches it."
        return (best := Ceiling(1.0, "exact", why)), best
    first = Ceiling(
        reached.mean, "reached", f"{player} earns this.", reached.standard_error
    )
    why = "No trial outlasts the limit; who knows the start could reach it."
    return Ceiling(1.0, "bound", why), first


def _pendulum(
    key: PRNGKeyArray, env: StatelessPendulum, n_trials: int
) -> tuple[Ceiling, None]:
    returns = swing_up_returns(key, env, _plan(env.max_steps), n_trials)
    reached = estimate_mean(returns)
    why = "Dynamic programming on a grid, played by one who sees the whole state."
    kind = "bound" if hasattr(env, "noise") else "estimate"
    return Ceiling(reached.mean, kind, why, reached.standard_error), None


@functools.cache
def _plan(horizon: int):
    return cost_to_go(horizon)


def main() -> None:
    """Parse the command line, measure, write."""
    parser = argparse.ArgumentParser(description="Make baselines.json anew.")
    parser.add_argument("--out", type=Path, default=_FILE, help="the file to write")
    parser.add_argument("--trials", type=int, default=2**15, help="trials per policy")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="tasks to measure again")
    options = parser.parse_args()
    known = {env.name: env for env in _tasks()}
    stored = json.loads(_FILE.read_text(encoding="utf-8"))["tasks"]
    command = (
        f"python tools/make_baselines.py --trials {options.trials} "
        f"--seed {options.seed}"
    )
    for name in options.only or known:
        key = jax.random.key(options.seed)
        found = measure(key, known[name], options.trials)
        stored[name] = {k: v for k, v in asdict(found).items() if k != "task"}
        tasks = {name: stored[name] for name in known if name in stored}
        options.out.write_text(_to_json(command, tasks), encoding="utf-8")
        print(_line(found), flush=True)


def _tasks() -> list[Environment]:
    """All levels of the tasks whose ceilings are known, the paper's levels first."""
    rank = {"Easy": 0, "Medium": 1, "Hard": 2}
    levels = [(f, level) for f in REGISTRY.values() for level in f.levels]
    levels.sort(key=lambda pair: rank.get(pair[1], 3))
    tasks = [family.make(level) for family, level in levels]
    return [env for env in tasks if isinstance(env, _TASKS)]


def _line(found: Baselines) -> str:
    name, blind = found.best_blind
    reward = found.best_reward_only
    seen = f", {reward[0]} {reward[1].episode():.2f} of 16" if reward else ""
    return (
        f"{found.task}: chance {found.chance.mean:.4f}, {name} {blind.mean:.4f}, best "
        f"{found.best.value:.4f}{seen}"
    )


def _to_json(command: str, tasks: dict) -> str:
    text = json.dumps({"command": command, "tasks": tasks}, indent=1)
    # One line for each policy and ceiling.
    return re.sub(r"\{\s+([^{}]*?)\s+\}", _on_one_line, text) + "\n"


def _on_one_line(match: re.Match) -> str:
    return "{" + " ".join(match[1].split()) + "}"


if __name__ == "__main__":
    main()
