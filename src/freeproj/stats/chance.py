"""Chance MMER: what a maximum over noisy evaluations gives a policy that never learns.

A run is evaluated k times, each time on m episodes. For a fixed policy whose episodes
return μ ± σ every evaluation is a mean of m draws, and MMER is the largest of k such
means: about μ + σ/√m · E max(Z_1, …, Z_k), with nothing learned. Evaluations are taken
as independent; where they share decks and starts, chance MMER is smaller.

The card tasks show how much that is. Repeat First restarts all 16 trials with the same
deck, so a policy that always answers one suit earns 16 or -16 with a whole episode.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

__all__ = [
    "ChanceLine",
    "EpisodeLaw",
    "chance_lines",
    "chance_mmer",
    "exact_chance_mmer",
    "expected_maximum",
    "luckiest",
    "repeat_first_chance",
    "simulate_chance_mmer",
]


class EpisodeLaw(NamedTuple):
    """The law of one episode's return: equally spaced values, their probabilities."""

    values: Float[np.ndarray, " n"]
    probabilities: Float[np.ndarray, " n"]

    @property
    def mean(self) -> float:
        """μ."""
        return float(self.values @ self.probabilities)

    @property
    def std(self) -> float:
        """σ."""
        return math.sqrt(float((self.values - self.mean) ** 2 @ self.probabilities))


class ChanceLine(NamedTuple):
    """A policy that does not learn, and the MMER that it is expected to reach."""

    policy: str
    mean: float
    std: float
    mmer: float
    n_episodes: int
    n_evaluations: int

    def __str__(self) -> str:
        return (
            f"{self.policy} policy: an episode returns {self.mean:.2f} ± {self.std:.2f}"
            f", MMER over {self.n_evaluations} evaluations of {self.n_episodes} "
            f"episodes {self.mmer:.2f} by luck alone"
        )


def expected_maximum(n: int, mean: float | int = 0.0, std: float | int = 1.0) -> float:
    """Returns E max of n independent normal numbers, to ten digits."""
    _check_count("n", n)
    _check_spread("std", std)
    # E max = ∫ x dΦ(x)^n; by parts, of what Φ^n lacks above 0 and has below it.
    grid = np.linspace(0.0, 12.0, 12_001)
    above = np.array([math.erfc(x / math.sqrt(2)) / 2 for x in grid])
    lacks = -np.expm1(n * np.log1p(-above))
    return float(mean + std * np.trapezoid(lacks - above**n, grid))


def chance_mmer(
    mean: float | int,
    std: float | int,
    *,
    n_episodes: float | int,
    n_evaluations: int,
) -> float:
    """Returns E max of n_evaluations means of n_episodes returns of mean ± std.

    Means of episodes are taken as normal; `exact_chance_mmer` does not need that.
    """
    _check_count("n_episodes", n_episodes)
    _check_spread("std", std)
    return expected_maximum(n_evaluations, mean, std / math.sqrt(n_episodes))


def chance_lines(
    policies: Mapping[str, tuple[float, float, float]],
    *,
    n_episodes: int,
    n_evaluations: int,
    ceiling: float = math.inf,
) -> list[ChanceLine]:
    """Return the chance MMER of policies that never learn, the luckiest first.

    An evaluation's mean has variance between² + within²/m.

    Args:
        policies: mean of an episode, its standard deviation within an evaluation, and
            that of the mean between evaluations (0 for a fixed policy).
        ceiling: no MMER is above it.
    """
    lines = []
    for name, (mean, within, between) in policies.items():
        spread = math.hypot(between, within / math.sqrt(n_episodes))
        mmer = min(ceiling, expected_maximum(n_evaluations, mean, spread))
        std = math.hypot(between, within)
        lines.append(ChanceLine(name, mean, std, mmer, n_episodes, n_evaluations))
    return sorted(lines, key=lambda line: -line.mmer)


def luckiest(
    policies: Mapping[str, tuple[float, float, float]],
    *,
    n_episodes: int,
    n_evaluations: int,
    ceiling: float = math.inf,
) -> ChanceLine:
    """Return the first of `chance_lines`: an MMER below it shows nothing learned."""
    if not policies:
        raise ValueError("`policies` must hold at least one policy.")
    counts = {"n_episodes": n_episodes, "n_evaluations": n_evaluations}
    return chance_lines(policies, **counts, ceiling=ceiling)[0]


def exact_chance_mmer(law: EpisodeLaw, *, n_episodes: int, n_evaluations: int) -> float:
    """The same for a discrete law: F_m by Fourier transform, then Σ x (F_m^k)'."""
    _check_law(law)
    _check_count("n_episodes", n_episodes)
    _check_count("n_evaluations", n_evaluations)
    steps = n_episodes * (law.values.size - 1)
    transform = np.fft.rfft(law.probabilities, steps + 1) ** n_episodes
    density = np.clip(np.fft.irfft(transform, steps + 1), 0.0, None)
    below = np.clip(np.cumsum(density), 0.0, 1.0) ** n_evaluations
    below[-1] = 1.0
    means = np.linspace(law.values[0], law.values[-1], steps + 1)
    return float(means @ np.diff(below, prepend=0.0))


def simulate_chance_mmer(
    returns: ArrayLike | EpisodeLaw,
    *,
    n_episodes: int,
    n_evaluations: int,
    n_runs: int = 1000,
    seed: int = 0,
) -> Float[np.ndarray, " n_runs"]:
    """Draws the MMER of runs that never learn; its spread is what seeds would show.

    Args:
        returns: measured episode returns, drawn from with replacement; or a law.
    """
    for name, count in (("n_episodes", n_episodes), ("n_evaluations", n_evaluations)):
        _check_count(name, count)
    weights = None
    if isinstance(returns, EpisodeLaw):
        _check_law(returns)
        returns, weights = returns
    values = np.asarray(returns, float)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError("`returns` must be a row of finite returns, at least one.")
    rng, size = np.random.default_rng(seed), (n_evaluations, n_episodes)
    means = (rng.choice(values, size, p=weights).mean(axis=1) for _ in range(n_runs))
    return np.array([each.max() for each in means])


def repeat_first_chance(
    *,
    n_episodes: int = 64,
    n_evaluations: int = 228,
    n_trials: int = 16,
    n_answers: int = 51,
) -> tuple[ChanceLine, ChanceLine]:
    """Returns the uniform and the constant policy's chance MMER in Repeat First, exact.

    The defaults are the paper's: 64 environments finish one episode each in a window
    of 1024 steps. The first card's suit is uniform over four. A constant answer is
    right in the whole episode or in none of it; a uniform one each time by itself.
    """
    n = n_trials * n_answers
    constant = EpisodeLaw(np.array([-1.0, 1.0]) * n_trials, np.array([0.75, 0.25]))
    values = np.linspace(-n_trials, n_trials, n + 1)
    uniform = EpisodeLaw(values, _binomial(n, 0.25))
    counts = {"n_episodes": n_episodes, "n_evaluations": n_evaluations}
    lines = [
        ChanceLine(name, law.mean, law.std, exact_chance_mmer(law, **counts), **counts)
        for name, law in (("uniform", uniform), ("constant", constant))
    ]
    return lines[0], lines[1]


def _binomial(n: int, p: float) -> Float[np.ndarray, " n_plus_1"]:
    logs = [
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        + k * math.log(p) + (n - k) * math.log1p(-p)
        for k in range(n + 1)
    ]  # fmt: skip
    weights = np.exp(logs)
    return weights / weights.sum()


def _check_count(name: str, count: float | int) -> None:
    if not count >= 1:
        raise ValueError(f"`{name}` must be at least 1, got {count}.")


def _check_spread(name: str, spread: float | int) -> None:
    if not 0 <= spread < math.inf:
        raise ValueError(f"`{name}` must be finite and at least 0, got {spread}.")


def _check_law(law: EpisodeLaw) -> None:
    gaps = np.diff(law.values)
    if law.values.size < 2 or not np.allclose(gaps, gaps[0]) or gaps[0] <= 0:
        raise ValueError("`law.values` must be increasing and equally spaced, ≥ 2.")
    if (law.probabilities < 0).any() or not math.isclose(law.probabilities.sum(), 1):
        raise ValueError("`law.probabilities` must be at least 0 and sum to 1.")
