"""Density, support, moments and samples of laws."""

import numpy as np
import pytest

from freeproj.spectra.density import word_moment
from freeproj.spectra.facts import density, moment, sample, support
from freeproj.spectra.laws import (
    Atoms,
    MarchenkoPastur,
    Scaled,
    Shifted,
    WordLaw,
    free_product,
)

POINTS = np.array([0.3, 1.0, 1.7])
MIXED = free_product(WordLaw(4, 2), Atoms(POINTS))
LAWS = {
    "words": WordLaw(4, 4),
    "data": MarchenkoPastur(0.5),
    "both": free_product(WordLaw(2, 8), MarchenkoPastur(2.0)),
    "mixed": MIXED,
    "moved": Shifted(Scaled(WordLaw(3, 2), 2.0), 0.5),
    "atoms": Atoms(POINTS, [0.2, 0.3, 0.5]),
}


@pytest.mark.parametrize("aspect", [None, 0.5, 2.0])
def test_moments_are_the_exact_ones(aspect):
    law = WordLaw(4, 3)
    law = law if aspect is None else free_product(law, MarchenkoPastur(aspect))
    for k in range(6):
        assert moment(law, k) == pytest.approx(float(word_moment(k, 4, 3, aspect)))


def test_moments_of_a_product_with_data_are_those_of_matrices():
    rng, dim = np.random.default_rng(0), 400
    q, r = np.linalg.qr(rng.standard_normal((4, dim, dim)))
    mean = (q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None]).sum(axis=0) / 2
    image = mean @ mean @ np.diag(np.sqrt(np.resize(POINTS, dim)))
    values = np.linalg.svd(image, compute_uv=False) ** 2
    for k in (1, 2, 3):
        assert moment(MIXED, k) == pytest.approx(np.mean(values**k), rel=0.05)


@pytest.mark.parametrize("name", LAWS)
def test_samples_have_the_moments_and_lie_in_the_support(name):
    law = LAWS[name]
    drawn = sample(law, 40_000, seed=0)
    low, high = support(law)
    assert low - 1e-9 <= drawn.min() <= drawn.max() <= high * (1 + 1e-9)
    for k in (1, 2):
        error = np.std(drawn**k) / np.sqrt(len(drawn))
        assert abs(np.mean(drawn**k) - moment(law, k)) < 5 * error + 1e-3


def test_densities_integrate_to_the_moments():
    law = LAWS["moved"]
    x = np.linspace(*support(law), 20_001)[1:-1]
    mass = density(law, x) * (x[1] - x[0])
    assert mass @ x == pytest.approx(moment(law, 1), rel=0.02)
    with pytest.raises(ValueError, match="no density"):
        density(LAWS["atoms"], 1.0)


def test_atoms_at_zero_belong_to_the_support():
    assert support(MarchenkoPastur(0.5))[0] == 0
    assert (sample(MarchenkoPastur(0.5), 2000, seed=1) == 0).mean() == pytest.approx(
        0.5, abs=0.05
    )


def test_laws_have_them_as_methods():
    law = LAWS["both"]
    x = np.linspace(0.1, 1, 5)
    np.testing.assert_array_equal(law.density(x), density(law, x))
    assert (law.support(), law.moment(2)) == (support(law), moment(law, 2))
    np.testing.assert_array_equal(law.sample(3, seed=0), sample(law, 3, seed=0))
