"""Chance MMER: what a maximum over noisy evaluations gives a policy that never learns.

A run is evaluated k times, each time on m episodes. For a fixed policy whose episodes
return μ ± σ every evaluation is a mean of m draws, and MMER is the largest of k such
means: about μ + σ/√m · E max(Z_1, …, Z_k), with nothing learned. Evaluations are taken
as independent; where they share decks and starts, chance MMER is smaller.

An MMER below the largest of several such policies shows nothing learned.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

__all__ = ["ChanceLine", "chance_lines", "expected_maximum"]


class ChanceLine(NamedTuple):
    """A policy that does not learn, and the MMER that it is expected to reach."""

    policy: str
    mean: float  # of an episode
    std: float
    mmer: float


def expected_maximum(n: int, mean: float | int = 0.0, std: float | int = 1.0) -> float:
    """Return E max of n independent normal numbers, to ten digits."""
    if n < 1 or not 0 <= std < math.inf:
        raise ValueError(f"`n` must be at least 1, `std` finite, got {n} and {std}.")
    # E max = ∫ x dΦ(x)^n; by parts, ∫ (1 - Φ^n) above 0 minus ∫ Φ^n below 0.
    grid = np.linspace(0.0, 12.0, 12_001)
    above = ndtr(-grid)
    lacks = -np.expm1(n * np.log1p(-above))
    return mean + std * float(np.trapezoid(lacks - above**n, grid))


def chance_lines(
    policies: Mapping[str, tuple[float, float, float]],
    *,
    n_episodes: int,
    n_evaluations: int,
    ceiling: float = math.inf,
) -> list[ChanceLine]:
    """Return the chance MMER of policies that never learn, the largest first.

    An evaluation's mean has variance between² + within²/m.

    Args:
        policies: mean of an episode, its standard deviation within an evaluation, and
            that of the mean between evaluations (0 for a fixed policy).
        ceiling: the best return possible; no MMER exceeds it.
    """
    lines = []
    for name, (mean, within, between) in policies.items():
        spread = math.hypot(between, within / math.sqrt(n_episodes))
        mmer = min(ceiling, expected_maximum(n_evaluations, mean, spread))
        lines.append(ChanceLine(name, mean, math.hypot(between, within), mmer))
    return sorted(lines, key=lambda line: -line.mmer)
