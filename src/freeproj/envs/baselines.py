"""Baselines: the returns to compare an agent's with, task by task.

They are stored in `baselines.json` beside this file and made by
`tools/make_baselines.py`, each number with the argument or the simulation behind it.
Returns are those of one trial; an episode has several trials, in the paper 16 from one
and the same start.
"""

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from freeproj.envs.registry import make
from freeproj.storage.names import without_imports

__all__ = ["Baselines", "Ceiling", "Estimate", "RandomMap", "RewardOnly", "baselines"]

_FILE = Path(__file__).with_name("baselines.json")


@dataclass(frozen=True)
class Estimate:
    """A policy's mean return over independent trials, and its spread."""

    mean: float
    standard_error: float
    n_trials: int
    start_std: float = 0.0  # of the mean given the start, which repeated trials share

    @property
    def std(self) -> float:
        """Standard deviation of one trial."""
        return self.standard_error * math.sqrt(self.n_trials)

    def episode_std(self, n_trials: int, same_start: bool = True) -> float:
        """Return the standard deviation of the sum over an episode's trials."""
        if not same_start:
            return math.sqrt(n_trials) * self.std
        own = max(0.0, self.std**2 - self.start_std**2)
        return math.sqrt(n_trials**2 * self.start_std**2 + n_trials * own)


@dataclass(frozen=True)
class Ceiling:
    """The best return of one trial, and the reason.

    Its kind is one of: `exact`, the supremum of mean returns; `estimate`, the same to
    within the standard error and a grid's error; `bound`, which cannot be exceeded but
    perhaps not reached; `reached` by a simulated policy, while others may do better.
    """

    value: float
    kind: str
    argument: str
    standard_error: float = 0.0


@dataclass(frozen=True)
class RewardOnly:
    """A policy that sees rewards but no observation, over trials of one start."""

    trials: Sequence[float]  # mean return of trial 1, 2, …; the last one repeats
    remembers: str  # "little", or "every answer" of the trial
    kind: str  # as for `Ceiling`
    argument: str

    def episode(self, n_trials: int = 16) -> float:
        """Return the mean return of an episode of n trials from one start."""
        seen = self.trials[:n_trials]
        return sum(seen) + (n_trials - len(seen)) * seen[-1]


@dataclass(frozen=True)
class RandomMap:
    """Answers through a random lookup from symbols to actions: an untrained network."""

    mean: float  # over maps, per trial
    std: float  # between maps, of their mean returns
    start_std: float  # between starts, under one map
    kind: str
    argument: str


@dataclass(frozen=True)
class Baselines:
    """The returns to compare a task's with, each for one trial.

    `best` holds for policies that know what earlier trials of the same start can tell;
    `first_trial` for those that meet deck, board or start for the first time (`None`
    where that is not known).
    """

    task: str
    blind: Mapping[str, Estimate]
    best: Ceiling
    first_trial: Ceiling | None
    reward_only: Mapping[str, RewardOnly] = field(default_factory=dict)
    random_map: RandomMap | None = None

    @property
    def chance(self) -> Estimate:
        """What the uniform policy earns."""
        return self.blind["uniform"]

    @property
    def best_blind(self) -> tuple[str, Estimate]:
        """The open-loop policy (a row of actions) that earned most, with its name."""
        # One of many equal policies has the largest estimate by chance: only four
        # standard errors count.
        name, best = max(self.blind.items(), key=lambda item: item[1].mean)
        error = math.hypot(best.standard_error, self.chance.standard_error)
        if best.mean - self.chance.mean > 4 * error:
            return name, best
        return "uniform", self.chance

    @property
    def best_reward_only(self) -> tuple[str, RewardOnly] | None:
        """The best policy that sees only rewards and remembers little, by its name."""
        short = {n: p for n, p in self.reward_only.items() if p.remembers == "little"}
        if not short:
            return None
        return max(short.items(), key=lambda item: item[1].episode())

    def best_episode(self, n_trials: int = 16, same_start: bool = True) -> float:
        """Return the ceiling: what no policy exceeds on average in an episode."""
        first = self.first_trial
        if first is None or first.kind == "reached":
            first = self.best
        later = self.best if same_start else first
        return first.value + (n_trials - 1) * later.value

    def oracle(self, n_trials: int = 16, same_start: bool = True) -> float:
        """Return what the best known policy that sees the task earns, or a ceiling."""
        first = self.first_trial or self.best
        known = self.best if self.best.kind in ("exact", "estimate") else first
        later = known if same_start else first
        return first.value + (n_trials - 1) * later.value

    def headroom(self, n_trials: int = 16, same_start: bool = True) -> float:
        """Return oracle minus best open-loop policy, for an episode."""
        blind = n_trials * self.best_blind[1].mean
        return self.oracle(n_trials, same_start) - blind

    def chance_policies(
        self, n_trials: int = 16, same_start: bool = True
    ) -> dict[str, tuple[float, float, float]]:
        """Return policies that never learn, for the distribution of MMER by chance.

        Each has the mean of its episodes, their standard deviation within one
        evaluation, and that between evaluations. The random lookup is taken to be a new
        one at each evaluation, like that of a network in training.
        """
        found = {
            name: (n_trials * e.mean, e.episode_std(n_trials, same_start), 0.0)
            for name, e in self.blind.items()
        }
        if self.random_map is not None:
            each, n = self.random_map, n_trials
            within = (n if same_start else math.sqrt(n)) * each.start_std
            found["random lookup"] = (n * each.mean, within, n * each.std)
        return found


def baselines(name: str) -> Baselines | None:
    """Return the stored numbers of a task, by any of its names; None without them."""
    stored = _stored()
    if name in stored:
        return stored[name]
    try:
        with without_imports():  # a report asks for the tasks of others' runs
            return stored.get(make(name).name)
    except ValueError:
        return None


@functools.cache
def _stored() -> dict[str, Baselines]:
    tasks = json.loads(_FILE.read_text(encoding="utf-8"))["tasks"]
    return {task: _from_json(task, entry) for task, entry in tasks.items()}


def _from_json(task: str, entry: dict) -> Baselines:
    first, random_map = entry["first_trial"], entry["random_map"]
    return Baselines(
        task=task,
        blind={name: Estimate(**each) for name, each in entry["blind"].items()},
        best=Ceiling(**entry["best"]),
        first_trial=Ceiling(**first) if first else None,
        reward_only={n: RewardOnly(**each) for n, each in entry["reward_only"].items()},
        random_map=RandomMap(**random_map) if random_map else None,
    )
