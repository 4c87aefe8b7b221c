"""From curves to numbers, from columns to cells."""

import math

import numpy as np
import pytest

from freeproj.stats import REDUCTIONS, last, mmer, running_maximum
from freeproj.stats.intervals import interval, iqm, summarise

NAN = math.nan


def test_scores_leave_evaluations_without_data_out():
    curve = [5.0, 1.0, NAN, 3.0]
    assert last(curve) == 2.0
    assert REDUCTIONS["final"](curve) == 3.0
    assert mmer(curve) == 5.0
    assert math.isnan(last([1.0, NAN, NAN, NAN]))
    assert math.isnan(mmer([]))
    np.testing.assert_array_equal(running_maximum([NAN, 1.0, 0.0]), [NAN, 1.0, 1.0])
    assert last(np.ones((2, 5))).shape == (2,)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        last(curve, 0)


def test_iqm_drops_a_quarter_at_each_end():
    assert iqm([1, 2, 3, 4, 5, 6, 7, 100]) == 4.5
    assert math.isnan(iqm([1.0, NAN]))


def test_summary_counts_missing_seeds_and_leaves_them_out():
    found = summarise([2.0, NAN, 4.0, 3.0])
    assert (found.n, found.n_missing, found.mean, found.std) == (3, 1, 3.0, 1.0)
    reach = 4.30265273 / math.sqrt(3)
    assert found.interval.high == pytest.approx(3 + reach)
    assert found.interval.method == "t"
    assert summarise([1.0, 2.0]).interval is None
    assert summarise([NAN]).n == 0


def test_ten_seeds_are_bootstrapped_and_the_same_data_give_the_same_interval():
    values = np.random.default_rng(0).exponential(size=12)
    found = interval(values)
    assert found.method == "studentised bootstrap"
    assert found == interval(values)
    assert found.high - values.mean() > values.mean() - found.low  # follows the skew
    assert interval(values, 0.99).method == "t"
    assert interval(np.ones(12)) == (1.0, 1.0, 12, "studentised bootstrap")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": 1.0}, "`level` must lie in"),
        ({"method": "magic"}, "`method` must be one of"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        interval([1.0, 2.0, 3.0], **arguments)
    with pytest.raises(ValueError, match="one row, a number per seed"):
        interval([[1.0, 2.0]])
