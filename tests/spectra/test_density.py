"""Densities, edges and moments of the word laws."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from freeproj.spectra.density import (
    density_curve,
    word_density,
    word_edges,
    word_expectation,
    word_moment,
)
from freeproj.spectra.effective_dimension import limit_effective_dimension
from freeproj.spectra.kernel import sample_root_singular_values
from freeproj.spectra.laws import MarchenkoPastur, WordLaw, free_product

CASES = [
    (n, length, aspect)
    for n, length in [(256, 1), (16, 2), (4, 4), (2, 8), (2, 1), (3, 5), (2.5, 1.5)]
    for aspect in (None, 0.05, 0.5, 0.999, 1, 1.001, 3, 50)
]


def test_first_moments_are_those_of_the_theory():
    for n in range(1, 6):
        for length in range(5):
            assert word_moment(0, n, length) == word_moment(1, n, length) == 1
            m_2 = word_moment(2, n, length)
            assert m_2 == length + 1 - Fraction(length, n)
            assert isinstance(m_2, Fraction)


def test_moments_are_the_closed_double_binomial_sum():
    for n, length in [(2, 8), (4, 4), (16, 2), (3, 3)]:
        for k in range(1, 8):
            total = sum(
                comb(k * (length + 1), k - 1 - j)
                * comb(k * length + j - 1, j)
                * Fraction(-1, n) ** j
                for j in range(k)
            )
            assert word_moment(k, n, length) == total / k


def test_moments_count_words_of_the_free_group():
    """m_k of T*T/n: closed products a_i^-1 a_j a_k^-1 … counted one by one."""
    from itertools import product

    from freeproj.projection.words import reduce

    n = 3
    for k in (1, 2, 3):
        closed = sum(
            len(reduce([(-1 if i % 2 == 0 else 1) * x for i, x in enumerate(word)]))
            == 0
            for word in product(range(1, n + 1), repeat=2 * k)
        )
        assert word_moment(k, n, 1) == Fraction(closed, n**k)


def test_many_generators_give_fuss_catalan_numbers():
    n = 10**15
    for length in (1, 2, 3):
        for k in range(1, 6):
            fuss_catalan = Fraction(comb(k * (length + 1), k - 1), k)
            assert abs(word_moment(k, n, length) / fuss_catalan - 1) < 1e-12


def test_moments_with_data_and_without_words_are_narayana_sums():
    c = Fraction(3, 2)
    for k in range(1, 6):
        narayana = sum(
            Fraction(comb(k, r) * comb(k, r - 1), k) * c**r for r in range(1, k + 1)
        )
        assert word_moment(k, 7, 0, c) == narayana
    assert word_moment(2, 4, 4, 0.25) == word_moment(2, 4, 4, Fraction(1, 4))


@pytest.mark.parametrize(("n", "length", "aspect"), CASES)
def test_densities_integrate_to_one(n, length, aspect):
    assert word_expectation(np.ones_like, n, length, aspect) == pytest.approx(
        1, abs=1e-6
    )
    curve = density_curve(n, length, aspect, n_points=4000)
    # In log x the poles at zero are harmless for the trapezoid rule.
    mass = np.trapezoid(curve.density * curve.x, np.log(curve.x))
    continuous = 1 if aspect is None else min(1, aspect)
    assert mass == pytest.approx(continuous, abs=2e-3)


@pytest.mark.parametrize(("n", "length", "aspect"), CASES[:-8])
def test_densities_have_the_exact_moments(n, length, aspect):
    for k in (1, 2, 3, 4):
        got = word_expectation(lambda x, k=k: x**k, n, length, aspect)
        assert got == pytest.approx(float(word_moment(k, n, length, aspect)), rel=1e-6)


def test_integrals_of_the_density_are_the_effective_dimension():
    for n, length, aspect in CASES:
        if aspect is not None:
            got = word_expectation(lambda x: x / (x + 0.01), n, length, aspect)
            limit = limit_effective_dimension(0.01, n, length, aspect)
            assert got == pytest.approx(limit, rel=1e-8)


def test_density_is_the_boundary_value_of_the_cauchy_transform():
    for n, length, aspect in [(4, 4, None), (4, 4, 1), (2, 8, 0.5), (16, 2, 3)]:
        law = WordLaw(n, length)
        law = law if aspect is None else free_product(law, MarchenkoPastur(aspect))
        left, right = word_edges(n, length, aspect)
        x = np.linspace(left + 0.05, right - 0.05, 40)
        expected = -law.cauchy(x + 1e-10j).imag / np.pi
        np.testing.assert_allclose(
            word_density(x, n, length, aspect), expected, atol=1e-6
        )


def test_one_generator_leaves_marchenko_pastur():
    aspect = 2.0
    low, high = (1 - np.sqrt(aspect)) ** 2, (1 + np.sqrt(aspect)) ** 2
    x = np.linspace(low, high, 50)[1:-1]
    expected = np.sqrt((x - low) * (high - x)) / (2 * np.pi * x)
    np.testing.assert_allclose(word_density(x, 1, 5, aspect), expected, rtol=1e-9)
    assert word_edges(4, 0, aspect) == pytest.approx((low, high))
    assert word_edges(1, 5, aspect) == pytest.approx((low, high))


def test_two_generators_and_one_letter_give_the_arcsine_law():
    x = np.linspace(0.01, 1.99, 30)
    expected = 1 / (np.pi * np.sqrt(x * (2 - x)))
    np.testing.assert_allclose(word_density(x, 2, 1), expected, rtol=1e-9)


@pytest.mark.parametrize(("n", "length", "aspect"), CASES)
def test_the_density_ends_at_its_edges(n, length, aspect):
    left, right = word_edges(n, length, aspect)
    curve = density_curve(n, length, aspect, n_points=2000)
    assert (np.diff(curve.x) > 0).all()
    assert (curve.density > 0).all()
    assert left <= curve.x[0] <= left + 1e-3 * (right - left)
    assert right - 1e-3 * (right - left) <= curve.x[-1] <= right * (1 + 1e-12)
    outside = word_density([-1.0, left * 0.99 - 1e-9, right * 1.01], n, length, aspect)
    np.testing.assert_array_equal(outside, 0)
    # An edge at zero is a pole.
    assert word_density(0.0, n, length, aspect) == (np.inf if left == 0 else 0)


def test_edges_hold_for_an_aspect_just_below_one():
    left, right = word_edges(2, 2, 1 - 1e-12)
    assert 0 < left < 1e-40
    assert right == pytest.approx(word_edges(2, 2, 1)[1])


@pytest.mark.parametrize(("n", "length", "aspect"), [(2, 8, 1), (4, 4, 1), (2, 64, 1)])
def test_chi_is_real_and_positive_for_several_radii_of_one_angle(n, length, aspect):
    """So the density needs the phase followed from zero, not any real value of χ."""
    r = np.geomspace(1e-3, 1e3, 400_001)
    w = r * np.exp(3.0j)
    log_chi = np.log(w) + length * np.log(1 + w / n) - (length + 1) * np.log(1 + w)
    phase = (log_chi - np.log(aspect + w)).imag / (2 * np.pi)
    count = np.sum(np.diff(np.floor(phase)) != 0)
    assert count == {(2, 8): 7, (4, 4): 5, (2, 64): 49}[n, length]


def test_the_right_edge_without_data_is_in_closed_form():
    assert word_edges(2, 8) == pytest.approx((0, 0.5 * 9**9 / 8**8))
    # The general critical point, where data has no noise (c → ∞ after scaling by c).
    assert word_edges(2, 8, 1e12)[1] / 1e12 == pytest.approx(
        0.5 * 9**9 / 8**8, rel=1e-4
    )


def test_histogram_of_simulated_words_follows_the_density():
    values = sample_root_singular_values(np.eye(200), 4, 4, n_trials=4, seed=0) ** 2
    edges = np.array([0.05, 0.3, 1.0, 3.0, 6.0])
    share = np.histogram(values, bins=edges)[0] / values.size
    for low, high, got in zip(edges[:-1], edges[1:], share, strict=True):
        x = np.linspace(low, high, 400)
        expected = np.trapezoid(word_density(x, 4, 4), x)
        assert got == pytest.approx(
            expected, abs=4 * np.sqrt(expected / 800) / 3 + 0.005
        )


def test_bad_arguments_are_named(untyped):
    for call, message in [
        (lambda: word_density(1.0, 1, 2), "only for `n_generators` ≥ 2"),
        (lambda: word_edges(4, 0), "pass `aspect`"),
        (lambda: density_curve(4, 4, -1), "`aspect` must be"),
        (lambda: density_curve(4, 4, n_points=1), "`n_points` must be at least 2"),
        (lambda: word_moment(-1, 4, 4), "`order` must be an integer, at least 0"),
        (lambda: word_moment(2, 4, 1.5), "`length` must be an integer"),
        (lambda: word_density("x", 4, 4), "`x` must hold numbers"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("length", [64, 143, 500])
@pytest.mark.parametrize("aspect", [None, 1.0])
def test_long_words_keep_their_edges_and_moments(length, aspect):
    left, right = word_edges(2, length, aspect)
    assert (left, np.isfinite(right)) == (0, True)
    for k in (0, 1, 2, 3):
        got = word_expectation(lambda x, k=k: x**k, 2, length, aspect)
        exact = float(word_moment(k, 2, length, aspect))
        assert got == pytest.approx(exact, rel=1e-9)


def test_densities_at_many_points_lie_on_the_curve():
    for n, length, aspect in [(2, 8, None), (4, 4, 0.5), (2, 64, 1.0), (3, 5, 50)]:
        curve = density_curve(n, length, aspect, n_points=300)
        got = word_density(curve.x, n, length, aspect)
        np.testing.assert_allclose(got, curve.density, rtol=1e-6, atol=1e-12)
