"""Laws of verdicts: they follow the data, and few data decide nothing."""

from __future__ import annotations

import math

import pytest

from freeproj.report.paper.verdicts import (
    Verdict,
    combine,
    decide,
    decide_pairs,
    pairs_needed,
    unknown,
)

HOLDS, FAILS, OPEN = Verdict.HOLDS, Verdict.FAILS, Verdict.OPEN


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((0.1, 0.2), HOLDS),
        ((-0.2, -0.1), FAILS),
        ((-0.1, 0.1), OPEN),
        ((0.0, 0.1), OPEN),
        ((math.nan, math.nan), OPEN),
    ],
)
def test_an_interval_decides_where_it_does_not_touch_zero(interval, verdict):
    assert decide(interval) is verdict


def test_all_must_hold_and_one_counterexample_is_enough():
    assert combine([HOLDS, HOLDS]) is HOLDS
    assert combine([HOLDS, OPEN]) is OPEN
    assert combine([HOLDS, OPEN, FAILS]) is FAILS
    assert combine([]) is OPEN


def seeds(values):
    return dict(enumerate(values))


def test_exchanging_the_methods_turns_the_verdict():
    better, worse = seeds([2.0, 2.1, 1.9, 2.2, 2.0, 2.3]), seeds([1.0] * 6)
    assert decide_pairs(better, worse).verdict is HOLDS
    assert decide_pairs(worse, better).verdict is FAILS
    assert decide_pairs(better, better).verdict is OPEN


@pytest.mark.parametrize("n_looks", [1, 3])
def test_fewer_pairs_than_needed_decide_nothing_however_large_the_gap(n_looks):
    n = pairs_needed(n_looks)
    for n_pairs, verdict in ((n - 1, OPEN), (n, HOLDS)):
        high, low = seeds([100.0 + i for i in range(n_pairs)]), seeds([0.0] * n_pairs)
        assert decide_pairs(high, low, n_looks).verdict is verdict


def test_seeds_without_a_partner_or_data_are_left_out():
    compared = decide_pairs({0: 1.0, 1: math.nan, 2: 3.0}, {0: 0.5, 1: 1.0, 9: 2.0})
    assert compared.n == 1
    assert compared.mean_difference == 0.5
    assert compared.verdict is OPEN


def test_no_data_is_open():
    assert unknown("x", "No runs.").verdict is OPEN
