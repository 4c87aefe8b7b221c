"""Laws of Haar matrices that are revealed only where they are used."""

import numpy as np
import pytest

from freeproj.adapters.sklearn import HaarRows


@pytest.mark.parametrize(("dim", "n_rows"), [(1, 1), (5, 5), (12, 3), (40, 4)])
def test_rows_stay_orthonormal(dim, n_rows):
    rows = HaarRows(np.random.default_rng(0), dim).rows([1, 2, 1, 1, -2, 1], n_rows)
    np.testing.assert_allclose(rows @ rows.T, np.eye(n_rows), atol=1e-10)


def test_a_letter_is_the_same_matrix_wherever_it_is_used():
    haar = HaarRows(np.random.default_rng(0), 7)
    matrix = haar.apply(np.eye(7), 1)
    rows = haar.apply(np.eye(3, 7), 2)
    np.testing.assert_allclose(haar.apply(rows, 1), rows @ matrix, atol=1e-10)
    np.testing.assert_allclose(haar.apply(rows, -1), rows @ matrix.T, atol=1e-10)


def test_revealing_in_parts_gives_one_linear_isometry():
    haar = HaarRows(np.random.default_rng(0), 9)
    parts = [
        np.linalg.qr(np.random.default_rng(k).normal(size=(9, 2)))[0].T
        for k in range(4)
    ]
    images = [haar.apply(part, 3) for part in parts]
    inputs, outputs = np.concatenate(parts), np.concatenate(images)
    np.testing.assert_allclose(outputs @ outputs.T, inputs @ inputs.T, atol=1e-10)
    np.testing.assert_allclose(haar.apply(images[1], -3), parts[1], atol=1e-10)


@pytest.mark.parametrize(
    ("word", "mean"), [([1, 2], 0.0), ([1, 1], 1 / 5), ([1, 2, -1, -2], 1 / 25)]
)
def test_words_have_the_exact_mean_traces_of_haar_matrices(word, mean):
    traces = [
        np.trace(HaarRows(np.random.default_rng(seed), 5).rows(word, 5)) / 5
        for seed in range(800)
    ]
    error = np.std(traces) / np.sqrt(len(traces))
    assert abs(np.mean(traces) - mean) < 4 * error


def test_the_corner_has_the_moments_of_a_haar_corner_for_a_square_word():
    # Three rows of the matrix of aa at d = 6: compare with the full matrix squared.
    rng, few, full = np.random.default_rng(1), [], []
    for seed in range(500):
        few.append(
            np.trace(HaarRows(np.random.default_rng(seed), 6).rows([1, 1], 3)[:, :3])
        )
        q, r = np.linalg.qr(rng.standard_normal((6, 6)))
        q = q * np.sign(np.diagonal(r))
        full.append(np.trace((q @ q)[:3, :3]))
    for power in (1, 2, 3):
        a, b = np.power(few, power), np.power(full, power)
        error = np.sqrt((a.var() + b.var()) / 500)
        assert abs(a.mean() - b.mean()) < 4 * error
