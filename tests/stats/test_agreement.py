"""Agreement with scipy and rliable."""

import numpy as np
import pytest
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


def test_profiles_and_probabilities_agree_with_rliable():
    library = pytest.importorskip("rliable.library")
    metrics = pytest.importorskip("rliable.metrics")
    rng = np.random.default_rng(0)
    scores, others = rng.normal(size=(2, 10, 5)).round(1)  # seeds x tasks, with ties
    others[:, 2] = scores[:, 2]
    first, second = (
        {task: dict(enumerate(x[:, task])) for task in range(5)}
        for x in (scores, others)
    )
    ours = stats.probability_of_improvement(first, second)
    theirs = metrics.probability_of_improvement(scores, others)
    assert ours.probability == pytest.approx(theirs)
    thresholds = np.linspace(-2, 2, 8)
    profile = stats.performance_profile(first, thresholds)
    expected = library.score_distributions(scores, thresholds)
    np.testing.assert_allclose(profile.share, expected)
