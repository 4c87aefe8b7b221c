"""Laws of the limit laws of block matrices."""

from fractions import Fraction

import numpy as np
import pytest

from freeproj.spectra import blocks, word_density, word_moment


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
    moments = [word_moment(k, 16, 1) for k in range(4)]
    assert moments == [1, 1, Fraction(31, 16), Fraction(593, 128)]


@pytest.mark.parametrize("n_blocks", [2, 3, 16])
def test_moments_count_closed_walks_on_the_regular_tree(n_blocks):
    for order in range(9):
        walks = Fraction(closed_walks(n_blocks, 2 * order), n_blocks**order)
        assert word_moment(order, n_blocks, 1) == walks


@pytest.mark.parametrize("n_blocks", [2, 4, 16, 256])
def test_the_density_has_the_exact_moments(n_blocks):
    edge = 4 * (1 - 1 / n_blocks)
    # x = edge·sin²(t) takes the square roots away from both ends.
    nodes, weights = np.polynomial.legendre.leggauss(60)
    t = np.pi / 4 * (nodes + 1)
    x, slope = edge * np.sin(t) ** 2, edge * np.sin(2 * t)
    mass = np.pi / 4 * weights * slope * word_density(x, n_blocks, 1)
    for order in range(6):
        moment = mass @ x**order
        exact = float(word_moment(order, n_blocks, 1))
        assert moment == pytest.approx(exact, rel=1e-7)


def test_densities_vanish_outside_their_support():
    x = np.array([-1.0, 3.76, 5.0, 16.0, 40.0])
    assert (word_density(x, 16, 1) == 0).all()


TRANSPOSED = blocks.partial_transpose(blocks.raw(256))
# Orders 1 to 4 for the paper's transpose.
EXACT = {
    1: (1, Fraction(31, 16), Fraction(593, 128), Fraction(50491, 4096)),
    2: (1, Fraction(5, 2), Fraction(127, 16), Fraction(905, 32)),
    4: (1, 3, Fraction(23, 2), Fraction(99, 2)),
    8: (1, 5, 31, 213),
}


@pytest.mark.parametrize("length", EXACT)
def test_moments_of_transposed_blocks_are_exact(length):
    moments = [blocks.block_moment(order, TRANSPOSED, length) for order in (1, 2, 3, 4)]
    assert tuple(moments) == EXACT[length]
    values = blocks.block_spectra(length=length, dim=16, n_trials=10)
    for order in (2, 3):
        found = (values**order).mean(axis=1)
        error = found.std(ddof=1) / np.sqrt(len(found))
        expected = float(moments[order - 1])
        assert abs(found.mean() - expected) < 4 * error + expected / 16  # finite size


def test_letters_have_the_moments_of_kesten_and_mckay():
    for order in (1, 2, 3, 4):
        exact = word_moment(order, 16, 1)
        assert blocks.block_moment(order, TRANSPOSED, 1) == exact


def test_raw_blocks_are_sixteen_times_a_projection():
    for order in (1, 2, 3):
        assert blocks.block_moment(order, blocks.raw(256), 4) == 16 ** (order - 1)
    with pytest.raises(
        ValueError, match="`order` must be an integer, at least 1, got 0"
    ):
        blocks.block_moment(0, TRANSPOSED, 2)
