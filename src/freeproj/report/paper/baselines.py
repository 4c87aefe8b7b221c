"""What an episode's return is compared with: chance, the best blind policy, ceiling.

`freeproj.envs.baselines` has them for one trial; these are for an episode of trials, as
runs are scored. The uniform policy's trials are nearly independent, so its episode has
n times a trial's mean and √n times its standard deviation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from freeproj.envs.baselines import baselines

__all__ = ["Levels", "episode_levels"]

_NAN = float("nan")


class Levels(NamedTuple):
    """Mean returns of an episode; nan where a task has no stored numbers."""

    n_trials: int
    chance: float = _NAN  # the uniform policy
    chance_std: float = _NAN  # of one episode
    blind: float = _NAN  # the best policy that looks at nothing
    blind_name: str = ""
    ceiling: float = _NAN  # the best possible

    @property
    def headroom(self) -> float:
        """What seeing can gain: the ceiling less the best blind policy."""
        return self.ceiling - self.blind

    @property
    def scale(self) -> float:
        """The headroom, or 1 where it is not known: differences are divided by it."""
        return self.headroom if self.headroom > 0 else 1.0


def episode_levels(task: str, n_trials: int, fresh_start: bool = False) -> Levels:
    """Return the levels of a task for episodes of so many trials.

    Args:
        fresh_start: every trial starts anew, so each is as hard as the first.
    """
    if ":" in task:  # of one's own; reading results runs nobody's code
        return Levels(n_trials)
    try:
        stored = baselines(task)
    except ValueError:
        return Levels(n_trials)  # several tasks together, or one never measured
    name, blind = stored.best_blind
    chance, first = stored.chance, stored.first_trial
    single = first is not None and first.kind != "reached" and fresh_start
    return Levels(
        n_trials,
        chance=n_trials * chance.mean,
        chance_std=math.sqrt(n_trials * chance.n_trials) * chance.standard_error,
        blind=n_trials * blind.mean,
        blind_name=name,
        ceiling=n_trials * first.value if single else stored.best_episode(n_trials),
    )
