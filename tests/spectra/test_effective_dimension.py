"""Laws of the effective dimension: its limit, its prediction, its measurement."""

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import freeproj as fp
from freeproj.spectra.effective_dimension import (
    data_eigenvalues,
    effective_dimension,
    limit_derivatives,
    limit_effective_dimension,
    predicted_effective_dimension,
)
from freeproj.spectra.kernel import gaussian_data, sample_root_singular_values

ridges = st.floats(-12, 6).map(lambda x: 10.0**x)
aspects = st.floats(0.05, 50) | st.floats(-12, -2).map(lambda x: 1 - 10.0**x)
generators = st.floats(1, 1000) | st.sampled_from([1.0, 2.0, 4.0, 16.0, 256.0])
lengths = st.floats(0, 64)


def exact_limit(ridge, n, length, aspect, digits=50):
    """The root y, by bisection of the equation itself in many digits."""
    with mpmath.workdps(digits):
        ridge, n, length, aspect = map(mpmath.mpf, (ridge, n, length, aspect))
        low, high = mpmath.mpf(0), min(mpmath.mpf(1), aspect)
        for _ in range(220):
            y = (low + high) / 2
            left = ridge * y * (1 - y / n) ** length
            above = left > (1 - y) ** (length + 1) * (aspect - y)
            low, high = (low, y) if above else (y, high)
        return (low + high) / 2


def test_the_published_example():
    value = limit_effective_dimension(1e-2, n_generators=4, length=4)
    assert type(value) is float
    assert value == pytest.approx(0.61699134, abs=5e-9)
    assert fp.spectra.limit_effective_dimension is limit_effective_dimension


@settings(max_examples=150, deadline=None)
@given(ridges, generators, lengths, aspects)
def test_limit_is_exact_to_1e_12(ridge, n, length, aspect):
    y = limit_effective_dimension(ridge, n, length, aspect)
    with mpmath.workdps(60):
        ridge, n, length, aspect, y = map(mpmath.mpf, (ridge, n, length, aspect, y))

        def excess(y):  # increasing in y
            left = ridge * y * (1 - y / n) ** length
            return left - (1 - y) ** (length + 1) * (aspect - y)

        assert excess(y * (1 - mpmath.mpf("1e-12"))) < 0
        above = y * (1 + mpmath.mpf("1e-12"))
        assert above >= min(1, aspect) or excess(above) > 0


def test_limit_solves_its_equation_to_1e_13_on_a_wide_grid():
    ridge = 10.0 ** np.linspace(-12, 6, 37)[:, None, None, None]
    aspect = np.array([0.05, 0.3, 0.9, 0.99999, 1, 1 + 1e-9, 1.1, 4, 50])
    length = np.array([0, 0.5, 1, 2, 4, 8, 64])[:, None]
    n = np.array([1, 2, 4, 256, np.inf])[:, None, None]
    y = limit_effective_dimension(ridge, n, length, aspect)
    assert y.shape == (37, 5, 7, 9)
    left = ridge * y * (1 - y / n) ** length
    right = (1 - y) ** (length + 1) * (aspect - y)
    assert (np.abs(left - right) <= 1e-13 * np.maximum(1, aspect)).all()
    assert ((y > 0) & (y <= np.minimum(1, aspect))).all()


@settings(max_examples=300, deadline=None)
@given(ridges, st.floats(2, 1e6), st.floats(1, 32), st.floats(0.01, 8), aspects)
def test_longer_words_lower_the_limit_at_a_fixed_number_of_words(
    ridge, n_words, length, more, aspect
):
    both = np.array([length, length + more])
    short, long = limit_effective_dimension(ridge, n_words ** (1 / both), both, aspect)
    assert long < short or (short - long == 0 and short > (1 - 1e-11) * min(1, aspect))


def test_the_limit_falls_strictly_in_the_length_over_the_papers_grid():
    ridge = np.geomspace(1e-4, 1e-1, 10)[:, None]
    length = np.array([1, 1.5, 2, 3, 4, 6, 8, 16])
    for n_words in (16, 256, 4096):
        values = limit_effective_dimension(ridge, n_words ** (1 / length), length)
        assert (np.diff(values, axis=1) < 0).all()


def test_derivatives_agree_with_differences_in_fifty_digits():
    for ridge, n, length, aspect in [(0.01, 4, 4, 1), (1e-6, 2, 8, 0.5), (3, 16, 2, 4)]:
        got = limit_derivatives(ridge, n, length, aspect)
        with mpmath.workdps(50):
            step, n_words = mpmath.mpf(10) ** -15, mpmath.mpf(n) ** length

            def along_ridge(x, n=n, length=length, aspect=aspect):
                return exact_limit(x, n, length, aspect)

            def along_length(x, ridge=ridge, n_words=n_words, aspect=aspect):
                return exact_limit(ridge, n_words ** (1 / x), x, aspect)

            by_ridge = along_ridge(ridge + step) - along_ridge(ridge - step)
            by_length = along_length(length + step) - along_length(length - step)
        assert got.ridge == pytest.approx(float(by_ridge / (2 * step)), rel=1e-11)
        assert got.length == pytest.approx(float(by_length / (2 * step)), rel=1e-11)


def test_the_papers_sign_in_the_derivative_by_length_is_wrong():
    ridge, n, length = 0.01, 4.0, 4.0
    y, q = limit_effective_dimension(ridge, n, length), 1 / n
    by_log_ridge = ridge * limit_derivatives(ridge, n, length).ridge
    right = np.log((1 - y * q) / (1 - y)) + y * q * np.log(q) / (1 - y * q)
    printed = np.log((1 - y * q) / (1 - y)) - y * q * np.log(q) / (1 - y * q)
    step = 1e-5
    near = np.array([length - step, length + step])
    low, high = limit_effective_dimension(ridge, (n**length) ** (1 / near), near)
    difference = (high - low) / (2 * step)
    assert by_log_ridge * right == pytest.approx(difference, rel=1e-6)
    assert by_log_ridge * printed < 1.9 * difference  # nearly twice too steep


def test_the_papers_newton_stops_short():
    """From 0.5 with |F| < 1e-7: wrong on the paper's own range, lost at ℓ=8, γ=1."""

    def newton(ridge, n, length, steps=1000):
        y = 0.5
        for _ in range(steps):
            value = (1 - y) ** (length + 2) - ridge * y * (1 - y / n) ** length
            if abs(value) < 1e-7:
                return y
            slope = -(length + 2) * (1 - y) ** (length + 1) - ridge * (
                (1 - y / n) ** length - y * length / n * (1 - y / n) ** (length - 1)
            )
            y -= value / slope
        return float("nan")

    errors = [
        newton(ridge, 256 ** (1 / length), length)
        - limit_effective_dimension(ridge, 256 ** (1 / length), length)
        for ridge in np.geomspace(1e-4, 1e-1, 10)
        for length in (1, 2, 4, 8)
    ]
    assert 1e-4 < np.abs(errors).max() < 1e-3
    lost = newton(1.0, 2, 8)
    assert not abs(lost - limit_effective_dimension(1.0, 2, 8)) < 1e-3


def test_prediction_for_a_marchenko_pastur_spectrum_is_the_limit():
    law = fp.spectra.MarchenkoPastur(1.5)
    grid = np.linspace(0, 1, 4001)[1:]
    # Quantiles of the law, from its distribution function.
    x = np.linspace((1 - 1.5**0.5) ** 2 + 1e-9, (1 + 1.5**0.5) ** 2 - 1e-9, 40001)
    density = -law.cauchy(x + 1e-9j).imag / np.pi
    mass = np.cumsum(density) / density.sum()
    spectrum = np.interp(grid - 0.5 / 4000, mass, x)
    ridge = np.array([1e-3, 1e-1, 10])
    predicted = predicted_effective_dimension(spectrum, ridge, 4, 4)
    np.testing.assert_allclose(
        predicted, limit_effective_dimension(ridge, 4, 4, 1.5), rtol=1e-3
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0, 100), min_size=1, max_size=20).filter(
        lambda t: max(t) > 1e-3
    ),
    ridges,
    st.floats(1, 300),
    lengths,
)
def test_prediction_solves_its_equation(spectrum, ridge, n, length):
    t = np.array(spectrum)
    y = predicted_effective_dimension(t, ridge, n, length)
    assert 0 < y <= np.mean(t > 0)
    # y = mean t/(t + κ) determines log κ: compare with κ = γ((1-y/n)/(1-y))^ℓ there.
    with mpmath.workdps(60):
        low, high = mpmath.log(ridge), mpmath.log(ridge) + 2000

        def prediction(log_kappa):
            kappa = mpmath.exp(log_kappa)
            return mpmath.fsum(x / (mpmath.mpf(x) + kappa) for x in t.tolist()) / len(t)

        for _ in range(120):
            middle = (low + high) / 2
            guess = prediction(middle)
            right = mpmath.log(ridge) + length * mpmath.log(
                (1 - guess / n) / (1 - guess)
            )
            low, high = (middle, high) if middle < right else (low, middle)
        exact = prediction(low)
    assert abs(y / exact - 1) < 1e-11


def test_no_words_give_the_kernels_own_effective_dimension():
    X = np.random.default_rng(0).normal(size=(7, 5))
    own = effective_dimension(np.linalg.eigvalsh(X.T @ X), 0.3)
    assert predicted_effective_dimension(X, 0.3, length=0) == pytest.approx(own / 7)


def test_the_limit_is_that_of_the_dimensions_not_of_the_samples():
    y = limit_effective_dimension(0.1, 4, 4, 2.0)
    assert y == pytest.approx(0.5396, abs=5e-5)
    X = np.random.default_rng(0).normal(size=(200, 400)) / 200**0.5
    assert predicted_effective_dimension(X, 0.1, 4, 4) == pytest.approx(y, abs=0.01)


@pytest.mark.parametrize("aspect", [0.25, 1.0, 4.0])
def test_simulation_agrees_with_limit_and_prediction(aspect):
    dim, n_trials, ridge = 300, 6, np.array([1e-3, 1e-2, 1e-1])
    data = gaussian_data(n_trials, dim, int(aspect * dim), seed=1)
    for n, length in [(16, 2), (4, 4), (2, 8)]:
        values = sample_root_singular_values(data, n, length, n_trials=n_trials, seed=2)
        shares = effective_dimension(values**2, ridge) / dim
        allowed = 4 * shares.std(axis=0, ddof=1) / np.sqrt(n_trials) + 0.8 / dim
        limit = limit_effective_dimension(ridge, n, length, aspect)
        predicted = predicted_effective_dimension(data[0], ridge, n, length)
        assert (np.abs(shares.mean(axis=0) - limit) < allowed).all()
        assert (np.abs(shares.mean(axis=0) - predicted) < allowed).all()


def test_effective_dimension_is_the_trace_of_the_resolvent():
    X = np.random.default_rng(0).normal(size=(3, 4, 6))
    K = np.swapaxes(X, 1, 2) @ X
    ridge = np.array([[0.1], [2.0]])
    got = effective_dimension(np.linalg.eigvalsh(K), ridge)
    assert got.shape == (3, 2, 1)
    for trial in range(3):
        for row in range(2):
            resolvent = np.linalg.inv(K[trial] + ridge[row, 0] * np.eye(6))
            assert got[trial, row, 0] == pytest.approx(np.trace(K[trial] @ resolvent))


def test_data_eigenvalues_are_those_of_the_outer_product():
    for shape in [(4, 9), (9, 4)]:
        X = np.random.default_rng(0).normal(size=shape)
        np.testing.assert_allclose(
            data_eigenvalues(X), np.linalg.eigvalsh(X @ X.T), atol=1e-12
        )


def test_jax_arrays_and_lists_are_accepted():
    X = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)
    same = predicted_effective_dimension(X.astype(np.float64), 0.1)
    assert predicted_effective_dimension(jnp.asarray(X), 0.1) == pytest.approx(same)
    assert effective_dimension(jnp.ones(3), 1.0) == 1.5
    assert limit_effective_dimension([0.1, 0.2]).shape == (2,)
    assert limit_effective_dimension(jnp.asarray(0.1)) == pytest.approx(
        limit_effective_dimension(0.1), rel=1e-6
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ridge": 0.0}, "`ridge` must be finite and greater than 0, got 0"),
        ({"ridge": [0.1, -2.0]}, "`ridge` .* got -2"),
        ({"ridge": float("nan")}, "`ridge` .* got nan"),
        ({"ridge": "small"}, "`ridge` must be a number"),
        ({"ridge": 0.1, "n_generators": 0.5}, "`n_generators` must be at least 1"),
        ({"ridge": 0.1, "length": -1}, "`length` must be finite and at least 0"),
        ({"ridge": 0.1, "aspect": 0}, "`aspect` must be finite and greater than 0"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        limit_effective_dimension(**arguments)


def test_bad_data_is_named(untyped):
    cases = [
        (np.full((2, 2), np.nan), "`X` must be finite, got NaN or infinity in 4 of 4"),
        (np.ones((2, 2), complex), "`X` must be real"),
        (np.ones((0, 3)), "`X` must not be empty"),
        (np.ones((2, 2, 2)), "`X` must be one matrix"),
        (np.array(3.0), "`X` must be a matrix"),
        (np.array([1.0, -1.0]), "`X` must not be negative, got -1"),
        (np.array([["a"]]), "`X` must hold numbers"),
    ]
    for X, message in cases:
        with pytest.raises(ValueError, match=message):
            predicted_effective_dimension(X, 0.1)
