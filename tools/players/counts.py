"""How likely each answer of Count Recall is to one who looks at nothing.

After t cards the number of cards of a kind is hypergeometric, and which kind is asked
for is drawn apart from the cards.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int32

from freeproj.envs import CountRecall

__all__ = ["count_chances", "likeliest_counts", "trying_counts"]


def count_chances(env: CountRecall) -> Float[np.ndarray, "steps answers"]:
    """Return how likely each answer is right at each step."""
    n, kind = env.n_cards, env.n_cards // env.n_kinds
    return np.array(
        [
            [
                math.comb(kind, count)
                * math.comb(n - kind, max(dealt - count, 0))
                * (dealt >= count)
                / math.comb(n, dealt)
                for count in range(kind + 1)
            ]
            for dealt in range(1, n)
        ]
    )


def likeliest_counts(env: CountRecall) -> Int32[np.ndarray, " steps"]:
    """Return the best row of answers for one who looks at nothing."""
    return count_chances(env).argmax(axis=1).astype(np.int32)


def trying_counts(env: CountRecall, n_trials: int = 16) -> tuple[float, ...]:
    """Return what each trial earns if wrong answers are replaced by the next likeliest.

    By trial j the j likeliest counts of a step have been tried.
    """
    falling = -np.sort(-count_chances(env), axis=1)[:, :n_trials]
    return tuple((2 * falling.cumsum(axis=1).mean(axis=0) - 1).tolist())
