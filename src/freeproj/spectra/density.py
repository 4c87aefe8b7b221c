"""Densities, edges and exact moments of the word laws.

The word law μ(n, ℓ) is the limit law of (T*)^ℓ T^ℓ/n^ℓ, T the sum of n free Haar
unitaries. With an `aspect` c every function speaks of μ(n, ℓ) ⊠ MP(c) instead: the
limit of the d eigenvalues of A^ℓ XX^T (A^ℓ)^T for data X_ij ~ N(0, 1/d), which are the
averaged kernel's p eigenvalues up to zeros. For c < 1 it has an atom 1 - c at zero; the
densities here are those of the rest. (Section 4 and appendix C of the paper.)

Choosing one of a polynomial's roots is ambiguous. Instead the density is a curve: for
each angle φ in (0, π) there is one r for which w = r·e^(iφ) makes χ(w) real; then
x = 1/χ(w) falls from the right edge to the left one as φ grows, and f(x) = Im w/(πx).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from freeproj.spectra.checks import (
    Computed,
    Number,
    Values,
    as_given,
    parameter,
    real_array,
)

__all__ = [
    "DensityCurve",
    "density_curve",
    "word_density",
    "word_edges",
    "word_expectation",
    "word_moment",
]

_BISECTIONS = 60
_PANELS = 20  # towards either end, each half the length of the one before
_NODES = 16  # Gauss-Legendre points in each


class DensityCurve(NamedTuple):
    """A density as a curve, x ascending."""

    x: Float[np.ndarray, " n_points"]
    density: Float[np.ndarray, " n_points"]


class _Law(NamedTuple):
    """Parameters of χ(w) = w (1 + w/n)^ℓ/((1 + w)^(ℓ+1) [c + w])."""

    inverse_n: float
    length: float
    aspect: float | None

    @property
    def is_arcsine(self) -> bool:
        """Whether this is μ(2, 1), where Re w = -1 and the right edge is at w = ∞."""
        return tuple(self) == (0.5, 1.0, None)

    @property
    def angles(self) -> tuple[float, float]:
        """The range of φ."""
        return (np.pi / 2 if self.is_arcsine else 0.0), np.pi


def word_moment(
    order: int,
    n_generators: int,
    length: int,
    aspect: Number | Fraction | None = None,
) -> Fraction:
    """Returns the moment m_k exactly, by Lagrange's inversion of χ.

    m_k = (1/k)·[w^(k-1)] (1 + w)^(k(ℓ+1)) (1 + w/n)^(-kℓ) [(c + w)^k]; for instance
    m_1 = 1 and m_2 = ℓ + 1 - ℓ/n without data.
    """
    for name, value, least in (
        ("order", order, 0),
        ("n_generators", n_generators, 1),
        ("length", length, 0),
    ):
        if not isinstance(value, int | np.integer) or value < least:
            raise ValueError(
                f"`{name}` must be an integer, at least {least}, got {value!r}."
            )
    k, q = int(order), Fraction(1, int(n_generators))
    if k == 0:
        return Fraction(1)
    words = [comb(k * (length + 1), j) for j in range(k)]
    inverse = [(-q) ** j * comb(k * length + j - 1, j) if j else 1 for j in range(k)]
    series = _product([words, inverse], k)
    if aspect is not None:
        parameter(float(aspect), "aspect", above=0)
        c = aspect if isinstance(aspect, Fraction) else Fraction(float(aspect))
        series = _product([series, [comb(k, j) * c ** (k - j) for j in range(k)]], k)
    return Fraction(series[k - 1]) / k


def word_edges(
    n_generators: Number, length: Number, aspect: Number | None = None
) -> tuple[float, float]:
    """Returns the left and right edge of the density.

    Without data they are 0 and (1 - 1/n)·(ℓ+1)^(ℓ+1)/ℓ^ℓ; with data they are the
    critical values of 1/χ.
    """
    q, ell, c = law = _checked(n_generators, length, aspect)
    if c is None:
        return 0.0, (1 - q) * (ell + 1) ** (ell + 1) / ell**ell
    # log w runs over the whole line on the right of 0; on the left c < 1 leaves the
    # interval (-1, -c), where 1/χ has one maximum, and c ≥ 1 leaves nothing.
    right = _critical_value(law, lambda s: np.exp(s), (-40.0, 40.0), rises=False)
    if c >= 1:
        return (0.0 if ell > 0 else float((1 - np.sqrt(c)) ** 2)), right
    left = _critical_value(
        law, lambda s: -1 + (1 - c) / (1 + np.exp(-s)), (-40.0, 40.0), rises=True
    )
    return left, right


def density_curve(
    n_generators: Number,
    length: Number,
    aspect: Number | None = None,
    *,
    n_points: int = 400,
) -> DensityCurve:
    """Returns points on the density, closer together where it is steep."""
    law = _checked(n_generators, length, aspect)
    if n_points < 2:
        raise ValueError(f"`n_points` must be at least 2, got {n_points}.")
    # Angles crowd at both ends, so that edges and the pole at zero look smooth.
    share = (np.arange(n_points) + 0.5) / n_points
    first, last = law.angles
    angle = first + (last - first) * share**2 * (3 - 2 * share)
    x, density, _ = _curve(law, angle)
    return DensityCurve(x[::-1], density[::-1])


def word_density(
    x: Values, n_generators: Number, length: Number, aspect: Number | None = None
) -> Any:
    """Returns the density at x, zero outside the edges."""
    law = _checked(n_generators, length, aspect)
    x = real_array(x, "x")
    left, right = word_edges(n_generators, length, aspect)
    inside = (x > left) & (x < right)
    # Outside any place will do; its value is not used.
    target = np.log(np.where(inside, x, 0.5 * (left + right)))
    low, high = (np.full(x.shape, angle) for angle in law.angles)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        above = np.log(_curve(law, middle)[0]) > target
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return as_given(np.where(inside, _curve(law, 0.5 * (low + high))[1], 0.0))


def word_expectation(
    function: Callable[[np.ndarray], Values],
    n_generators: Number,
    length: Number,
    aspect: Number | None = None,
) -> float:
    """Returns ∫ f dμ over the law, its atom at zero included.

    `function` takes and returns an array. In the angle φ the integrand is smooth; the
    panels shrink towards both ends, where edges may lie close to a pole.
    """
    law = _checked(n_generators, length, aspect)
    steps = 0.5 ** np.arange(1, _PANELS + 1)
    first, last = law.angles
    shares = np.concatenate([[0], steps[::-1], 1 - steps[1:], [1]])
    ends = first + (last - first) * shares
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(ends)[:, None]
    angle = (0.5 * (ends[1:] + ends[:-1])[:, None] + half * nodes).ravel()
    x, density, slope = _curve(law, angle)
    mass = (half * weights).ravel() * density * np.abs(slope)
    total = float(np.sum(mass * np.asarray(function(x))))
    if law.aspect is not None and law.aspect < 1:
        total += (1 - law.aspect) * float(np.asarray(function(np.zeros(1)))[0])
    return total


def _curve(law: _Law, angle: np.ndarray) -> tuple[Any, ...]:
    """Returns x, f(x) and dx/dφ for angles in (0, π)."""
    q, ell, c = law
    w = np.exp(_log_radius(law, angle) + 1j * angle)
    log_x = (ell + 1) * np.log(np.abs(1 + w)) - np.log(np.abs(w))
    log_x -= ell * np.log(np.abs(1 + q * w))
    # w·(log χ)'(w): along the curve dlog x/dφ = |s|²/Im s.
    s = 1 + ell * q * w / (1 + q * w) - (ell + 1) * w / (1 + w)
    if c is not None:
        log_x += np.log(np.abs(c + w))
        s = s - w / (c + w)
    x = np.exp(log_x)
    return x, np.imag(w) / (np.pi * x), x * np.abs(s) ** 2 / s.imag


def _log_radius(law: _Law, angle: Computed) -> Computed:
    """Returns log r with arg χ(r·e^(iφ)) = 0, by bisection: the phase falls with r."""
    if law.is_arcsine:
        return -np.log(-np.cos(angle))
    low, high = np.full(angle.shape, -40.0), np.full(angle.shape, 40.0)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        below = _phase(law, np.exp(middle + 1j * angle), angle) > 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def _phase(law: _Law, w: Computed, angle: Computed) -> Computed:
    q, ell, c = law
    phase = angle + ell * np.angle(1 + q * w) - (ell + 1) * np.angle(1 + w)
    return phase if c is None else phase - np.angle(c + w)


def _critical_value(
    law: _Law, place: Callable, bracket: tuple[float, float], *, rises: bool
) -> float:
    """Returns 1/χ where its derivative along `place` changes sign, by bisection."""
    q, ell, c = law
    low, high = bracket
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        w = place(middle)
        slope = 1 / w + ell * q / (1 + q * w) - (ell + 1) / (1 + w) - 1 / (c + w)
        # slope is (log χ)': 1/χ still moves towards its extremum where χ falls.
        before = slope < 0 if rises else slope > 0
        low, high = (middle, high) if before else (low, middle)
    w = place(0.5 * (low + high))
    return float((1 + w) ** (ell + 1) * (c + w) / (w * (1 + q * w) ** ell))


def _product(series: list[list], order: int) -> list:
    """Multiplies two power series up to w^(order-1)."""
    first, second = series
    return [sum(first[i] * second[j - i] for i in range(j + 1)) for j in range(order)]


def _checked(n_generators: Number, length: Number, aspect: Number | None) -> _Law:
    n = float(parameter(n_generators, "n_generators", least=1, infinite=True))
    ell = float(parameter(length, "length", least=0))
    if aspect is None and n * ell <= ell + 1 and (n, ell) != (2, 1):
        raise ValueError(
            "Without data the law has a density only for `n_generators` ≥ 2 and "
            f"`length` ≥ 1, got {n:g} and {ell:g}; pass `aspect`."
        )
    c = None if aspect is None else float(parameter(aspect, "aspect", above=0))
    return _Law(1 / n, ell, c)
