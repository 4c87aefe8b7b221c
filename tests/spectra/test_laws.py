"""Laws, their transforms, and free products."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freeproj.spectra.effective_dimension import (
    limit_effective_dimension,
    predicted_effective_dimension,
)
from freeproj.spectra.laws import (
    Atoms,
    FreeProduct,
    MarchenkoPastur,
    WordLaw,
    free_product,
    free_sum,
)

POINTS = np.array([0.0, 0.0, 0.3, 0.7, 1.1, 2.0, 2.2, 5.0])
LAWS = {
    "atoms": Atoms(POINTS),
    "weighted": Atoms([1.0, 3.0], [0.25, 0.75]),
    "mp-wide": MarchenkoPastur(2.0),
    "mp-square": MarchenkoPastur(1),
    "mp-tall": MarchenkoPastur(0.4),
    "words": WordLaw(4, 4),
    "real-words": WordLaw(2.5, 1.7),
    "free-words": WordLaw(np.inf, 2),
    "scaled": free_product(WordLaw(4, 2), Atoms([3.0])),
    "shifted": free_sum(MarchenkoPastur(0.4), Atoms([0.5])),
    "explicit-product": free_product(WordLaw(2, 8), MarchenkoPastur(0.7)),
    "product": free_product(WordLaw(4, 2), Atoms(POINTS)),
    "plain-product": free_product(Atoms(POINTS), Atoms([1.0, 4.0])),
    "sum": free_sum(Atoms(POINTS), MarchenkoPastur(0.5)),
    "plain-sum": free_sum(Atoms(POINTS), Atoms([1.0, 4.0])),
}
NEGATIVE = -np.geomspace(1e-6, 1e6, 25)
COMPLEX = np.array([1 + 0.3j, -2 + 1j, 0.4 - 0.2j, 3 + 0.05j, -1 - 1e-3j])


@pytest.fixture(params=LAWS)
def law(request):
    return LAWS[request.param]


def test_chi_inverts_psi_on_the_negative_axis(law):
    w = law.psi(NEGATIVE)
    assert ((w < 0) & (w >= -(1 - law.mass_at_zero))).all()
    assert (np.diff(w) < 0).all()
    inner = (w > -(1 - law.mass_at_zero) + 1e-6) & (w < -1e-9)
    np.testing.assert_allclose(law.chi(w[inner]), NEGATIVE[inner], rtol=1e-7)


def test_cauchy_and_psi_are_one_transform(law):
    z = np.concatenate([NEGATIVE, COMPLEX])
    np.testing.assert_allclose(law.psi(z), law.cauchy(1 / z) / z - 1, atol=1e-12)


def test_psi_on_both_axes_agrees(law):
    """Following the circle and solving on the axis end at the same value."""
    on_axis = law.psi(np.array([-0.5, -3.0]))
    along = law.psi(np.array([-0.5 + 1e-10j, -3.0 - 1e-10j]))
    np.testing.assert_allclose(along.real, on_axis, rtol=1e-9)


def test_cauchy_transform_maps_the_upper_to_the_lower_half_plane(law):
    z = np.array([0.1, 1, 3, 10]) + 0.05j
    assert (law.cauchy(z).imag < 0).all()
    np.testing.assert_allclose(law.cauchy(z.conj()), law.cauchy(z).conj())


def test_far_out_the_cauchy_transform_shows_the_mean(law):
    z = 1e6j * law.mean
    assert z * (z * law.cauchy(z) - 1) == pytest.approx(law.mean, rel=1e-4)


def test_psi_slope_is_the_derivative(law):
    z, step = np.array([0.7 + 0.4j, -1 + 0.2j]), 1e-6
    slope = law.psi_and_slope(z)[1]
    difference = (law.psi(z + step) - law.psi(z - step)) / (2 * step)
    np.testing.assert_allclose(slope, difference, rtol=1e-6)


@pytest.mark.parametrize("aspect", [0.3, 1, 2.5])
def test_marchenko_pastur_has_s_transform_one_over_z_plus_c(aspect):
    w = -min(1, aspect) * np.linspace(0.01, 0.99, 30)
    law = MarchenkoPastur(aspect)
    np.testing.assert_allclose(law.s_transform(w), 1 / (w + aspect), rtol=1e-13)
    # The closed Cauchy transform, with the branch that is small far out.
    z = COMPLEX
    low, high = (1 - np.sqrt(aspect)) ** 2, (1 + np.sqrt(aspect)) ** 2
    root = np.sqrt(z - low) * np.sqrt(z - high)
    np.testing.assert_allclose(law.cauchy(z), (z + 1 - aspect - root) / (2 * z))


def test_word_law_has_the_papers_s_transform():
    w = np.linspace(-0.99, -0.01, 30)
    expected = ((w / 4 + 1) / (w + 1)) ** 3
    np.testing.assert_allclose(WordLaw(4, 3).s_transform(w), expected, rtol=1e-13)


@pytest.mark.parametrize("other", ["atoms", "words", "shifted"])
@pytest.mark.parametrize("one", ["weighted", "mp-tall", "words", "scaled", "product"])
def test_s_transforms_of_free_products_multiply(one, other):
    first, second = LAWS[one], LAWS[other]
    product = free_product(first, second)
    assert product.mean == pytest.approx(first.mean * second.mean)
    z = np.array([-0.2, -4.0])
    w = product.psi(z)
    s = first.s_transform(w) * second.s_transform(w)
    np.testing.assert_allclose((1 + w) / w * z, s, rtol=1e-9)


def test_word_laws_multiply_by_adding_lengths():
    both = free_product(WordLaw(4, 1), WordLaw(4, 3))
    np.testing.assert_allclose(both.psi(COMPLEX), WordLaw(4, 4).psi(COMPLEX))
    # The slow general route must find the same.
    slow = FreeProduct(WordLaw(4, 1), WordLaw(4, 3))
    np.testing.assert_allclose(slow.psi(COMPLEX[:2]), WordLaw(4, 4).psi(COMPLEX[:2]))


def test_free_products_commute_and_associate():
    a, b, c = Atoms(POINTS), WordLaw(4, 2), MarchenkoPastur(2)
    one = free_product(free_product(a, b), c).psi(COMPLEX)
    np.testing.assert_allclose(free_product(c, free_product(b, a)).psi(COMPLEX), one)
    np.testing.assert_allclose(
        FreeProduct(a, b).psi(COMPLEX[:2]), FreeProduct(b, a).psi(COMPLEX[:2])
    )


def test_scaling_and_shifting_move_the_atoms():
    scaled = free_product(Atoms(POINTS), Atoms([2.0]))
    moved = free_sum(scaled, Atoms([0.5]))
    same = Atoms(2 * POINTS + 0.5)
    for z in (NEGATIVE, COMPLEX):
        np.testing.assert_allclose(moved.psi(z), same.psi(z), rtol=1e-12)
    w = np.linspace(-0.9, -0.1, 5)
    np.testing.assert_allclose(moved.s_transform(w), same.s_transform(w))
    assert moved.mean == pytest.approx(same.mean)
    assert (moved.mass_at_zero, scaled.mass_at_zero) == (0, 0.25)


def test_free_sums_commute_and_associate():
    a, b, c = Atoms(POINTS), WordLaw(4, 2), MarchenkoPastur(2)
    one = free_sum(free_sum(a, b), c).psi(COMPLEX)
    np.testing.assert_allclose(free_sum(c, free_sum(b, a)).psi(COMPLEX), one)
    # Marchenko–Pastur laws add up: XX^T + YY^T has the samples of both.
    both = free_sum(MarchenkoPastur(0.5), MarchenkoPastur(1.5))
    np.testing.assert_allclose(both.psi(COMPLEX), c.psi(COMPLEX))


@settings(max_examples=40, deadline=None)
@given(
    st.floats(-6, 3).map(lambda x: 10.0**x),
    st.floats(1, 50),
    st.floats(0.1, 12),
    st.floats(0.1, 8),
)
def test_effective_dimension_is_minus_psi_of_the_product(ridge, n, length, aspect):
    product = free_product(WordLaw(n, length), MarchenkoPastur(aspect))
    limit = limit_effective_dimension(ridge, n, length, aspect)
    assert -product.psi(-1 / ridge) == pytest.approx(limit, rel=1e-9)
    product = free_product(WordLaw(n, length), Atoms(POINTS))
    predicted = predicted_effective_dimension(POINTS, ridge, n, length)
    assert -product.psi(-1 / ridge) == pytest.approx(predicted, rel=1e-9)


def test_bad_laws_and_arguments_are_named(untyped):
    for make, message in [
        (lambda: Atoms([0.0, 0.0]), "must not all be zero"),
        (lambda: Atoms([-1.0, 2.0]), "`points` must not be negative"),
        (lambda: Atoms([1.0, 2.0], [0.5, 0.6]), "`weights` must be 2 numbers with sum"),
        (lambda: MarchenkoPastur(0), "`aspect` must be"),
        (lambda: WordLaw(0.5, 1), "`n_generators` must be at least 1"),
        (lambda: WordLaw(2, -1), "`length` must be"),
        (free_product, "at least one law"),
        (free_sum, "at least one law"),
        (lambda: WordLaw(2, 1).psi(0.5), r"must lie off \[0, ∞\)"),
        (lambda: WordLaw(2, 1).cauchy(np.array([-1.0, 2.0])), "must lie off"),
        (lambda: MarchenkoPastur(0.5).chi(-0.6), r"in \(-0.5, 0\), got -0.6"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()
