"""Laws of curves over seeds."""

from __future__ import annotations

import numpy as np
import pytest

from freeproj.stats import learning_curves, mean_band, seed_scores
from freeproj.stats.table import Row


def rows(values, seed, **other):
    base = {"task": "T", "memory": "gru", "n_generators": 4, "length": 4}
    fixed = {"protocol": "projection", "split": "test", "counting": "window"}
    return [
        Row(
            **{**base, **fixed, **other},
            seed=seed,
            update=update,
            mean_return=value,
            n_finished=0 if np.isnan(value) else 1,
            n_unfinished=0,
        )
        for update, value in enumerate(values, start=1)
    ]


def test_the_band_of_equal_seeds_is_their_value():
    band = mean_band(np.tile([1.0, 2.0], (4, 1)))
    np.testing.assert_allclose([band.mean, band.low, band.high], [[1, 2]] * 3)


def test_the_band_covers_the_mean_of_many_seeds_as_often_as_it_says():
    rng = np.random.default_rng(0)
    band = mean_band(rng.standard_normal((40, 2000)))
    covered = ((band.low <= 0) & (band.high >= 0)).mean()
    assert 0.91 < covered < 0.97  # a bootstrap of 40 seeds is a little narrow


def test_points_without_data_are_nan_and_count_zero():
    band = mean_band(np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, 5.0]]))
    np.testing.assert_array_equal(band.mean, [1, np.nan, 4])
    np.testing.assert_array_equal(band.n_seeds, [1, 0, 2])
    assert np.isnan(band.low).tolist() == [True, True, False]


def test_one_seed_has_no_band():
    band = mean_band(np.array([[1.0, 2.0]]))
    assert np.isnan([band.low, band.high]).all()


def test_the_running_maximum_ends_at_mmer():
    table = rows([1.0, 3.0, np.nan, 2.0], 0) + rows([np.nan, 0.0, 1.0, -1.0], 1)
    (curve,) = learning_curves(table, running_maximum=True)
    mmer = [score.mmer for score in seed_scores(table)]
    assert curve.band.mean[-1] == np.mean(mmer)
    (plain,) = learning_curves(table)
    assert plain.band.mean[-1] == 0.5


def test_splits_are_never_mixed():
    table = rows([1.0], 0) + rows([9.0], 0, split="train")
    (curve,) = learning_curves(table, split="train")
    assert curve.band.mean.tolist() == [9.0]
    with pytest.raises(ValueError, match="`split` must be one of"):
        learning_curves(table, split="tests")
