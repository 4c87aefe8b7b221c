"""The rule that decides what may be said of an agent.

The rule compares returns, episode by episode. The reference is plain, or the agent's
own training projections where those are known and earn more; what an observation is
worth is the reference minus blanked. In this order:

1. *ignores its observation*: neither under the reference nor under unseen projections
   does it earn more than blanked (95 % interval, by more than 5 % of the return).
2. *memorised its projection*: under unseen projections it keeps less than half of what
   its observation is worth (the interval of the share lies below 1/2).
3. *undecided*: that interval contains 1/2; play more episodes.
4. *invariant*: with the same starts and the same noise, at least 90 % of its trials
   under unseen projections, and under the observation with its sign turned, earn
   exactly what they earn in plain.
5. *adapts within the episode*: all else. It was given a projection it had never seen,
   and kept at least half.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from freeproj.adapters.certify.playing import CONDITIONS, Returns
from freeproj.stats.intervals import interval

__all__ = ["REQUIREMENTS", "VERDICTS", "Estimate", "Finding", "Row", "judge", "table"]

_Means = Float[np.ndarray, " episodes"]  # over trials

# Verdicts, and what each says of an agent.
VERDICTS = {
    "ignores": "ignores its observation",
    "memorised": "memorised its projection",
    "undecided": "undecided: play more episodes",
    "adapts": "adapts within the episode",
    "invariant": "invariant",
}
# What may be required of an agent, and the verdicts that meet it.
REQUIREMENTS = {
    "uses": ("memorised", "undecided", "adapts", "invariant"),
    "adapts": ("adapts", "invariant"),
    "invariant": ("invariant",),
}

_KEEPS = 0.5  # the share of an observation's worth that an adapting agent keeps
_EQUAL = 0.9  # the share of trials that are exactly equal
_MARGIN = 0.05  # differences up to this share of the return count as none


class Estimate(NamedTuple):
    """A mean over episodes with its 95 % interval; nan where there is none."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: _Means) -> "Estimate":
        """Estimate a mean from one number per episode."""
        # Not the bootstrap: under unseen projections most episodes earn little and a
        # few a lot, and resampling those few gives intervals without end.
        ends = interval(values, method="t")
        low, high = (ends.low, ends.high) if ends else (math.nan, math.nan)
        return cls(float(np.mean(values)), low, high)


_NONE = Estimate(math.nan, math.nan, math.nan)


class Row(NamedTuple):
    """A condition: returns of a trial, and how they compare with plain."""

    name: str
    what: str
    value: Estimate  # the return of a trial
    share: Estimate  # of what the observation is worth in plain
    first: float  # the return of the first trial
    last: float
    slope: Estimate  # of the return over trials; nan where there is one trial
    equal: float  # the share of trials that earn exactly what they do in plain


class Finding(NamedTuple):
    """A verdict and the numbers that decided it."""

    verdict: str  # one of `VERDICTS`
    reference: str  # the condition that unseen projections are compared with
    worth: Estimate  # what the observation earns under the reference
    share: Estimate  # of that worth, under unseen projections


def judge(returns: Mapping[str, Returns]) -> Finding:
    """Apply the rule above to the returns under each condition."""
    means = {name: found.mean(axis=1) for name, found in returns.items()}
    known = [name for name in ("plain", "trained") if name in means]
    reference = max(known, key=lambda name: float(means[name].mean()))
    worth = Estimate.of(means[reference] - means["blanked"])
    share = _share(means["random"], means[reference], means["blanked"])
    equal = [_equal(returns[name], returns["plain"]) for name in ("random", "minus")]
    if not any(_uses(means[name], means["blanked"]) for name in (reference, "random")):
        verdict = "ignores"
    elif share.low < _KEEPS:
        verdict = "memorised" if share.high < _KEEPS else "undecided"
    else:
        verdict = "invariant" if min(equal) >= _EQUAL else "adapts"
    return Finding(verdict, reference, worth, share)


def table(returns: Mapping[str, Returns]) -> tuple[Row, ...]:
    """Return a row for each condition that was played."""
    plain, blanked = returns["plain"], returns["blanked"]
    return tuple(
        Row(
            name=name,
            what=CONDITIONS[name],
            value=Estimate.of(found.mean(axis=1)),
            share=_share(found.mean(axis=1), plain.mean(axis=1), blanked.mean(axis=1)),
            first=float(found[:, 0].mean()),
            last=float(found[:, -1].mean()),
            slope=_slope(found),
            equal=math.nan if name == "beyond" else _equal(found, plain),
        )
        for name, found in returns.items()
    )


def _uses(seeing: _Means, blanked: _Means) -> bool:
    """Whether the observation earns more than the margin."""
    size = max(abs(float(seeing.mean())), abs(float(blanked.mean())))
    return Estimate.of(seeing - blanked).low > _MARGIN * size


def _share(values: _Means, reference: _Means, blanked: _Means) -> "Estimate":
    """Estimate (values - blanked) / (reference - blanked), a ratio of two means.

    Its interval is that of the linearised ratio. Where the observation is worth nothing
    under the reference there is no share.
    """
    if not _uses(reference, blanked):
        return _NONE
    worth = float((reference - blanked).mean())
    share = float((values - blanked).mean()) / worth
    rest = (values - blanked) - share * (reference - blanked)
    return Estimate.of(share + rest / worth)


def _slope(returns: Returns) -> "Estimate":
    """Estimate the rise of the return from one trial to the next."""
    n_trials = returns.shape[1]
    if n_trials < 2:
        return _NONE
    times = np.arange(n_trials) - (n_trials - 1) / 2
    return Estimate.of(returns @ times / (times @ times))


def _equal(returns: Returns, plain: Returns) -> float:
    """Return the share of trials that earn what they do in plain, up to rounding."""
    return float(np.isclose(returns, plain, rtol=1e-5, atol=1e-7).mean())
