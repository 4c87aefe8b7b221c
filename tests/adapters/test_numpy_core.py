"""Laws of the NumPy core: the numbers of the JAX path, the conventions, the draws."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freeproj import FreeProjection
from freeproj.adapters.numpy_core import (
    checked,
    draw_bases,
    draw_word,
    haar,
    matrix,
    table,
)
from freeproj.projection.families import FAMILIES, family_of


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_same_bases_and_word_give_the_same_matrix_as_jax(family, data):
    dim = data.draw(st.sampled_from([1, 4, 8]))
    law = FreeProjection(
        data.draw(st.integers(1, 3)),
        data.draw(st.integers(1, 3)),
        dim=dim,
        input_dim=data.draw(st.integers(1, 11)),
        scale=0.7,
        family=family,
        inverses=family_of(family).grouped and data.draw(st.booleans()),
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    bases, word = draw_bases(law, rng), draw_word(law, rng)
    obs_dim = data.draw(st.integers(1, dim))
    expected = law.matrix(word, bases, obs_dim)
    np.testing.assert_allclose(matrix(law, word, bases, obs_dim), expected, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_table_has_the_matrix_of_every_word(family):
    law = FreeProjection(2, 2, dim=8, input_dim=5, family=family)
    bases = draw_bases(law, np.random.default_rng(0))
    letters, every = table(law, bases, 3)
    assert every.shape == (4, 5, 3)
    for word, each in zip(letters, every, strict=True):
        np.testing.assert_allclose(each, law.matrix(word, bases, 3), atol=1e-6)


def gaussian_of_mine(key, dim):
    import jax

    return jax.random.normal(key, (dim, dim)) / np.sqrt(dim)


def test_a_family_of_ones_own_is_drawn_by_its_own_function():
    law = FreeProjection(2, 2, dim=8, family=f"{__name__}:gaussian_of_mine")
    bases = draw_bases(law, np.random.default_rng(0))
    assert bases.shape == (4, 8, 8)
    np.testing.assert_allclose(
        matrix(law, [1, 2], bases, 3), law.scale * bases[1][:, :3], rtol=1e-5
    )


def test_numpy_haar_has_trace_of_mean_zero_and_variance_one():
    traces = np.trace(haar(np.random.default_rng(0), 400, 16), axis1=1, axis2=2)
    assert abs(traces.mean()) < 4 / 20  # four standard errors
    assert abs(traces.var() - 1) < 4 * np.sqrt(2 / 400)


def test_raw_qr_has_a_negative_first_entry_more_often_than_not():
    rng = np.random.default_rng(0)
    raw = haar(rng, 200, 16, signed=False)
    assert (raw[:, 0, 0] < 0).all()
    assert 0.3 < (haar(rng, 200, 16)[:, 0, 0] < 0).mean() < 0.7


def test_permutations_permute_and_differ():
    law = FreeProjection(5, 1, dim=16, family="permutation")
    rows = draw_bases(law, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(rows, axis=1), np.tile(np.arange(16), (5, 1)))
    assert len({tuple(row) for row in rows}) == 5


@pytest.mark.parametrize("inverses", [False, True])
def test_words_are_uniform_over_their_family(inverses):
    law, rng = FreeProjection(2, 2, inverses=inverses), np.random.default_rng(0)
    drawn = [tuple(draw_word(law, rng).tolist()) for _ in range(6000)]
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == law.n_words
    expected = 6000 / law.n_words
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)


def test_families_of_any_size_are_drawn_from():
    law = FreeProjection(16, 64)
    letters = draw_word(law, np.random.default_rng(0))
    assert letters.shape == (64,)
    assert len(set(letters.tolist())) > 8


def test_only_a_free_projection_is_taken():
    with pytest.raises(TypeError, match="must be a FreeProjection, got str"):
        checked("haar", 4)


def test_wrappers_never_start_jax_so_workers_may_be_forked():
    code = (
        "from jax._src import xla_bridge; import gymnasium as gym; "
        "from freeproj import FreeProjection; "
        "from freeproj.adapters.gymnasium import ProjectObservation; "
        "env = ProjectObservation(gym.make('CartPole-v1'), FreeProjection(4, 4)); "
        "env.reset(); env.step(0); print(xla_bridge.backends_are_initialized())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "False"
