"""Chance and ceiling: what a return of each task is to be compared with.

The numbers are stored in `baselines.json` beside this file. Make them anew with

    python -m freeproj.envs.baselines

Returns are those of one trial; an episode of the paper is 16 trials of one start.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import jax
from jaxtyping import PRNGKeyArray

from freeproj.envs import REGISTRY, make
from freeproj.envs.base import Environment
from freeproj.envs.blind import Estimate, blind_returns, estimate_mean
from freeproj.envs.cartpole import StatelessCartPole
from freeproj.envs.ceilings import (
    higher_lower_counting_cards,
    higher_lower_knowing_deck,
    minesweeper_first_trial,
    repeat_previous_perfect,
)
from freeproj.envs.controllers import balance_returns, cost_to_go, swing_up_returns
from freeproj.envs.higher_lower import HigherLower
from freeproj.envs.minesweeper import Minesweeper
from freeproj.envs.pendulum import StatelessPendulum
from freeproj.envs.repeat_first import RepeatFirst
from freeproj.envs.repeat_previous import RepeatPrevious

__all__ = ["Baselines", "Ceiling", "baselines", "find_ceilings", "measure"]

_FILE = Path(__file__).with_name("baselines.json")


@dataclass(frozen=True)
class Ceiling:
    """A best return of one trial, and why.

    Its kind: `exact`, the supremum of mean returns; `estimate`, the same to within the
    standard error and a grid's error; `bound`, not to be exceeded but perhaps not
    reached; `reached`, by a player that was simulated, others may do better.
    """

    value: float
    kind: str
    argument: str
    standard_error: float = 0.0


@dataclass(frozen=True)
class Baselines:
    """A task's chance level, blind policies and best returns, each for one trial.

    `best` holds for players who know what earlier trials of the same start can tell;
    `first_trial` for those who see deck, board or start for the first time (`None`
    where that is not known).
    """

    task: str
    blind: Mapping[str, Estimate]
    best: Ceiling
    first_trial: Ceiling | None

    @property
    def chance(self) -> Estimate:
        """What the uniform policy earns."""
        return self.blind["uniform"]

    @property
    def best_blind(self) -> tuple[str, Estimate]:
        """The blind policy that earned most, with its name.

        The uniform one unless another is ahead by three standard errors: the largest of
        many equal policies' estimates is only the luckiest.
        """
        name, best = max(self.blind.items(), key=lambda item: item[1].mean)
        error = math.hypot(best.standard_error, self.chance.standard_error)
        if best.mean - self.chance.mean > 3 * error:
            return name, best
        return "uniform", self.chance

    def best_episode(self, n_trials: int = 16) -> float:
        """Returns what no player exceeds on average in n trials of one start."""
        first = self.first_trial
        if first is None or first.kind == "reached":
            first = self.best
        return first.value + (n_trials - 1) * self.best.value


def baselines(name: str) -> Baselines:
    """Returns the stored numbers of a task, by any name that `make` understands."""
    task = make(name).name
    stored = _stored()
    if task not in stored:
        raise ValueError(
            f"No baselines are stored for {task}. Stored: {', '.join(stored)}; measure "
            "others with `blind_returns` of freeproj.envs.blind."
        )
    return stored[task]


def measure(key: PRNGKeyArray, env: Environment, n_trials: int) -> Baselines:
    """Plays the blind policies and finds the ceilings of a task of this package."""
    key_blind, key_best = jax.random.split(key)
    best, first_trial = find_ceilings(key_best, env, n_trials)
    return Baselines(
        env.name, blind_returns(key_blind, env, n_trials), best, first_trial
    )


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


@functools.cache
def _stored() -> dict[str, Baselines]:
    tasks = json.loads(_FILE.read_text(encoding="utf-8"))["tasks"]
    return {task: _from_json(task, entry) for task, entry in tasks.items()}


def _from_json(task: str, entry: dict) -> Baselines:
    blind = {name: Estimate(**numbers) for name, numbers in entry["blind"].items()}
    first = entry["first_trial"]
    return Baselines(
        task, blind, Ceiling(**entry["best"]), Ceiling(**first) if first else None
    )


def _main() -> None:
    parser = argparse.ArgumentParser(description="Make baselines.json anew.")
    parser.add_argument("--out", type=Path, default=_FILE, help="the file to write")
    parser.add_argument("--trials", type=int, default=2**16, help="trials per policy")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tasks = {}
    for family in REGISTRY.values():
        for level in family.levels:
            env = family.make(level)
            found = measure(jax.random.key(options.seed), env, options.trials)
            name, blind = found.best_blind
            print(
                f"{env.name}: chance {found.chance.mean:.4f}, {name} {blind.mean:.4f}, "
                f"best {found.best.value:.4f}",
                flush=True,
            )
            tasks[env.name] = asdict(found)
            del tasks[env.name]["task"]
    command = (
        f"python -m freeproj.envs.baselines --trials {options.trials} "
        f"--seed {options.seed}"
    )
    options.out.write_text(_to_json(command, tasks), encoding="utf-8")
    print(options.out)


def _to_json(command: str, tasks: dict) -> str:
    text = json.dumps({"command": command, "tasks": tasks}, indent=1)
    # One line for each policy and ceiling.
    return re.sub(r"\{\s+([^{}]*?)\s+\}", _on_one_line, text) + "\n"


def _on_one_line(match: re.Match) -> str:
    return "{" + " ".join(match[1].split()) + "}"


if __name__ == "__main__":
    _main()
