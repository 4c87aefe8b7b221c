"""Paired means, corrections, choices and power: identities and small exact cases."""

import math

import numpy as np
import pytest
import scipy.stats

from freeproj.stats.paired import differences, half_choice, mean_of, pooled_mean
from freeproj.stats.power import power_line, smallest_effect
from freeproj.stats.verdicts import holm

NAN = math.nan


def test_seeds_are_paired_by_name():
    found = differences({1: 2.0, 2: 3.0, 3: NAN, 5: 1.0}, {2: 1.0, 1: 1.0, 3: 0.0})
    assert found == {1: 1.0, 2: 2.0}
    assert differences({1: 1.0}, {2: 1.0}) == {}


def test_interval_and_p_are_those_of_the_t_test_and_agree():
    values = np.random.default_rng(0).normal(0.5, 1, 8)
    theirs = scipy.stats.ttest_1samp(values, 0.2)
    found = mean_of(values)
    assert found.p(0.2) == pytest.approx(theirs.pvalue)
    assert found.interval(0.9)[:2] == pytest.approx(theirs.confidence_interval(0.9))
    # The interval at level 1 - p ends at the threshold.
    ends = found.interval(1 - found.p(0.2))
    assert min(abs(ends.low - 0.2), abs(ends.high - 0.2)) < 1e-9


def test_fewer_than_three_seeds_have_no_interval_and_no_p():
    found = mean_of([1.0, 2.0, NAN])
    assert (found.value, found.n, found.interval(0.95)) == (1.5, 2, None)
    assert math.isnan(found.p())


def test_equal_differences_are_certain():
    found = mean_of([0.5, 0.5, 0.5])
    assert found.interval(0.999)[:2] == (0.5, 0.5)
    assert (found.p(0.0), found.p(0.5)) == (0.0, 1.0)


@pytest.mark.fast
def test_the_pool_of_equal_seeds_is_that_of_their_means():
    values = np.random.default_rng(1).standard_normal((6, 3))
    pooled = pooled_mean({c: values[:, c] for c in range(3)})
    alone = mean_of(values.mean(axis=1))
    assert pooled.interval(0.95)[:2] == pytest.approx(alone.interval(0.95)[:2])
    # A copy of a cell adds nothing; another cell's seeds do.
    data = dict(enumerate(values[:, 0]))
    apart = {"a": data, "b": {seed + 10: value for seed, value in data.items()}}
    assert pooled_mean({"a": data, "b": data}).error == mean_of(data).error
    assert pooled_mean(apart).error < mean_of(data).error


def test_without_data_nothing_is_pooled_or_chosen():
    assert pooled_mean({"a": {}, "b": [NAN]}).n == 0
    assert half_choice({"x": {1: 1.0}}, {1: 0.0}).gains == {}
    with pytest.raises(ValueError, match="at least one option"):
        half_choice({}, {})


def test_an_option_is_measured_on_seeds_that_did_not_choose_it():
    reference = dict.fromkeys(range(4), 0.0)
    # Even seeds like a, odd ones b: each half gets the other's choice.
    rows = {"a": [1.0, -1.0, 1.0, -1.0], "b": [-2.0, 2.0, -2.0, 2.0]}
    options = {name: dict(enumerate(row)) for name, row in rows.items()}
    found = half_choice(options, reference)
    assert found.choices == ("a", "b")
    assert found.gains == {0: -2.0, 1: -1.0, 2: -2.0, 3: -1.0}
    assert found.mean == -1.5


def test_holm_multiplies_the_smallest_by_the_number_of_looks():
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": NAN})
    assert found == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06, "d": NAN}, nan_ok=True
    )
    assert holm({}) == {}
    assert max(holm({"a": 0.9, "b": 0.8}).values()) == 1


def test_more_seeds_find_smaller_effects_and_more_cells_need_larger_ones():
    assert smallest_effect(20) < smallest_effect(10) < smallest_effect(10, n_cells=5)
    assert smallest_effect(10, sd=3.0) == pytest.approx(3 * smallest_effect(10))
    assert smallest_effect(10, power=0.9) > smallest_effect(10)
    assert math.isinf(smallest_effect(2))
    assert "at least 3 paired seeds" in power_line(2, 1)
    assert "10 seeds, 1 comparison" in power_line(10, 1)
    with pytest.raises(ValueError, match="`power` must lie in"):
        smallest_effect(10, power=1.0)
