"""The predicted risk of ridge regression with the averaged kernel."""

import numpy as np
import pytest

from freeproj.spectra import (
    best_ridge,
    effective_ridge,
    predicted_risk,
    rescale,
    spectrum_of,
)
from freeproj.spectra.risk import factorise, leave_one_out

DIM, SAMPLES, NOISE = 48, 36, 0.05
FAMILIES = ((1, 0), (64, 1), (8, 2), (3, 4), (2, 8))


def haar(rng, n):
    q, r = np.linalg.qr(rng.standard_normal((n, DIM, DIM)))
    return q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[:, None, :]


def draw(rng):
    """Isotropic data and a random linear target of variance 1 plus noise."""
    X = rng.standard_normal((DIM, SAMPLES)) / np.sqrt(DIM)
    beta = rng.standard_normal(DIM)
    beta *= np.sqrt(DIM) / np.linalg.norm(beta)
    return X, beta, beta @ X + np.sqrt(NOISE) * rng.standard_normal(SAMPLES)


def true_risk(rng, X, beta, y, n, length, ridge):
    """The mean squared error on a fresh sample, for bases drawn at random."""
    mean = haar(rng, n).sum(axis=0) / np.sqrt(n)
    features = np.linalg.matrix_power(mean, length)
    image = features @ X
    gram = image @ image.T + ridge * np.eye(DIM)
    learned = features.T @ np.linalg.solve(gram, image @ y)
    return np.sum((learned - beta) ** 2) / DIM + NOISE


@pytest.mark.parametrize(("n", "length"), FAMILIES)
@pytest.mark.parametrize("ridge", [0.05, 0.5])
def test_predicted_risk_is_the_simulated_one_within_its_error(n, length, ridge):
    rng, gaps = np.random.default_rng(length), []
    for _ in range(60):
        X, beta, y = draw(rng)
        predicted = predicted_risk(spectrum_of(X, y), ridge, n, length)
        gaps.append(predicted - true_risk(rng, X, beta, y, n, length, ridge))
    error = np.std(gaps) / np.sqrt(len(gaps))
    assert abs(np.mean(gaps)) < 4 * error + 0.02  # finite size


@pytest.mark.parametrize("shape", [(20, 50), (50, 20)])
def test_without_words_it_is_generalised_cross_validation(shape):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal(shape), rng.standard_normal((shape[1], 2))
    ridge = 3.0
    left = ridge * np.linalg.inv(X.T @ X + ridge * np.eye(shape[1]))
    gcv = np.sum((left @ y) ** 2) / shape[1] / (np.trace(left) / shape[1]) ** 2
    assert predicted_risk(spectrum_of(X, y), ridge, 1, 0) == pytest.approx(gcv)


def random_regression(rng):
    """Data of any shape and spread, a target of any strength."""
    dim, n_samples = rng.integers(3, 40, size=2)
    sizes = np.exp(rng.uniform(0, 3) * rng.standard_normal((dim, 1)))
    X = sizes * rng.standard_normal((dim, n_samples))
    y = np.exp(rng.normal()) * rng.standard_normal(dim) @ X / np.sqrt(np.mean(X**2))
    return X, y + rng.standard_normal(n_samples)


def test_words_never_win():
    """At the ridge κ the risk without words is no larger; so is the least risk."""
    rng = np.random.default_rng(0)
    for trial in range(200):
        X, y = random_regression(rng)
        spectrum = spectrum_of(X, y, intercept=bool(trial % 2))
        n, length = FAMILIES[1 + trial % 4]
        ridge = spectrum.eigenvalues.mean() * 10.0 ** rng.uniform(-6, 3, 8)
        kappa = effective_ridge(spectrum.eigenvalues, ridge, n, length).ridge
        words = predicted_risk(spectrum, ridge, n, length)
        assert (words >= predicted_risk(spectrum, kappa, 1, 0) * (1 - 1e-12)).all()
        least = best_ridge(spectrum, 1, 0).risk
        assert best_ridge(spectrum, n, length).risk >= least * (1 - 1e-5)


def more_samples_than_dimensions():
    """The example of docs/choosing.md."""
    rng = np.random.default_rng(0)
    data = (np.arange(1, 65) ** -0.5)[:, None] * rng.standard_normal((64, 512))
    target = rng.standard_normal(64) @ data + rng.standard_normal(512)
    return rescale(data)[0], target


def test_without_ridge_all_lengths_are_least_squares_where_samples_abound():
    X, y = more_samples_than_dimensions()
    left = y - X.T @ np.linalg.lstsq(X.T, y, rcond=None)[0]
    least_squares = np.mean(left**2) / (1 - 64 / 512) ** 2
    for n, length in ((256, 1), (16, 2), (4, 4), (2, 8)):
        ridge, risk = best_ridge(spectrum_of(X, y), n, length)
        assert ridge == 0
        assert risk == pytest.approx(least_squares, rel=1e-6)
    # Without words a ridge does better.
    assert 0 < best_ridge(spectrum_of(X, y), 1, 0).ridge < np.inf


def test_words_hurt_more_the_longer_they_are_where_samples_are_few():
    rng, risks = np.random.default_rng(0), []
    for _ in range(20):
        X, _, y = draw(rng)
        risks.append(
            [best_ridge(spectrum_of(X, y), n, ell).risk for n, ell in FAMILIES]
        )
    assert (np.diff(np.mean(risks, axis=0)) > 0).all()


def test_noise_gets_an_infinite_ridge_or_a_useless_one():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((30, 600)), rng.standard_normal(600)
    spectrum = spectrum_of(X, y, intercept=True)
    assert best_ridge(spectrum, 2, 8).risk > 0.97 * spectrum.zero_risk


@pytest.mark.parametrize("shape", [(5, 20), (20, 8)])
@pytest.mark.parametrize("ridge", [0.0, 0.3, np.inf])
def test_left_out_samples_have_the_error_of_a_fit_without_them(shape, ridge):
    rng, (dim, n_samples) = np.random.default_rng(0), shape
    X, y = rng.standard_normal(shape), 5 + rng.standard_normal(n_samples)
    mixed = rng.standard_normal((dim, dim))
    for words in (None, mixed):
        factors = factorise(X, y, intercept=True)
        factors = factors if words is None else factors.mixed(words)
        found = leave_one_out(factors, ridge)
        Z, direct = X if words is None else words @ X, []
        for out in range(n_samples):
            rest = np.arange(n_samples) != out
            center, level = Z[:, rest].mean(axis=1), y[rest].mean()
            inputs = Z[:, rest].T - center
            gram = inputs @ inputs.T + min(ridge, 1e12) * np.eye(n_samples - 1)
            weights = inputs.T @ np.linalg.pinv(gram, rcond=1e-12) @ (y[rest] - level)
            direct.append((y[out] - level - weights @ (Z[:, out] - center)) ** 2)
        np.testing.assert_allclose(found, direct, rtol=1e-5)


def test_an_offset_of_the_target_does_not_matter_with_an_intercept():
    X, y = more_samples_than_dimensions()
    near, far = (spectrum_of(X, y + c, intercept=True) for c in (0, 1000))
    assert far.zero_risk == pytest.approx(near.zero_risk)
    assert best_ridge(far, 1, 0).risk == pytest.approx(best_ridge(near, 1, 0).risk)


def test_small_singular_values_keep_their_digits():
    """From XX^T, singular values below 1e-8 of the largest would be lost."""
    rng, roots = np.random.default_rng(0), np.geomspace(1, 1e-9, 40)
    q = np.linalg.qr(rng.standard_normal((200, 40))).Q
    spectrum = spectrum_of((q * roots).T, rng.standard_normal(200))
    np.testing.assert_allclose(spectrum.eigenvalues[::-1], roots**2, rtol=1e-5)


def test_the_best_ridge_is_no_worse_than_its_neighbours():
    X, _, y = draw(np.random.default_rng(3))
    spectrum = spectrum_of(X, y)
    ridge, risk = best_ridge(spectrum, 8, 2)
    around = predicted_risk(spectrum, ridge * np.array([0.5, 0.9, 1.1, 2.0]), 8, 2)
    assert (risk <= around).all()


def test_data_without_spread_predict_nothing():
    spectrum = spectrum_of(np.zeros((3, 5)), np.arange(5.0), intercept=True)
    assert best_ridge(spectrum, 2, 8) == (np.inf, spectrum.zero_risk)


def test_a_target_that_does_not_fit_is_named():
    with pytest.raises(ValueError, match="each of the 36 samples"):
        spectrum_of(draw(np.random.default_rng(0))[0], np.ones(5))
