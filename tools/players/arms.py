"""A good player of the bandit: Thompson sampling, over trials with the same arms.

What is seen is whether the last pull paid, which the reward tells as well: who sees
rewards only misses nothing here.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from freeproj.envs import MultiarmedBandit

__all__ = ["thompson_returns"]


def thompson_returns(
    env: MultiarmedBandit, n_starts: int, n_trials: int = 16, seed: int = 0
) -> Float[np.ndarray, "n_trials n_starts"]:
    """Return what each trial earns: pull the arm whose drawn payout is largest.

    An arm's payout is drawn from its beta posterior, all trials before counted.
    """
    rng = np.random.default_rng(seed)
    arms = np.arange(n_starts), rng.random((n_starts, env.n_arms))
    paid, failed = np.ones((2, n_starts, env.n_arms), np.float32)
    total = np.zeros((n_trials, n_starts))
    for trial in total:
        for _ in range(env.time_limit):
            chosen = arms[0], rng.beta(paid, failed).argmax(axis=1)
            won = rng.random(n_starts) < arms[1][chosen]
            paid[chosen] += won
            failed[chosen] += ~won
            trial += np.where(won, 1, -1) / env.time_limit
    return total
