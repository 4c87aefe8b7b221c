"""Equation (3.1) and its term of order 1/d."""

import numpy as np
import pytest

from freeproj.spectra import expected_inner_product, inner_product


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
