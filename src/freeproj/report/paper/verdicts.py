"""Verdicts: what data say about a claim, and when they say nothing.

A claim holds when an interval lies above zero, does not hold when it lies below, and
cannot be told from the data otherwise. Nothing is rounded towards a verdict: too few
seeds, no data and an interval that touches zero are all "cannot tell".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from freeproj.stats import Interval, bootstrap_interval, compare_pairs

__all__ = [
    "LEVEL",
    "Claim",
    "Finding",
    "Pairs",
    "Verdict",
    "combine",
    "decide",
    "decide_pairs",
    "pairs_needed",
    "unknown",
]

LEVEL = 0.05  # two-sided


class Verdict(StrEnum):
    """What may be said."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "cannot tell at this budget"


@dataclass(frozen=True)
class Finding:
    """One measurement that a claim rests on."""

    about: str  # "Higher Lower, GRU"
    verdict: Verdict
    value: float
    interval: Interval
    unit: str  # what value and interval are, for people
    basis: str  # one sentence: the data behind them
    remark: str = ""
    threshold: float = 0.0  # where the verdict turns


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and what our data make of it."""

    name: str
    statement: str
    source: str  # where the paper says so
    rule: str  # when it holds, when it does not
    headline: str  # the most important number, in one line
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """Holds where all findings do; one counterexample is enough against it."""
        return combine(finding.verdict for finding in self.findings)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many findings have each verdict, only those that occur."""
        found = Counter(finding.verdict for finding in self.findings)
        return {verdict: found[verdict] for verdict in Verdict if found[verdict]}


class Pairs(NamedTuple):
    """Two methods compared by the seeds that both have."""

    verdict: Verdict
    n: int
    mean_difference: float
    interval: Interval  # at 1 - LEVEL/n_looks
    p_value: float  # times n_looks, at most 1


def decide(interval: Interval | tuple[float, float]) -> Verdict:
    """Returns the verdict on "the value is above zero"; nan decides nothing."""
    low, high = interval
    if low > 0:
        return Verdict.HOLDS
    return Verdict.FAILS if high < 0 else Verdict.OPEN


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """Returns the verdict on "all of them hold"."""
    found = set(verdicts)
    if Verdict.FAILS in found:
        return Verdict.FAILS
    return Verdict.HOLDS if found == {Verdict.HOLDS} else Verdict.OPEN


def decide_pairs(
    first: Mapping[int, float], second: Mapping[int, float], n_looks: int = 1
) -> Pairs:
    """Decides whether `first` exceeds `second`, seed by seed.

    The bootstrap interval of the mean difference must lie on one side of zero, and the
    sign-flip test must agree: for few seeds the bootstrap alone is too narrow.

    Args:
        n_looks: how many such comparisons had the chance to decide (Bonferroni).
    """
    compared = compare_pairs(first, second)
    shared = [first[seed] - second[seed] for seed in first.keys() & second.keys()]
    differences = np.sort([each for each in shared if not math.isnan(each)])
    interval = bootstrap_interval(differences, "mean", confidence=1 - LEVEL / n_looks)
    p_value = min(1.0, n_looks * compared.p_value)
    verdict = decide(interval) if p_value <= LEVEL else Verdict.OPEN
    return Pairs(verdict, compared.n, compared.mean_difference, interval, p_value)


def pairs_needed(n_looks: int = 1) -> int:
    """Returns the fewest pairs that can decide: n with n_looks·2^(1-n) ≤ LEVEL."""
    return 1 + math.ceil(math.log2(n_looks / LEVEL))


def unknown(about: str, basis: str, unit: str = "") -> Finding:
    """Returns a finding without data."""
    nan = float("nan")
    return Finding(about, Verdict.OPEN, nan, Interval(nan, nan), unit, basis)
