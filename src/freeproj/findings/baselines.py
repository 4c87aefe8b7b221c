"""What an episode's return is compared with: chance, blind, reward only, ceiling.

`freeproj.envs.baselines` has them for one trial; these are for an episode of trials, as
runs are scored.
"""

import functools
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from freeproj.envs.baselines import baselines

__all__ = ["Levels", "episode_levels"]

_FLASH_CARDS = ("FlashCards", "freeproj.envs.flash_cards:FlashCards")


class Levels(NamedTuple):
    """Mean returns of an episode; nan where a task has no stored numbers."""

    n_trials: int
    chance: float = math.nan  # the uniform policy
    blind: float = math.nan  # the best open-loop policy
    blind_name: str = ""
    reward_only: float = math.nan  # the best known policy that sees rewards only
    ceiling: float = math.nan  # the best possible
    headroom: float = (
        math.nan
    )  # best known policy that sees the task, minus best open-loop
    # Policies that never learn, as `Baselines.luck` returns them.
    luck: Mapping[str, tuple[float, float, float]] = MappingProxyType({})


@functools.cache
def episode_levels(task: str, n_trials: int, fresh_start: bool = False) -> Levels:
    """Return the levels of a task for episodes of so many trials.

    With a fresh start every trial starts anew, so each is as hard as the first.
    """
    if task in _FLASH_CARDS:
        # Cards are drawn independently, one suit of four: who does not see the card is
        # right once in four, whatever the rewards were; who knows the suits, always.
        guess, best = -0.5 * n_trials, float(n_trials)
        return Levels(n_trials, guess, guess, "any answers", guess, best, best - guess)
    if ":" in task or "+" in task:
        return Levels(n_trials)  # reading results never runs a user's code
    stored = baselines(task)
    if stored is None:
        return Levels(n_trials)
    same_start = not fresh_start
    name, blind = stored.best_blind
    player = stored.best_reward_only if same_start else None
    return Levels(
        n_trials,
        chance=n_trials * stored.chance.mean,
        blind=n_trials * blind.mean,
        blind_name=name,
        reward_only=math.nan if player is None else player[1].episode(n_trials),
        ceiling=stored.best_episode(n_trials, same_start),
        headroom=stored.headroom(n_trials, same_start),
        luck=stored.luck(n_trials, same_start),
    )
