"""Density, support, moments and samples of laws."""

import numpy as np
import pytest

from freeproj.spectra.density import word_density, word_edges, word_moment
from freeproj.spectra.facts import density, moment, sample, support
from freeproj.spectra.laws import (
    Atoms,
    FreeProduct,
    MarchenkoPastur,
    WordLaw,
    free_product,
    free_sum,
)

POINTS = np.array([0.3, 1.0, 1.7])
MIXED = free_product(WordLaw(4, 2), Atoms(POINTS))
LAWS = {
    "words": WordLaw(4, 4),
    "data": MarchenkoPastur(0.5),
    "both": free_product(WordLaw(2, 8), MarchenkoPastur(2.0)),
    "mixed": MIXED,
    "atoms": Atoms(POINTS, [0.2, 0.3, 0.5]),
    "heavy": free_product(*[Atoms([0.5, 1.0], [0.2, 0.8])] * 2),
    "projections": free_product(Atoms([0, 1], [0.7, 0.3]), Atoms([0, 1], [0.6, 0.4])),
    "large-projections": free_product(
        Atoms([0, 1], [0.3, 0.7]), Atoms([0, 1], [0.4, 0.6])
    ),
    "half-projections": free_product(Atoms([0, 1]), Atoms([0, 1])),
    "few-samples": free_product(WordLaw(2, 2), Atoms([0, 1], [0.9, 0.1])),
    "spike": free_product(WordLaw(16, 2), Atoms([0.5, 1.0, 40.0], [0.5, 0.48, 0.02])),
    "point": free_product(WordLaw(1, 3), Atoms(POINTS)),
    "heavy-sum": free_sum(*[Atoms([0.5, 1.0], [0.2, 0.8])] * 2),
    "arcsine": free_sum(Atoms([0, 1]), Atoms([0, 1])),
    "long": free_product(WordLaw(2, 8), Atoms(POINTS)),
    "narrow": free_product(
        Atoms([0.0, 1.0, 3.0], [0.33, 0.62, 0.05]),
        Atoms([0.36, 0.51, 0.57, 0.93, 1.85], [0.19, 0.12, 0.05, 0.32, 0.32]),
    ),
    "scales": free_product(
        Atoms([1e-4, 1.0, 2.0], [0.07, 0.69, 0.24]),
        Atoms([0.59, 0.74, 0.89, 2.34, 2.46], [0.02, 0.03, 0.29, 0.08, 0.58]),
    ),
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


# A law within a law within a law: half a minute.
NESTED = free_sum(free_product(WordLaw(3, 2), Atoms([2.0])), Atoms([0.5]))


@pytest.mark.slow
def test_a_nested_law_is_the_words_stretched_and_moved():
    low, high = word_edges(3, 2)
    assert support(NESTED) == pytest.approx((2 * low + 0.5, 2 * high + 0.5), rel=1e-5)
    x = np.array([0.7, 1.5, 4.0])
    exact = word_density((x - 0.5) / 2, 3, 2) / 2
    np.testing.assert_allclose(density(NESTED, x), exact, rtol=1e-4)
    x = np.linspace(*support(NESTED), 20_001)[1:-1]
    assert density(NESTED, x) @ x * (x[1] - x[0]) == pytest.approx(2.5, rel=0.02)


@pytest.mark.parametrize("name", LAWS)
def test_samples_have_the_moments_and_lie_in_the_support(name):
    law = LAWS[name]
    drawn = sample(law, 200_000, seed=0)
    low, high = support(law)
    assert drawn.min() >= low - 1e-9
    assert drawn.max() <= high * (1 + 1e-9)
    for k in (1, 2):
        error = np.std(drawn**k) / np.sqrt(len(drawn))
        assert abs(np.mean(drawn**k) - moment(law, k)) < 4 * error + 1e-12
    for point, weight in zip(*law.atoms(), strict=True):
        share = np.mean(np.isclose(drawn, point, rtol=1e-12, atol=0))
        assert abs(share - weight) < 4 * np.sqrt(weight / len(drawn))


@pytest.mark.parametrize(
    ("name", "points", "weights"),
    [
        ("heavy", [1.0], [0.6]),
        ("heavy-sum", [2.0], [0.6]),
        ("projections", [0.0], [0.7]),
        ("large-projections", [0.0, 1.0], [0.4, 0.3]),
        ("few-samples", [0.0], [0.9]),
        ("point", POINTS, [1 / 3] * 3),
        ("arcsine", [], []),
        ("words", [], []),
        ("data", [0.0], [0.5]),
    ],
)
def test_atoms_are_those_of_the_theorems(name, points, weights):
    found = LAWS[name].atoms()
    np.testing.assert_allclose(found.points, points)
    np.testing.assert_allclose(found.weights, weights)


@pytest.mark.parametrize(("p", "q"), [(0.3, 0.4), (0.7, 0.6)])
def test_two_projections_have_the_known_edges_and_density(p, q):
    law = free_product(Atoms([0, 1], [1 - p, p]), Atoms([0, 1], [1 - q, q]))
    middle, half = p + q - 2 * p * q, 2 * np.sqrt(p * q * (1 - p) * (1 - q))
    low, high = middle - half, middle + half
    x = np.linspace(low, high, 9)[1:-1]
    exact = np.sqrt((x - low) * (high - x)) / (2 * np.pi * x * (1 - x))
    np.testing.assert_allclose(density(law, x), exact, rtol=1e-6)
    np.testing.assert_array_equal(density(law, [1e-9, low / 2, (1 + high) / 2]), 0)
    expected = max(high, 1.0 if p + q > 1 else 0.0)
    assert support(law) == pytest.approx((0, expected), rel=1e-8)


def test_sums_of_coins_have_the_arcsine_law():
    x = np.linspace(0.1, 1.9, 7)
    exact = 1 / (np.pi * np.sqrt(x * (2 - x)))
    np.testing.assert_allclose(density(LAWS["arcsine"], x), exact, rtol=1e-6)
    assert support(LAWS["arcsine"]) == (0, pytest.approx(2))


@pytest.mark.slow  # twenty seconds
def test_the_general_way_finds_the_edges_and_density_of_word_laws():
    law, words = FreeProduct(WordLaw(4, 2), Atoms([0.0, 1.0])), (4, 2)
    x = np.array([0.1, 0.5, 1.5])
    assert support(law)[1] < word_edges(*words)[1]
    whole = FreeProduct(WordLaw(4, 2), Atoms([1.0, 1.0 + 1e-13]))
    np.testing.assert_allclose(density(whole, x), word_density(x, *words), rtol=1e-4)
    assert support(whole) == pytest.approx(word_edges(*words), rel=1e-5)


def test_the_largest_simulated_eigenvalue_is_at_the_edge():
    rng, dim = np.random.default_rng(0), 400
    t = np.concatenate([np.linspace(0.1, 1, dim - 40), np.full(40, 12.0)])
    q, r = np.linalg.qr(rng.standard_normal((4, dim, dim)))
    mean = (q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None]).sum(axis=0) / 2
    largest = np.linalg.norm(mean @ mean * np.sqrt(t), 2) ** 2
    edge = support(free_product(WordLaw(4, 2), Atoms(t)))[1]
    assert largest == pytest.approx(edge, rel=0.08)


def test_moments_of_sums_are_those_of_matrices():
    rng, dim = np.random.default_rng(0), 300
    law = free_sum(Atoms(POINTS), MarchenkoPastur(0.5))
    X = rng.standard_normal((dim, dim // 2)) / np.sqrt(dim)
    values = np.linalg.eigvalsh(np.diag(np.resize(POINTS, dim)) + X @ X.T)
    for k in (1, 2, 3):
        assert moment(law, k) == pytest.approx(np.mean(values**k), rel=0.05)


def test_laws_of_many_atoms_are_sampled():
    t = np.random.default_rng(0).gamma(1.0, size=800)
    drawn = free_product(WordLaw(4, 4), Atoms(t)).sample(10_000, seed=0)
    error = np.std(drawn) / 100
    assert abs(drawn.mean() - t.mean()) < 4 * error


def test_a_law_of_points_has_no_density():
    with pytest.raises(ValueError, match="no density"):
        density(LAWS["atoms"], 1.0)


def test_atoms_at_zero_belong_to_the_support():
    assert support(MarchenkoPastur(0.5))[0] == 0
    assert (sample(MarchenkoPastur(0.5), 2000, seed=1) == 0).mean() == pytest.approx(
        0.5, abs=0.05
    )
