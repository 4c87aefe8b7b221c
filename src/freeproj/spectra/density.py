"""Densities, edges and exact moments of the word laws.

The word law μ(n, ℓ) is the limit law of (T*)^ℓ T^ℓ/n^ℓ, T the sum of n free Haar
unitaries. With an `aspect` c every function refers to μ(n, ℓ) ⊠ MP(c) instead: the
limit of the d eigenvalues of A^ℓ XX^T (A^ℓ)^T for data X_ij ~ N(0, 1/d), which are the
averaged kernel's p eigenvalues up to zeros. For c < 1 it has an atom 1 - c at zero; the
densities here are those of the rest. (Section 4 and appendix C of the paper.)

With S the S-transform, χ(w) = w·S(w)/(1 + w). Choosing among the roots of a polynomial
would be ambiguous. Instead the density is a curve: for each angle θ in (0, π) take that
r at which the phase of χ(w), w = -r·e^(-iθ), followed from r = 0, is zero. (χ may be
real and positive for other r too, with phase 2πk.) Then x = 1/χ(w) rises from the left
edge to the right one with θ, and f(x) = Im w/(πx). For a given x Newton's method solves
log χ(w) = -log x from the nearest point of the curve. Everything is computed from log r
and 1 + w, so that long words (ℓ in the hundreds), for which w lies very close to -1,
lose no digits.
"""

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from freeproj.spectra import checks
from freeproj.spectra.checks import Computed, Number, Values
from freeproj.spectra.roots import bracketed_root
from freeproj.storage.checks import at_least

__all__ = ["DensityCurve", "density_curve", "word_density", "word_edges"]
__all__ += ["word_expectation", "word_moment"]

_TABLE = np.linspace(-36.0, 30.0, 1200)  # logits of θ/π, where Newton's method starts
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

    def angle(self, share: Any) -> Any:
        """Return θ at a share of its range."""
        return share * (np.pi / 2 if self.is_arcsine else np.pi)


def word_moment(
    order: int, n_generators: int, length: int, aspect: Number | Fraction | None = None
) -> Fraction:
    """Return the moment m_k exactly, by Lagrange's inversion of χ.

    m_k = (1/k)·[w^(k-1)] (1 + w)^(k(ℓ+1)) (1 + w/n)^(-kℓ) [(c + w)^k]; for instance
    m_1 = 1 and m_2 = ℓ + 1 - ℓ/n without data.
    """
    k, length = checks.whole(order, "order"), checks.whole(length, "length")
    q = Fraction(1, checks.whole(n_generators, "n_generators", 1))
    if k == 0:
        return Fraction(1)
    words = [comb(k * (length + 1), j) for j in range(k)]
    inverse = [(-q) ** j * comb(k * length + j - 1, j) if j else 1 for j in range(k)]
    series = np.convolve(np.array(words, object), np.array(inverse, object))[:k]
    if aspect is not None:
        checks.parameter(float(aspect), "aspect", above=0)
        c = aspect if isinstance(aspect, Fraction) else Fraction(float(aspect))
        data = [comb(k, j) * c ** (k - j) for j in range(k)]
        series = np.convolve(series, np.array(data, object))
    return Fraction(series[k - 1]) / k


def word_edges(
    n_generators: Number, length: Number, aspect: Number | None = None
) -> tuple[float, float]:
    """Return the left and right edge of the density.

    Without data they are 0 and (1 - 1/n)·(ℓ+1)^(ℓ+1)/ℓ^ℓ; with data they are the
    critical values of 1/χ.
    """
    q, ell, c = law = _checked(n_generators, length, aspect)
    if c is None:
        return 0.0, float((1 - q) * (ell + 1) * np.exp(ell * np.log1p(1 / ell)))
    # log w runs over the whole line on the right of 0; on the left c < 1 leaves the
    # interval (-1, -c), where 1/χ has one maximum, and c ≥ 1 leaves nothing.
    right = _critical_value(law, lambda s: (np.exp(s), 1 + np.exp(s), c + np.exp(s)))
    if c >= 1:
        return (0.0 if ell > 0 and q < 1 else float((1 - np.sqrt(c)) ** 2)), right

    def between(s):
        share = 1 / (1 + np.exp(-s))
        return (1 - c) * share - 1, (1 - c) * share, (c - 1) / (1 + np.exp(s))

    return _critical_value(law, between, rises=True), right


def density_curve(
    n_generators: Number,
    length: Number,
    aspect: Number | None = None,
    *,
    n_points: int = 400,
) -> DensityCurve:
    """Return points on the density, closer together where it is steep."""
    law = _checked(n_generators, length, aspect)
    at_least(2, n_points=n_points)
    # Angles crowd at both ends, so that edges and the pole at zero look smooth.
    share = (np.arange(n_points) + 0.5) / n_points
    log_x, log_density, _ = _curve(law, law.angle(share**2 * (3 - 2 * share)))
    return DensityCurve(np.exp(log_x), np.exp(log_density))


def word_density(
    x: Values, n_generators: Number, length: Number, aspect: Number | None = None
) -> Any:
    """Return the density at x: zero outside the edges, infinite at a pole at 0."""
    law = _checked(n_generators, length, aspect)
    x = checks.real_array(x, "x")
    left, right = word_edges(n_generators, length, aspect)
    inside = (x > left) & (x < right)
    # Where the left edge is zero the density has a pole there.
    density = np.where((x == 0) & (left == 0), np.inf, 0.0)
    density[inside] = _density_inside(law, np.log(x[inside]))
    return checks.as_given(density)


def word_expectation(
    function: Callable[[np.ndarray], Values],
    n_generators: Number,
    length: Number,
    aspect: Number | None = None,
) -> float:
    """Return ∫ f dμ over the law, its atom at zero included.

    `function` takes and returns an array. In the angle φ the integrand is smooth; the
    panels shrink towards both ends, where edges may lie close to a pole.
    """
    law = _checked(n_generators, length, aspect)
    steps = 0.5 ** np.arange(1, _PANELS + 1)
    ends = law.angle(np.concatenate([[0], steps[::-1], 1 - steps[1:], [1]]))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(ends)[:, None]
    angle = (0.5 * (ends[1:] + ends[:-1])[:, None] + half * nodes).ravel()
    log_x, _, mass_by_angle = _curve(law, angle)
    mass = (half * weights).ravel() * mass_by_angle
    total = float(np.sum(mass * np.asarray(function(np.exp(log_x)))))
    if law.aspect is not None and law.aspect < 1:
        total += (1 - law.aspect) * float(np.asarray(function(np.zeros(1)))[0])
    return total


def _density_inside(law: _Law, log_x: np.ndarray) -> np.ndarray:
    """Return the density at points between the edges."""
    # Begin about where the curve passes each x.
    angles = law.angle(1 / (1 + np.exp(-_TABLE)))
    radii = _log_radius(law, angles)
    known = np.maximum.accumulate(-_log_chi(law, radii, angles)[0].real)
    theta = law.angle(1 / (1 + np.exp(-np.interp(log_x, known, _TABLE))))
    log_r, largest = np.interp(log_x, known, radii), law.angle(1.0)
    step = np.full(log_x.shape, np.inf + 0j)
    for _ in range(8):
        log_chi, s = _log_chi(law, log_r, theta)
        step = (log_chi + log_x) / s
        # log w = log r + i(π - θ); stay within the upper half plane.
        log_r = log_r - step.real
        theta = np.clip(theta + step.imag, theta / 2, (theta + largest) / 2)
    settled = np.abs(step) < 1e-7 * np.minimum(theta, np.pi - theta)
    density = np.exp(log_r + np.log(np.sin(theta)) - log_x) / np.pi
    if not settled.all():  # too close to an edge for Newton's method
        density[~settled] = _density_by_bracket(law, log_x[~settled])
    return density


def _density_by_bracket(law: _Law, log_x: np.ndarray) -> np.ndarray:
    """Return the density where the curve of the angle passes each x."""

    def excess(logit, log_x):
        return _curve(law, law.angle(1 / (1 + np.exp(-logit))))[0] - log_x

    ends = (np.full(log_x.shape, end) for end in (-40.0, 36.0))
    logit = bracketed_root(excess, *ends, log_x)
    return np.exp(_curve(law, law.angle(1 / (1 + np.exp(-logit))))[1])


def _curve(law: _Law, theta: np.ndarray) -> tuple[Any, ...]:
    """Return log x, log f(x) and the mass f(x)·dx/dθ for angles in (0, π)."""
    if law.is_arcsine:  # x = 2 sin²θ, uniform in θ
        log_x = np.log(2) + 2 * np.log(np.sin(theta))
        mass = np.full(theta.shape, 2 / np.pi)
        return log_x, -np.log(np.pi * np.sin(2 * theta)), mass
    log_r = _log_radius(law, theta)
    log_chi, s = _log_chi(law, log_r, theta)
    log_x, log_imag = -log_chi.real, log_r + np.log(np.sin(theta))
    # Along the curve dlog x/dθ = |s|²/|Im s|.
    mass = np.exp(log_imag) / np.pi * np.abs(s) ** 2 / np.abs(s.imag)
    return log_x, log_imag - np.log(np.pi) - log_x, mass


def _log_chi(law: _Law, log_r: Computed, theta: Computed) -> tuple[Any, Any]:
    """Return log χ(w) and its derivative by log w at w = -r·e^(-iθ)."""
    q, ell, c = law
    r = np.exp(log_r)
    w = -r * np.exp(-1j * theta)
    one = 2j * r * np.sin(theta / 2) * np.exp(-0.5j * theta) - np.expm1(log_r)  # 1 + w
    mixed = (1 - q) + q * one  # 1 + w/n
    log_chi = log_r + 1j * (np.pi - theta)
    log_chi = log_chi + ell * np.log(mixed) - (ell + 1) * np.log(one)
    s = 1 + ell * q * w / mixed - (ell + 1) * w / one
    if c is None:
        return log_chi, s
    other = (c - 1) + one  # c + w
    return log_chi - np.log(other), s - w / other


def _log_radius(law: _Law, theta: Computed) -> Computed:
    """Return the log r at which χ's phase is zero.

    The phase is a sum of continuous logarithms, so that it is followed from r = 0; it
    is positive before that r and negative after it.
    """
    if law.is_arcsine:
        return -np.log(np.cos(theta))

    def fallen(log_r, theta):
        return -_log_chi(law, log_r, theta)[0].imag

    # From near r = 1 outwards: without data the phase is zero at infinity as well.
    return bracketed_root(fallen, 0 * theta - 1, 0 * theta + 1, theta)


def _critical_value(law: _Law, place: Callable, *, rises: bool = False) -> float:
    """Return 1/χ where its derivative along `place` changes sign.

    `place` returns w, 1 + w and c + w, each without cancellation.
    """
    q, ell, _ = law

    def slope(at):  # of log 1/χ, towards its minimum, or its maximum
        w, one, other = place(at)
        by_words = (ell + 1) / one - ell * q / ((1 - q) + q * one)
        found = by_words + 1 / other - 1 / w
        return -found if rises else found

    w, one, other = place(float(bracketed_root(slope, -40.0, 40.0)))
    words = (ell + 1) * np.log(one) - ell * np.log((1 - q) + q * one)
    return float(np.exp(words) * other / w)


def _checked(n_generators: Number, length: Number, aspect: Number | None) -> _Law:
    n = float(checks.parameter(n_generators, "n_generators", least=1, infinite=True))
    ell = float(checks.parameter(length, "length", least=0))
    if aspect is None and n * ell <= ell + 1 and (n, ell) != (2, 1):
        text = "Without data the law has a density only for `n_generators` ≥ 2 and"
        raise ValueError(f"{text} `length` ≥ 1, got {n:g}, {ell:g}; pass `aspect`.")
    c = None if aspect is None else float(checks.parameter(aspect, "aspect", above=0))
    return _Law(1 / n, ell, c)
