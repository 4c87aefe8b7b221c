"""Laws of the NumPy core: the numbers of the JAX path, the conventions, the draws."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freeproj import FreeProjection
from freeproj.adapters.numpy_core import NumpyProjection, as_numpy, haar, permutations
from freeproj.projection import FAMILIES

GROUPED = ("haar", "permutation")


def test_both_projections_have_the_same_settings_and_defaults():
    ours = [(f.name, f.default) for f in dataclasses.fields(NumpyProjection)]
    theirs = [(f.name, f.default) for f in dataclasses.fields(FreeProjection)]
    assert ours == theirs


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
        inverses=family in GROUPED and data.draw(st.booleans()),
    )
    rng, ours = np.random.default_rng(data.draw(st.integers(0, 99))), as_numpy(law)
    bases, word = ours.draw_bases(rng, np.float32), ours.draw_word(rng)
    obs_dim = data.draw(st.integers(1, dim))
    expected = law.matrix(word, bases, obs_dim)
    np.testing.assert_allclose(ours.matrix(word, bases, obs_dim), expected, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_bases_and_words_drawn_by_jax_are_understood(getkey, family):
    law = FreeProjection(2, 2, dim=8, family=family)
    bases, word = law.draw_bases(getkey()), law.draw_word(getkey())
    ours = as_numpy(law).matrix(np.asarray(word), np.asarray(bases), 3)
    np.testing.assert_allclose(ours, law.matrix(word, bases, 3), atol=1e-6)


def test_project_applies_the_matrix_to_each_observation():
    law = NumpyProjection(2, 3, dim=8, input_dim=5)
    rng = np.random.default_rng(0)
    bases, word = law.draw_bases(rng), law.draw_word(rng)
    observations = rng.standard_normal((2, 3, 4))
    matrix = law.matrix(word, bases, 4)
    expected = np.einsum("ij,abj->abi", matrix, observations)
    np.testing.assert_allclose(law.project(word, bases, observations), expected)


def test_numpy_haar_has_trace_of_mean_zero_and_variance_one():
    traces = np.trace(haar(np.random.default_rng(0), 400, 16), axis1=1, axis2=2)
    assert abs(traces.mean()) < 4 / 20  # four standard errors
    assert abs(traces.var() - 1) < 4 * np.sqrt(2 / 400)


def test_permutations_permute_and_differ():
    rows = permutations(np.random.default_rng(0), 5, 16)
    np.testing.assert_array_equal(np.sort(rows, axis=1), np.tile(np.arange(16), (5, 1)))
    assert len({tuple(row) for row in rows}) == 5


@pytest.mark.parametrize("inverses", [False, True])
def test_words_are_uniform_over_their_family(inverses):
    law, rng = NumpyProjection(2, 2, inverses=inverses), np.random.default_rng(0)
    drawn = [tuple(law.draw_word(rng).tolist()) for _ in range(6000)]
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == law.n_words
    expected = 6000 / law.n_words
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)


def test_n_generators_follow_from_the_number_of_words():
    assert NumpyProjection.with_words(256, 4).n_generators == 4
    assert NumpyProjection.with_words(2**20, 20).n_words == 2**20
    with pytest.raises(ValueError, match=r"81 \(n = 3\) and 256 \(n = 4\)"):
        NumpyProjection.with_words(255, 4)
    with pytest.raises(ValueError, match=r"256 \(n = 4\) and 625 \(n = 5\)"):
        NumpyProjection.with_words(257, 4)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"dim": 0}, "dim"),
        ({"scale": -1.0}, "scale"),
        ({"family": "rademacher"}, "haar"),
        ({"family": "gaussian", "inverses": True}, "inverses"),
        ({"family": "hadamard", "dim": 12}, "power of 2"),
        ({"family": "iid_haar", "n_generators": 100, "length": 4}, "n_words"),
    ],
)
def test_wrong_settings_are_refused(wrong, named):
    with pytest.raises(ValueError, match=named):
        NumpyProjection(**{"n_generators": 2, "length": 2, **wrong})


@pytest.mark.parametrize("word", [[1], [1, 3], [0, 1], [1, -1], [1.0, 1.0]])
def test_wrong_words_are_refused(word):
    law = NumpyProjection(2, 2, dim=4)
    with pytest.raises(ValueError, match="word"):
        law.matrix(word, law.draw_bases(np.random.default_rng(0)), 2)


def test_observations_that_do_not_fit_are_refused_with_both_sizes():
    law = NumpyProjection(2, 2, dim=4)
    with pytest.raises(ValueError, match=r"1 to 4 .* got 5"):
        law.matrix([1, 1], law.draw_bases(np.random.default_rng(0)), 5)
    with pytest.raises(TypeError, match="FreeProjection"):
        as_numpy("haar")
