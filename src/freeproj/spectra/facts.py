"""Density, support, moments and samples of any law of `freeproj.spectra.laws`.

    density(WordLaw(4, 4), x);  moment(free_product(WordLaw(4, 4), Atoms(t)), 3)

Word laws, Marchenko–Pastur and their product have closed forms or the curve of
`freeproj.spectra.density`. Other products have densities as boundary values of their
Cauchy transform and moments by power series.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from jaxtyping import Float

from freeproj.spectra.checks import Values, as_given, real_array
from freeproj.spectra.density import density_curve, word_density, word_edges
from freeproj.spectra.laws import (
    Atoms,
    FreeProduct,
    MarchenkoPastur,
    Scaled,
    Shifted,
    WordLaw,
)
from freeproj.spectra.transforms import Law

__all__ = ["density", "moment", "sample", "support"]

_BOUNDARY = 1e-9  # distance from the real axis, in units of the mean
_GRID = 4000


def density(law: Law, x: Values) -> Any:
    """Return the density of the continuous part at x."""
    x = real_array(x, "x")
    if isinstance(law, Atoms):
        raise ValueError("`Atoms` has no density: it is a sum of points.")
    if isinstance(law, Scaled):
        return density(law.law, x / law.factor) / law.factor
    if isinstance(law, Shifted):
        return density(law.law, x - law.shift)
    if (words := _as_words(law)) is not None:
        return word_density(x, *words)
    inside = x > 0
    z = np.where(inside, x, 1.0) + 1j * _BOUNDARY * law.mean
    return as_given(np.where(inside, -np.imag(law.cauchy(z)) / np.pi, 0.0))


def support(law: Law) -> tuple[float, float]:
    """Return the ends of an interval that holds the law, atoms included.

    The smallest such interval, except for products with `Atoms`, where it is that of
    the products of both laws' ends.
    """
    if isinstance(law, Atoms):
        seen = law.points[law.weights > 0]
        return float(seen.min()), float(seen.max())
    if isinstance(law, Scaled):
        low, high = support(law.law)
        return float(law.factor * low), float(law.factor * high)
    if isinstance(law, Shifted):
        low, high = support(law.law)
        return float(low + law.shift), float(high + law.shift)
    if (words := _as_words(law)) is not None:
        low, high = word_edges(*words)
        return (0.0 if law.mass_at_zero else low), high
    if isinstance(law, FreeProduct):
        first, second = support(law.first), support(law.second)
        return first[0] * second[0], first[1] * second[1]
    raise TypeError(f"No support is known for {type(law).__name__}.")


def moment(law: Law, order: int) -> float:
    """Return the moment m_k = ∫ x^k dμ."""
    if order < 0 or order != int(order):
        raise ValueError(f"`order` must be an integer, at least 0, got {order}.")
    return float(_moments(law, int(order))[int(order)])


def sample(law: Law, n_points: int, *, seed: int) -> Float[np.ndarray, " n_points"]:
    """Draw independent points from the law, atoms included."""
    rng = np.random.default_rng(seed)
    if isinstance(law, Atoms):
        return rng.choice(law.points, n_points, p=law.weights)
    if isinstance(law, Scaled):
        return law.factor * sample(law.law, n_points, seed=seed)
    if isinstance(law, Shifted):
        return law.shift + sample(law.law, n_points, seed=seed)
    x, f = _curve(law)
    # In log x poles at zero are harmless for the trapezoid rule.
    steps = 0.5 * np.diff(np.log(x)) * (f[1:] * x[1:] + f[:-1] * x[:-1])
    cumulative = np.concatenate([[0.0], np.cumsum(steps)])
    drawn = np.exp(
        np.interp(rng.uniform(0, cumulative[-1], n_points), cumulative, np.log(x))
    )
    return np.where(rng.uniform(size=n_points) < law.mass_at_zero, 0.0, drawn)


def _curve(law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Return points, ascending, and the density there."""
    if (words := _as_words(law)) is not None:
        curve = density_curve(*words, n_points=_GRID)
        return curve.x, curve.density
    low, high = support(law)
    x = np.geomspace(max(low, 1e-9 * high), high, _GRID)
    return x, np.maximum(density(law, x), 0.0)


def _as_words(law: Law) -> tuple[Any, Any, Any] | None:
    """Return (n, ℓ, aspect) of a word law, Marchenko–Pastur, or their product."""
    if isinstance(law, WordLaw):
        return law.n_generators, law.length, None
    if isinstance(law, MarchenkoPastur):
        return 1, 0, law.aspect
    if isinstance(law, FreeProduct):
        for words, data in ((law.first, law.second), (law.second, law.first)):
            if isinstance(words, WordLaw) and isinstance(data, MarchenkoPastur):
                return words.n_generators, words.length, data.aspect
    return None


def _moments(law: Law, order: int) -> np.ndarray:
    """Return m_0, …, m_order."""
    if isinstance(law, Atoms):
        return law.weights @ law.points[:, None] ** np.arange(order + 1)
    if isinstance(law, Scaled):
        return _moments(law.law, order) * float(law.factor) ** np.arange(order + 1)
    if isinstance(law, Shifted):
        own, b = _moments(law.law, order), float(law.shift)
        return np.array(
            [
                sum(comb(k, j) * own[j] * b ** (k - j) for j in range(k + 1))
                for k in range(order + 1)
            ]
        )
    return _from_inverse(_inverse(law, order), order)


def _inverse(law: Law, order: int) -> np.ndarray:
    """Return the power series of w/χ(w), which multiplies like 1/S up to 1 + w."""
    one = _series([1.0, 1.0], order)
    if isinstance(law, WordLaw):
        share = _over(one, _series([1.0, 1 / float(law.n_generators)], order))
        return _times(one, _power(share, law.length, order))
    if isinstance(law, MarchenkoPastur):
        return _times(one, _series([float(law.aspect), 1.0], order))
    if isinstance(law, FreeProduct):
        both = _times(_inverse(law.first, order), _inverse(law.second, order))
        return _over(both, one)
    # χ is the inverse of ψ(z) = Σ m_k z^k, by Lagrange's formula.
    psi = _moments(law, order + 1)[1:]  # ψ(z)/z
    chi = [_power(psi, -k, order)[k - 1] / k for k in range(1, order + 2)]  # χ(w)/w
    return _over(_series([1.0], order), np.array(chi))


def _from_inverse(inverse: np.ndarray, order: int) -> np.ndarray:
    """Return moments by Lagrange's formula: m_k = (1/k) [w^(k-1)] (w/χ(w))^k."""
    found = [_power(inverse, k, order)[k - 1] / k for k in range(1, order + 1)]
    return np.array([1.0, *found])


def _series(head: list[float], order: int) -> np.ndarray:
    return np.pad(np.array(head, float), (0, order + 1))[: order + 1]


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.convolve(a, b)[: len(a)]


def _over(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return _times(a, _power(b, -1, len(b) - 1))


def _power(a: np.ndarray, exponent: Any, order: int) -> np.ndarray:
    """Return a power of a series with a[0] > 0, by its differential equation."""
    result = np.zeros(order + 1)
    result[0] = a[0] ** float(exponent)
    for k in range(1, order + 1):
        j = np.arange(1, k + 1)
        terms = (exponent * j - (k - j)) * a[j] * result[k - j]
        result[k] = terms.sum() / (k * a[0])
    return result
