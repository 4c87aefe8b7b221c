"""Make `src/freeproj/envs/baselines.json` anew: `python tools/make_baselines.py`.

Plays the blind policies, the reward-only players and the random maps of every task of
the package, and finds the ceilings. About an hour on one core.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import jax
from jaxtyping import PRNGKeyArray

from freeproj.envs import (
    REGISTRY,
    Autoencode,
    Battleship,
    Concentration,
    CountRecall,
    Environment,
    FlashCards,
    HigherLower,
    MultiarmedBandit,
    RepeatFirst,
    RepeatPrevious,
    VelocityOnlyCartPole,
    baselines,
)
from freeproj.envs.baselines import Baselines
from freeproj.envs.labyrinth import Labyrinth
from freeproj.envs.repeat_previous import PopgymRepeatPrevious
from players.best import find_ceilings
from players.blind import blind_returns
from players.ceilings import repeat_previous_perfect
from players.random_maps import random_map
from players.reward_only import reward_only_players

_FILE = Path(baselines.__file__).with_name("baselines.json")
# Trials are divided by this: the paper's tasks and the pendulums are measured best.
_THRIFT = {
    Labyrinth: 12,
    (Autoencode, Battleship, Concentration, CountRecall): 3,
    (MultiarmedBandit, PopgymRepeatPrevious, VelocityOnlyCartPole): 3,
}


def measure(
    key: PRNGKeyArray, env: Environment, n_trials: int, n_search: int = 256
) -> Baselines:
    """Play the players of a task of this package and find its ceilings."""
    thrift = next((by for kind, by in _THRIFT.items() if isinstance(env, kind)), 1)
    n_trials, n_search = n_trials // thrift, n_search // thrift
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
        random_map=random_map(key_map, env, n_search),
    )


def exact_chance(env: Environment) -> float | None:
    """Return the uniform policy's mean where it is known: answers are independent."""
    if isinstance(env, HigherLower | MultiarmedBandit):
        return 0.0
    if isinstance(env, RepeatFirst | Autoencode | FlashCards):
        return -0.5
    if isinstance(env, RepeatPrevious):
        return -repeat_previous_perfect(env) / 2
    if isinstance(env, CountRecall):
        return 2 / env.action_space.n - 1
    return None


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
    """All levels of all tasks, the paper's levels first, POPGym's own last."""
    rank = {"Easy": 0, "": 0, "Medium": 1, "Hard": 2}
    levels = [(f, level) for f in REGISTRY.values() for level in f.levels or [""]]
    levels.sort(key=lambda pair: rank.get(pair[1], 3))
    tasks = [family.make(level) for family, level in levels]
    popgym = [f.make_popgym(level) for f, level in levels]
    return tasks + [own for own, task in zip(popgym, tasks, strict=True) if own != task]


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
