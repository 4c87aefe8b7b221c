"""One word per environment: spectrum, effective dimension and risk for any length."""

import itertools

import numpy as np
import pytest

from freeproj.spectra import (
    Atoms,
    data_eigenvalues,
    environment_ridge,
    environment_risk,
    free_sum,
    predicted_risk,
    spectrum_of,
)

DIM, SAMPLES, ENVIRONMENTS, NOISE = 48, 5, 8, 0.05
SIZES = 2 * np.arange(1, DIM + 1) ** -0.5 / np.sqrt(DIM)


def distinct_words(rng, n, length):
    """The matrices of distinct words over fresh bases."""
    q, r = np.linalg.qr(rng.standard_normal((n, DIM, DIM)))
    bases = q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
    every = np.array(list(itertools.product(range(n), repeat=length)))
    product = np.eye(DIM)
    for letters in rng.permutation(every)[:ENVIRONMENTS].T:
        product = product @ bases[letters]
    return product


def one_rollout(rng, n, length, ridge):
    """d_eff/d and risk, simulated and predicted."""
    words = distinct_words(rng, n, length)
    X = SIZES[:, None] * rng.standard_normal((ENVIRONMENTS, DIM, SAMPLES))
    beta = rng.standard_normal(DIM)
    y = beta @ X + np.sqrt(NOISE) * rng.standard_normal((ENVIRONMENTS, SAMPLES))
    pooled = np.concatenate(list(words @ X), axis=1)
    gram = pooled @ pooled.T
    solved = np.linalg.inv(gram + ridge * np.eye(DIM))
    learned = solved @ pooled @ y.ravel()
    gap = SIZES * (np.einsum("eij,i->ej", words, learned) - beta)
    risk = np.sum(gap**2) / ENVIRONMENTS + NOISE
    shares, risks = [], []
    for data, values in zip(X, y, strict=True):
        t = data_eigenvalues(data)
        shares.append(environment_ridge(t, ridge, ENVIRONMENTS).share)
        risks.append(environment_risk(spectrum_of(data, values), ridge, ENVIRONMENTS))
    share = np.trace(gram @ solved) / DIM
    return share, np.mean(shares), risk, np.mean(risks)


@pytest.mark.parametrize(("n", "length"), [(16, 1), (4, 2), (2, 4)])
def test_predictions_hold_for_every_length(n, length):
    rng, found = np.random.default_rng(length), []
    for _ in range(80):
        found.append(one_rollout(rng, n, length, ridge=0.1))
    share, predicted_share, risk, predicted_risk = np.array(found).T
    for simulated, predicted, finite in (
        (share, predicted_share, 0.2 / DIM),
        (risk, predicted_risk, 0.5 / DIM),
    ):
        gap = simulated - predicted
        error = gap.std(ddof=1) / np.sqrt(len(gap))
        assert abs(gap.mean()) < 4 * error + finite


def test_the_pooled_spectrum_is_a_free_sum():
    t, ridge = np.array([0.1, 0.4, 2.0]), 0.3
    pooled = free_sum(*[Atoms(t)] * 4)
    share = environment_ridge(t, ridge, 4).share
    assert -pooled.psi(-1 / ridge) == pytest.approx(share, rel=1e-6)


def test_very_small_ridges_keep_their_digits():
    """Fewer samples than dimensions: as κ vanishes, the risk has a limit."""
    rng = np.random.default_rng(0)
    spectrum = spectrum_of(rng.standard_normal((40, 5)), rng.standard_normal(5))
    risks = environment_risk(spectrum, [1e-13, 1e-12, 1e-9], 3)
    np.testing.assert_allclose(risks, risks[-1], rtol=1e-8)


def test_one_environment_is_regression_on_its_own_data():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 9)), rng.standard_normal(9)
    spectrum = spectrum_of(X, y)
    alone = environment_risk(spectrum, [0.5, 2.0], 1)
    np.testing.assert_allclose(alone, predicted_risk(spectrum, [0.5, 2.0], 1, 0))
    kappa = environment_ridge(spectrum.eigenvalues, 0.5, [1, 2, 4]).ridge
    assert (np.diff(kappa) > 0).all(), "more environments act like a larger ridge"
