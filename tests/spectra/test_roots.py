"""The root finder, where plain Newton would run in circles."""

import numpy as np
import pytest

from freeproj.spectra.roots import increasing_root


def test_linear_and_curved_functions_find_their_roots():
    shift = np.array([-30.0, 0.0, 2.0, 500.0])
    root = increasing_root(lambda u: (u - shift, np.ones_like(u)), np.zeros(4))
    np.testing.assert_array_equal(root, shift)

    def curved(u):
        return u + np.arctan(5 * (u - shift)), 1 + 5 / (1 + 25 * (u - shift) ** 2)

    root = increasing_root(curved, np.zeros(4))
    np.testing.assert_allclose(curved(root)[0], 0, atol=1e-12)


def test_a_slope_that_falls_again_does_not_trap_newton():
    """A steep step: from afar Newton overshoots it for ever."""

    def step(u):
        inner = np.clip(60 * (u - 7), -100, 100)
        wave = 40 * np.tanh(inner)
        return u - 7 + wave, 1 + 40 * 60 / np.cosh(inner) ** 2

    plain = np.zeros(1)
    for _ in range(50):
        value, slope = step(plain)
        plain = plain - value / slope
    assert abs(plain[0] - 7) > 1, "Newton alone would do: the test tests nothing"
    root = increasing_root(step, np.array([0.0, 7.5, 30.0]))
    np.testing.assert_allclose(root, 7, atol=1e-9)


def test_a_function_without_root_is_an_error():
    with pytest.raises(ArithmeticError, match="No root within"):
        increasing_root(lambda u: (np.ones_like(u), np.ones_like(u)), np.zeros(2))
