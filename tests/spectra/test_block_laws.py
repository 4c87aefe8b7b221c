"""Laws of the limit laws of block matrices."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad

from freeproj.spectra import block_laws


def closed_walks(degree, steps):
    """Counts closed walks from the root of a regular tree by their heights."""
    heights = {0: 1}
    for _ in range(steps):
        after = {}
        for height, ways in heights.items():
            up = degree if height == 0 else degree - 1
            after[height + 1] = after.get(height + 1, 0) + up * ways
            if height:
                after[height - 1] = after.get(height - 1, 0) + ways
        heights = after
    return heights.get(0, 0)


def test_kesten_mckay_with_sixteen_blocks_has_the_known_moments():
    moments = [block_laws.kesten_mckay_moment(k) for k in range(4)]
    assert moments == [1, 1, Fraction(31, 16), Fraction(593, 128)]


@pytest.mark.parametrize("n_blocks", [2, 3, 16])
def test_moments_count_closed_walks_on_the_regular_tree(n_blocks):
    for order in range(9):
        walks = Fraction(closed_walks(n_blocks, 2 * order), n_blocks**order)
        assert block_laws.kesten_mckay_moment(order, n_blocks) == walks


@pytest.mark.parametrize("n_blocks", [2, 4, 16, 256])
def test_the_density_has_the_exact_moments(n_blocks):
    edge = 4 * (1 - 1 / n_blocks)

    # x = edge·sin²(t) takes the square roots away from both ends.
    def integrand(t, order):
        x = edge * np.sin(t) ** 2
        slope = 2 * edge * np.sin(t) * np.cos(t)
        return x**order * block_laws.kesten_mckay_density(x, n_blocks) * slope

    for order in range(6):
        moment = quad(integrand, 0, np.pi / 2, args=(order,), epsabs=1e-12)[0]
        exact = float(block_laws.kesten_mckay_moment(order, n_blocks))
        assert moment == pytest.approx(exact, rel=1e-7)


def test_marchenko_pastur_is_the_limit_of_many_blocks():
    x = np.linspace(0.01, 3.9, 50)
    many = block_laws.kesten_mckay_density(x, 10**7)
    np.testing.assert_allclose(many, block_laws.marchenko_pastur_density(x), rtol=1e-5)
    for order in range(8):
        exact = block_laws.marchenko_pastur_moment(order)
        many_blocks = block_laws.kesten_mckay_moment(order, 10**9)
        assert float(many_blocks) == pytest.approx(exact, rel=1e-7)


def test_densities_vanish_outside_their_support():
    x = np.array([-1.0, 0.0, 3.76, 5.0, 16.0, 40.0])
    assert (block_laws.kesten_mckay_density(x, 16) == 0).all()
    assert (block_laws.marchenko_pastur_density([-1, 0, 4, 5]) == 0).all()


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="`n_blocks` must be at least 2, got 1"):
        block_laws.kesten_mckay_density(1.0, 1)
    with pytest.raises(ValueError, match="`order` must not be negative, got -1"):
        block_laws.marchenko_pastur_moment(-1)
