"""Laws of the averaged kernel."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.projection import matrices, words
from freeproj.spectra.kernel import (
    _draw_sum,
    average_kernel,
    expected_inner_product,
    gaussian_data,
    inner_product,
    sample_root_singular_values,
)


def orthogonal(n, dim, seed=0):
    gaussian = np.random.default_rng(seed).normal(size=(n, dim, dim))
    return np.linalg.qr(gaussian)[0]


def enumerated_kernel(X, bases, length):
    """n^-ℓ Σ_{v,w} <λ(v)X_i, λ(w)X_j> with every word written out."""
    bases = np.asarray(bases, dtype=np.float64)
    letters = words.enumerate_words(len(bases), length) - 1
    everything = np.array(
        [functools.reduce(np.matmul, bases[word]) for word in letters]
    )
    images = everything @ X
    return np.einsum("vai,waj->ij", images, images) / len(everything)


@pytest.mark.parametrize(("n", "length"), [(5, 1), (3, 2), (2, 3), (2, 5)])
@pytest.mark.parametrize("n_samples", [3, 20])
def test_power_of_the_sum_is_the_enumeration(n, length, n_samples):
    X = np.random.default_rng(0).normal(size=(8, n_samples))
    bases = orthogonal(n, 8)
    K, same = average_kernel(X, bases, length), enumerated_kernel(X, bases, length)
    np.testing.assert_allclose(K, same, atol=1e-10)


def test_bases_from_matrices_are_accepted(getkey):
    X = np.random.default_rng(0).normal(size=(8, 3))
    bases = matrices.haar(getkey(), 2, 8)
    K = average_kernel(jnp.asarray(X), bases, 2)
    assert K.dtype == np.float64
    np.testing.assert_allclose(K, enumerated_kernel(X, bases, 2), atol=1e-4)  # float32


@pytest.mark.parametrize("length", [0, 1, 2, 4])
def test_permutations_as_rows_and_as_matrices_give_one_kernel(length, getkey):
    X = np.random.default_rng(1).normal(size=(6, 4))
    rows = matrices.permutations(getkey(), 3, 6)
    dense = np.eye(6)[:, rows].transpose(1, 0, 2)
    K = average_kernel(X, rows, length)
    np.testing.assert_allclose(K, average_kernel(X, dense, length), atol=1e-12)
    if length:
        same = enumerated_kernel(X, dense, length)
        np.testing.assert_allclose(K, same, atol=1e-12)


def test_no_letters_leave_the_data_alone():
    X = np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_array_equal(average_kernel(X, orthogonal(2, 5), 0), X.T @ X)


def test_trials_are_done_as_if_one_by_one():
    X = np.random.default_rng(0).normal(size=(3, 6, 4))
    bases = np.stack([orthogonal(2, 6, seed) for seed in range(3)])
    together = average_kernel(X, bases, 3)
    for trial in range(3):
        alone = average_kernel(X[trial], bases[trial], 3)
        np.testing.assert_allclose(together[trial], alone, atol=1e-12)


def test_the_all_ones_vector_is_an_outlier_that_can_be_taken_out(getkey):
    rows = matrices.permutations(getkey(), 4, 30)
    identity = np.eye(30)
    kept = np.linalg.eigvalsh(average_kernel(identity, rows, 2))
    assert kept[-1] == pytest.approx(4**2)  # n^ℓ, whatever the permutations
    rest = np.linalg.eigvalsh(average_kernel(identity, rows, 2, keep_ones=False))
    assert rest[0] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(rest[1:], kept[:-1], atol=1e-9)


def test_sampled_orthogonal_kernels_have_mean_trace_one():
    """E tr (A^T A)^ℓ-words = 1: the words' mean square is 1 for Haar bases."""
    values = sample_root_singular_values(np.eye(40), 3, 2, n_trials=60, seed=5)
    traces = np.mean(values**2, axis=1)
    error = traces.std(ddof=1) / np.sqrt(60)
    assert abs(traces.mean() - 1) < 4 * error + 1 / 40


def test_sampled_bases_are_haar_and_not_bare_qr():
    """Bare QR would give a mean trace of about -2 at d = 16."""
    drawn = _draw_sum(np.random.default_rng(0), 300, 1, 16, "orthogonal")
    np.testing.assert_allclose(
        drawn @ np.swapaxes(drawn, 1, 2),
        np.broadcast_to(np.eye(16), drawn.shape),
        atol=1e-12,
    )
    traces = np.trace(drawn, axis1=1, axis2=2)
    assert abs(traces.mean()) < 4 / np.sqrt(300)
    assert 0.3 < np.mean(drawn[:, 0, 0] < 0) < 0.7


@pytest.mark.parametrize("group", ["orthogonal", "permutation"])
def test_sampling_is_a_function_of_its_seed(group):
    X = gaussian_data(5, 12, 8, seed=0)
    same = {"n_trials": 5, "group": group}
    first = sample_root_singular_values(X, 7, 2, seed=1, **same)
    assert first.shape == (5, 8)
    again = sample_root_singular_values(X, 7, 2, seed=1, **same)
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, sample_root_singular_values(X, 7, 2, seed=2, **same))
    assert len({tuple(row) for row in first.tolist()}) == 5, "trials differ"


def test_slabs_do_not_change_what_a_kernel_is(monkeypatch):
    monkeypatch.setattr("freeproj.spectra.kernel._SLAB", 1)
    values = sample_root_singular_values(np.eye(30), 10, 1, n_trials=20, seed=0)
    assert len(np.unique(values, axis=0)) == 20, "every trial has bases of its own"
    assert np.mean(values**2) == pytest.approx(1, abs=0.05)


def test_sampled_permutations_keep_the_ones_as_outlier():
    values = sample_root_singular_values(
        np.eye(25), 4, 3, n_trials=3, seed=0, group="permutation"
    )
    np.testing.assert_allclose(values[:, -1] ** 2, 4**3)
    rest = sample_root_singular_values(
        np.eye(25), 4, 3, n_trials=3, seed=0, group="permutation", keep_ones=False
    )
    np.testing.assert_allclose(rest[:, 1:], values[:, :-1], atol=1e-6)


def test_gaussian_data_has_the_papers_scale():
    X = gaussian_data(20, 50, 80, seed=0)
    assert X.shape == (20, 50, 80)
    assert X.var() * 50 == pytest.approx(1, abs=4 * np.sqrt(2 / X.size))


def test_bad_arguments_are_named(untyped):
    X, bases = np.ones((4, 3)), orthogonal(2, 4)
    cases = [
        ((np.ones(4), bases, 1), "`X` must be a matrix, d dimensions x p samples"),
        ((X.astype(complex), bases, 1), "`X` must be real"),
        ((X, np.ones((2, 5, 5)), 1), r"`X` has 4 rows; got shape \(2, 5, 5\)"),
        ((X, np.zeros((2, 4), int), 1), "must be permutations"),
        ((X, bases, -1), "`length` must be an integer, at least 0, got -1"),
        ((X, bases, 1.5), "`length` must be an integer"),
    ]
    for arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            average_kernel(*arguments)
    for change, message in [
        ({"n_trials": 0}, "`n_trials` must be an integer, at least 1"),
        ({"n_generators": 0}, "`n_generators` must be an integer, at least 1"),
        ({"group": "unitary"}, "`group` must be"),
        ({"X": np.ones((3, 4, 3))}, "one for each of the 2 trials"),
    ]:
        arguments = {"X": X, "n_generators": 2, "length": 1, "n_trials": 2, "seed": 0}
        with pytest.raises(ValueError, match=message):
            sample_root_singular_values(**{**arguments, **change})


def haar(rng, n, dim):
    q, r = np.linalg.qr(rng.standard_normal((n, dim, dim)))
    return q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[:, None, :]


def test_it_is_the_trace_of_a_product():
    a, b = bases = haar(np.random.default_rng(0), 2, 7)
    found = inner_product([1, 2, 1], [2, -1], bases)
    assert found == pytest.approx(np.trace((a @ b @ a).T @ b @ a.T) / 7)
    permutations = np.array([[1, 2, 0], [1, 0, 2]])
    assert inner_product([], [1], permutations) == 0
    assert inner_product([], [2], permutations) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("v", "w", "expected"),
    [
        ([1, 2], [1, 2], 1.0),
        ([1], [2], 0.0),
        ([], [1, 1], 1 / 8),
        ([1, -2], [2, 2, 2, 2, 1, -2], 1 / 8),  # v^-1 w = (b a^-1 b⁴ a b^-1)
        ([1, 2], [2, 1, 2, 1], 0.0),
        ([], [1, 2, 1, 2], 1 / 8),
        ([], [1, 1, 1], 0.0),
        ([], [1, 2, -1, -2], 0.0),  # exactly 1/d²
    ],
)
def test_squares_have_the_mean_one_over_d(v, w, expected):
    rng, dim = np.random.default_rng(0), 8
    assert expected_inner_product(v, w, dim) == pytest.approx(expected)
    assert expected_inner_product(v, w) == (expected == 1)
    found = [inner_product(v, w, haar(rng, 2, dim)) for _ in range(3000)]
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - expected) < 4 * error + 1.5 / dim**2


def test_the_second_moment_of_the_kernel_has_an_exact_term_of_order_one_over_d():
    """Squares (v^-1 w)² among v_1^-1 w_1 v_2^-1 w_2: at X = I and ℓ = 1, n(n-1)/n²."""
    n, dim, rng, found = 3, 6, np.random.default_rng(1), []
    for _ in range(4000):
        A = haar(rng, n, dim).sum(axis=0) / np.sqrt(n)
        found.append(np.trace(A.T @ A @ A.T @ A) / dim)
    letters = [[k] for k in range(1, n + 1)]
    quotients = [
        (np.r_[-np.array(v2)[::-1], w2][::-1] * -1, np.r_[-np.array(v1)[::-1], w1])
        for v1 in letters
        for w1 in letters
        for v2 in letters
        for w2 in letters
    ]
    expected = sum(expected_inner_product(*each, dim) for each in quotients) / n**2
    assert expected == pytest.approx(2 - 1 / n + (1 - 1 / n) / dim)
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - expected) < 4 * error + 1 / dim**2
