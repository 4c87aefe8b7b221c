"""What returns are compared with: the paper's numbers, chance, blind, ceiling.

The paper's are those printed in Table 1 (results) and Table 2 (word lengths).
`freeproj.envs.baselines` has the others for one trial; here they are those of an
episode of trials, as runs are scored.
"""

import functools
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["PAPER_LENGTHS", "PAPER_RESULTS", "PAPER_TASKS", "Levels", "PaperResult"]
__all__ += ["episode_levels"]


class PaperResult(NamedTuple):
    """The means of a row of Table 1, for episodes of 16 trials."""

    mmer: float
    raw: float
    length: int  # of words: 1 for RP


_PAPER = tomllib.loads(Path(__file__).with_name("paper.toml").read_text("utf-8"))
_ROWS = {
    (task, memory): _PAPER[task][memory] for task in _PAPER for memory in _PAPER[task]
}

PAPER_TASKS = tuple(_PAPER)
# (task, memory): ℓ* of Table 2.
PAPER_LENGTHS = {place: int(rows["length"]) for place, rows in _ROWS.items()}
# (task, "RP" or "FRP", memory): the row of Table 1.
PAPER_RESULTS = {
    (task, name, memory): PaperResult(rows[name][0], rows[name][4], length)
    for (task, memory), rows in _ROWS.items()
    for name, length in (("RP", 1), ("FRP", int(rows["length"])))
}


class Levels(NamedTuple):
    """Mean returns of an episode; nan where a task has no stored numbers."""

    n_trials: int
    chance: float = math.nan  # the uniform policy
    blind: float = math.nan  # the best open-loop policy
    blind_name: str = ""
    reward_only: float = math.nan  # the best known policy that sees rewards only
    ceiling: float = math.nan  # the best possible
    headroom: float = math.nan  # best known policy minus best open-loop policy
    # Policies that never learn, as `Baselines.chance_policies` returns them.
    luck: Mapping[str, tuple[float, float, float]] = MappingProxyType({})


@functools.cache
def episode_levels(task: str, n_trials: int, fresh_start: bool = False) -> Levels:
    """Return the levels of a task for episodes of so many trials.

    With a fresh start every trial starts anew, so each is as hard as the first.
    """
    if task in ("FlashCards", "freeproj.envs.flash_cards:FlashCards"):
        # Cards are drawn independently, one suit of four: who does not see the card is
        # right once in four, whatever the rewards were; who knows the suits, always.
        guess, best = -0.5 * n_trials, float(n_trials)
        return Levels(n_trials, guess, guess, "any answers", guess, best, best - guess)
    if ":" in task or "+" in task:
        return Levels(n_trials)  # reading results never runs a user's code
    from freeproj.envs.baselines import baselines  # which needs JAX

    if (stored := baselines(task)) is None:
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
        luck=stored.chance_policies(n_trials, same_start),
    )
