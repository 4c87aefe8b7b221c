"""Agreement with scipy and rliable."""

import numpy as np
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from freeproj import stats

rows_of_numbers = hnp.arrays(
    float, st.integers(1, 40), elements=st.floats(-100, 100, width=32)
)


@given(rows_of_numbers)
def test_iqm_is_the_quarter_trimmed_mean_of_scipy(values):
    expected = scipy.stats.trim_mean(values, 0.25)
    np.testing.assert_allclose(stats.iqm(values), expected, atol=1e-9)


def test_t_intervals_are_those_of_scipy():
    values = np.random.default_rng(0).normal(0.5, 1, 8)
    theirs = scipy.stats.ttest_1samp(values, 0).confidence_interval()
    np.testing.assert_allclose(stats.interval(values)[:2], theirs)


def test_the_studentised_bootstrap_is_near_to_bca_of_scipy():
    values = np.random.default_rng(1).exponential(size=40)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    ours = stats.interval(values)
    width = theirs.high - theirs.low
    np.testing.assert_allclose(ours[:2], theirs, atol=0.2 * width)
