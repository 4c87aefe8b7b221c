"""Claims and the findings they rest on.

Claims about runs go through `freeproj.stats.verdict`, claims about analyses through
`decide`: above a threshold, below it, or cannot tell. Nothing is rounded towards a
verdict: too few seeds, no data and an interval that touches zero are "cannot tell".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from freeproj.stats import Outcome

__all__ = ["LEVEL", "Claim", "Finding", "combine", "decide", "missing", "unknown"]

LEVEL = 0.05  # two-sided


@dataclass(frozen=True)
class Finding:
    """One measurement that a claim rests on."""

    about: str  # "Higher Lower, GRU"
    outcome: Outcome
    value: float
    interval: tuple | None  # begins with low, high
    unit: str  # what value and interval are, for people
    basis: str  # one sentence: the data behind them
    remark: str = ""
    threshold: float = 0.0  # where the verdict turns
    seeds: int | None = None


@dataclass(frozen=True)
class Claim:
    """A sentence, and what the data make of it."""

    name: str
    statement: str
    source: str  # where the paper says so, or what it follows from
    rule: str  # when it holds, when it does not
    headline: str  # the most important number, in one line
    findings: tuple[Finding, ...]
    outcome: Outcome
    missing: str = ""  # what these data lack, if they cannot answer at all

    @property
    def counts(self) -> dict[Outcome, int]:
        """How many findings have each outcome, only those that occur."""
        found = [finding.outcome for finding in self.findings]
        return {word: found.count(word) for word in Outcome if word in found}


def decide(interval: tuple[float, float]) -> Outcome:
    """Return the outcome of "the value is above zero"; nan decides nothing."""
    low, high = interval
    if low > 0:
        return Outcome.HOLDS
    return Outcome.FAILS if high < 0 else Outcome.OPEN


def combine(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of "all of them hold"."""
    found = set(outcomes)
    if Outcome.FAILS in found:
        return Outcome.FAILS
    return Outcome.HOLDS if found == {Outcome.HOLDS} else Outcome.OPEN


def unknown(about: str, basis: str, unit: str = "") -> Finding:
    """Return a finding without data."""
    return Finding(about, Outcome.OPEN, math.nan, None, unit, basis)


def missing(name: str, statement: str, source: str, rule: str, what: str) -> Claim:
    """Return a claim that these data cannot answer, and what they lack."""
    headline = f"Not in these runs: {what}"
    return Claim(name, statement, source, rule, headline, (), Outcome.OPEN, what)
