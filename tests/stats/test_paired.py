"""Sign flips, corrections, equivalence and power: identities and small exact cases."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeproj.stats import (
    holm,
    max_t,
    paired,
    pooled_sign_flip,
    sign_flip,
    split_choice,
)
from freeproj.stats.equivalence import equivalence
from freeproj.stats.paired import flip_signs, sign_patterns
from freeproj.stats.power import power_line, smallest_effect

numbers = st.floats(-10, 10).map(lambda x: round(x, 2))


@given(st.lists(numbers, min_size=1, max_size=9))
def test_p_value_is_that_of_all_sign_patterns(values):
    sums = [
        abs(np.dot(signs, values))
        for signs in itertools.product((1, -1), repeat=len(values))
    ]
    expected = np.mean(np.array(sums) >= abs(sum(values)) - 1e-7)
    assert sign_flip(values).p == pytest.approx(expected)


def test_seeds_are_paired_by_name_and_those_without_a_partner_counted():
    found = paired({1: 2.0, 2: 3.0, 3: math.nan, 5: 1.0}, {2: 1.0, 1: 1.0, 3: 0.0})
    assert (found.mean, found.n, found.seeds, found.n_unpaired) == (1.5, 2, (1, 2), 2)
    assert found.interval is None  # two seeds: points only
    assert found.p == 0.5
    nothing = paired({1: 1.0}, {2: 1.0})
    assert nothing.n == 0
    assert math.isnan(nothing.p)


def test_many_seeds_use_drawn_patterns_with_the_data_among_them():
    assert len(sign_patterns(15)) == 2**14
    assert len(sign_patterns(40)) == 2**14
    assert (sign_patterns(40)[0] == 1).all()
    assert sign_flip(np.ones(40)).p == 2**-14


def test_seeds_shared_between_cells_are_flipped_together():
    data = {1: 1.0, 2: 2.0, 3: -0.5, 4: 1.5, 5: 3.0, 6: 0.2}
    twice = {"a": data, "b": data}
    # A copy of a cell adds nothing; another cell's seeds do.
    assert pooled_sign_flip(twice).p == pooled_sign_flip({"a": data}).p
    apart = {"a": data, "b": {seed + 10: value for seed, value in data.items()}}
    assert pooled_sign_flip(apart).p < pooled_sign_flip(twice).p
    assert pooled_sign_flip(twice).n_seeds == 6
    assert pooled_sign_flip(apart).n_seeds == 12


def test_the_unit_of_a_cell_does_not_count_in_the_pooled_test():
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.5, 1, (2, 8))
    same = pooled_sign_flip({"a": x, "b": y})
    scaled = pooled_sign_flip({"a": x, "b": 1000 * y})
    assert scaled.p == same.p
    assert scaled.effect == pytest.approx(same.effect)


def test_pooled_interval_of_equal_seeds_is_that_of_their_means():
    rng = np.random.default_rng(1)
    values = rng.standard_normal((6, 3))
    pooled = pooled_sign_flip({c: values[:, c] for c in range(3)})
    means = values.mean(axis=1)
    reach = 2.5705818 * means.std(ddof=1) / math.sqrt(6)
    assert pooled.mean == pytest.approx(means.mean())
    assert pooled.interval.high == pytest.approx(means.mean() + reach)


def test_without_data_nothing_is_pooled_or_chosen():
    nothing = pooled_sign_flip({"a": {}, "b": [math.nan]})
    assert nothing.n_cells == 0
    assert math.isnan(nothing.p)
    assert max_t({}) == {}
    assert math.isnan(split_choice({"x": {1: 1.0}}, {1: 0.0}).p)
    with pytest.raises(ValueError, match="at least one option"):
        split_choice({}, {})


def test_holm_multiplies_the_smallest_by_the_number_of_looks():
    np.testing.assert_allclose(
        holm([0.01, 0.04, 0.03, math.nan]), [0.03, 0.06, 0.06, math.nan]
    )
    assert holm([]).size == 0
    assert holm([0.9, 0.8]).max() == 1


def test_max_t_of_copies_needs_no_correction_and_of_one_cell_is_its_own_p():
    data = [1.0, 2.0, -0.5, 1.5, 3.0, 0.2]
    alone = sign_flip(data).p
    assert max_t({"a": data}) == {"a": alone}
    assert max_t({"a": data, "b": data}) == {"a": alone, "b": alone}
    assert all(p >= alone for p in max_t({"a": data, "c": data[::-1]}).values())


def test_a_common_flip_of_all_seeds_changes_no_score():
    flipped = flip_signs({"a": [1.0, 2.0], "b": [0.0, 0.0]})
    assert flipped.scores[0].tolist() == [pytest.approx(3 / math.sqrt(5)), 0.0]


def test_equivalence_is_the_ninety_percent_interval_within_the_margin():
    rng = np.random.default_rng(2)
    for values in rng.normal(0.2, 0.5, (50, 8)):
        found = equivalence(values, margin=0.5)
        inside = found.interval.low >= -0.5 and found.interval.high <= 0.5
        assert found.holds == inside
    assert equivalence([0.1, 0.1, 0.1], 0.2).holds
    assert not equivalence([0.1, 0.1], 0.2).holds  # two seeds say nothing
    with pytest.raises(ValueError, match="`margin` must be greater than 0, got 0"):
        equivalence([0.1, 0.2, 0.3], 0)


def test_more_seeds_find_smaller_effects_and_more_cells_need_larger_ones():
    assert smallest_effect(20) < smallest_effect(10) < smallest_effect(10, n_cells=5)
    assert smallest_effect(10, sd=3.0) == pytest.approx(3 * smallest_effect(10))
    assert smallest_effect(10, power=0.9) > smallest_effect(10)
    assert math.isinf(smallest_effect(5))  # 2^-4 is above 5 %
    assert "at least 6 paired seeds" in power_line(5, 1)
    assert "10 seeds, 1 comparison" in power_line(10, 1)
    with pytest.raises(ValueError, match="`power` must lie in"):
        smallest_effect(10, power=1.0)
