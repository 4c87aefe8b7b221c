"""The predicted risk of ridge regression with the averaged kernel."""

import numpy as np
import pytest

from freeproj.spectra import best_ridge, predicted_risk, spectrum_of

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


def test_words_hurt_more_the_longer_they_are():
    rng, risks = np.random.default_rng(0), []
    for _ in range(20):
        X, _, y = draw(rng)
        risks.append(
            [best_ridge(spectrum_of(X, y), n, ell).risk for n, ell in FAMILIES]
        )
    assert (np.diff(np.mean(risks, axis=0)) > 0).all()


def test_the_best_ridge_is_no_worse_than_its_neighbours():
    X, _, y = draw(np.random.default_rng(3))
    spectrum = spectrum_of(X, y)
    ridge, risk = best_ridge(spectrum, 8, 2)
    around = predicted_risk(spectrum, ridge * np.array([0.5, 0.9, 1.1, 2.0]), 8, 2)
    assert (risk <= around).all()


def test_a_target_that_does_not_fit_is_named():
    with pytest.raises(ValueError, match="each of the 36 samples"):
        spectrum_of(draw(np.random.default_rng(0))[0], np.ones(5))
