"""Laws by name, multiplied and added freely.

`Atoms` is an empirical spectrum, `MarchenkoPastur` the limit spectrum of Gaussian data,
`WordLaw` the limit spectrum of the words alone; `free_product` multiplies laws, so that

    free_product(WordLaw(4, 4), Atoms(eigenvalues of XX^T))

is the limit spectrum of A^ℓ XX^T (A^ℓ)^T, the averaged kernel's up to zeros; `free_sum`
adds them; with `Atoms([c])` the one scales, the other shifts. All have the transforms
of `freeproj.spectra.transforms.Law`. (Appendix C.)
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from freeproj.spectra.checks import Computed, Number, Values, non_negative, parameter
from freeproj.spectra.facts import PointMasses
from freeproj.spectra.roots import bracketed_root
from freeproj.spectra.transforms import (
    Law,
    LawWithChi,
    LawWithPsi,
    cumulants,
    follow,
    from_cumulants,
    power,
    series,
    times,
)

__all__ = [
    "Atoms",
    "FreeProduct",
    "FreeSum",
    "MarchenkoPastur",
    "WordLaw",
    "free_product",
    "free_sum",
]


class Atoms(LawWithPsi):
    """Finitely many atoms: an empirical spectrum, weights equal unless given."""

    def __init__(self, points: Values, weights: Values | None = None):
        self.points = np.ravel(non_negative(points, "points"))
        count = len(self.points)
        if weights is None:
            weights = np.full(count, 1 / count)
        self.weights = np.ravel(non_negative(weights, "weights"))
        found, total = len(self.weights), self.weights.sum()
        if found != count or abs(total - 1) > 1e-9:
            rule = f"{count} numbers with sum 1, got {found} with sum {total:g}."
            raise ValueError(f"`weights` must be {rule}")
        self.points, place = np.unique(self.points, return_inverse=True)
        self.weights = np.bincount(place, self.weights)
        self.mean = float(self.points @ self.weights)
        self.mass_at_zero = float(self.weights[self.points == 0].sum())
        if self.mean == 0:
            raise ValueError("`points` must not all be zero: that law has no χ.")

    def atoms(self):
        seen = self.weights > 0
        return PointMasses(self.points[seen], self.weights[seen])

    def moments(self, order):
        return self.weights @ self.points[:, None] ** np.arange(order + 1)

    def psi_upper(self, z):
        # In real numbers: NumPy's complex division takes five times as long.
        real = 1 - np.multiply.outer(np.real(z), self.points)
        imag = np.multiply.outer(np.imag(z), self.points)
        size = real * real + imag * imag
        real, imag = real / size, imag / size  # of 1/(1 - z·t)
        weighted = self.points * self.weights
        value, rest = real @ weighted, imag @ weighted
        slope = (real * real - imag * imag) @ weighted
        if np.isrealobj(z):
            return z * value, slope
        return z * (value + 1j * rest), slope + 2j * ((real * imag) @ weighted)


@dataclass(frozen=True)
class MarchenkoPastur(LawWithChi):
    """Limit law of the spectrum of XX^T, X_ij ~ N(0, 1/d): S(w) = 1/(c + w)."""

    aspect: Number

    def __post_init__(self):
        parameter(self.aspect, "aspect", above=0)

    @property
    def mean(self) -> float:
        return float(self.aspect)

    @property
    def mass_at_zero(self) -> float:
        return float(max(0, 1 - self.aspect))

    def chi_and_slope(self, w):
        c = self.aspect
        return w / ((1 + w) * (c + w)), 1 / w - 1 / (1 + w) - 1 / (c + w)

    def as_words(self):
        return 1, 0, self.aspect

    def inverse(self, order):
        c = float(self.aspect)
        return times(series([1.0, 1.0], order), series([c, 1.0], order))


@dataclass(frozen=True)
class WordLaw(LawWithChi):
    """Limit law of (T*)^ℓ T^ℓ/n^ℓ, T = Σ a_i: S(w) = ((1 + w/n)/(1 + w))^ℓ."""

    n_generators: Number
    length: Number

    def __post_init__(self):
        parameter(self.n_generators, "n_generators", least=1, infinite=True)
        parameter(self.length, "length", least=0)

    @property
    def mean(self) -> float:
        return 1.0

    def chi_and_slope(self, w):
        q, ell = 1 / self.n_generators, self.length
        chi = w / (1 + w) * ((1 + q * w) / (1 + w)) ** ell
        return chi, 1 / w + ell * q / (1 + q * w) - (ell + 1) / (1 + w)

    def atoms(self):
        trivial = np.ones(int(self.n_generators == 1 or self.length == 0))
        return PointMasses(trivial, trivial)

    def as_words(self):
        return self.n_generators, self.length, None

    def inverse(self, order):
        one, q = series([1.0, 1.0], order), 1 / float(self.n_generators)
        mixed = series([1.0, q], order)
        return times(power(one, self.length + 1), power(mixed, -self.length))


@dataclass(frozen=True)
class FreeProduct(Law):
    """The free multiplicative convolution of two laws: S = S_1 · S_2.

    Off the axis ψ(z) = ψ_1(ω) with the subordination function ω, the fixed point of
    ω = z·h_2(z·h_1(ω)), where h(z) = ψ(z)/(z·(1 + ψ(z))).
    """

    first: Law
    second: Law

    @property
    def mean(self) -> float:
        return self.first.mean * self.second.mean

    @property
    def mass_at_zero(self) -> float:
        return max(self.first.mass_at_zero, self.second.mass_at_zero)

    def atoms(self):
        points, weights = _heavy_pairs(self, np.multiply)
        seen, (zero, mass) = points > 0, super().atoms()
        return PointMasses(np.r_[zero, points[seen]], np.r_[mass, weights[seen]])

    def bounds(self):
        return np.multiply(self.first.support(), self.second.support())

    def as_words(self):
        for words, data in ((self.first, self.second), (self.second, self.first)):
            if isinstance(words, WordLaw) and isinstance(data, MarchenkoPastur):
                return words.n_generators, words.length, data.aspect
        return None

    def inverse(self, order):
        both = times(self.first.inverse(order), self.second.inverse(order))
        return times(both, power(series([1.0, 1.0], order), -1))

    def chi_negative(self, w):
        return self.first.chi_negative(w) * self.second.chi_negative(w) * (1 + w) / w

    def psi_negative(self, z):
        return self.first.psi_negative(self._start(z))

    def psi_upper(self, z):
        def newton(omega, z):
            log_h, _, slope = self._subordination(omega, z)
            return omega - (np.log(omega / z) - log_h) / slope

        omega = follow(newton, z, self._start(-np.abs(z)))
        _, step, slope = self._subordination(omega, z)
        value, value_slope = self.first.psi_and_slope(omega)
        return value, value_slope * (1 + step) / (z * slope)

    def _start(self, z):
        """Return ω for real z < 0; h falls from the mean to 0, which brackets it."""

        def h(law, z):
            value = law.psi_negative(z)
            return value / (z * (1 + value))

        def excess(u, z):
            return u - np.log(-z * h(self.second, z * h(self.first, -np.exp(u))))

        low = np.log(-z * h(self.second, z * self.first.mean))
        high = np.log(-z * self.second.mean)
        return -np.exp(bracketed_root(excess, low - 1, high + 1, z))

    def _subordination(self, omega, z):
        """Return log h_2, its derivative by log z, and the equation's by ω."""
        h_1, slope_1 = _log_h(self.first, omega)
        inner = z * np.exp(h_1)
        h_2, slope_2 = _log_h(self.second, inner)
        step = inner * slope_2
        return h_2, step, 1 / omega - step * slope_1


class _ProductWithChi(FreeProduct):
    """A free product whose first law states χ: solve u·S_1(ψ_2(u)) = z for u."""

    first: LawWithChi

    def psi_negative(self, z):
        return self.second.psi_negative(self._start(z))

    def psi_upper(self, z):
        def newton(u, z):
            _, left, slope = self._equation(u)
            return u - np.log(left / z) / slope

        u = follow(newton, z, self._start(-np.abs(z)))
        w, _, slope = self._equation(u)
        return w, self.second.psi_and_slope(u)[1] / (z * slope)

    def _start(self, z):
        """Return u for real z < 0, where the left side rises with -u."""
        end = -(1 - self.first.mass_at_zero)  # where S_1 is infinite

        def excess(v, z):
            w = self.second.psi_negative(-np.exp(v))
            inside = np.where(w > end, w, 0.5 * end)
            s = (1 + inside) / inside * self.first.chi_negative(inside)
            return np.where(w > end, v + np.log(s / -z), 1e3)

        high = np.log(-z) + np.log(self.first.mean) + 1e-9  # S_1 is least at w = 0
        low = high - 1
        while (above := excess(low, z) > 0).any():
            low = np.where(above, 2 * low - high, low)
        return -np.exp(bracketed_root(excess, low, high, z))

    def _equation(self, u):
        """Return ψ_2(u), the left side, and the derivative of its logarithm by u."""
        w, w_slope = self.second.psi_and_slope(u)
        chi, chi_slope = self.first.chi_and_slope(w)
        left = u * (1 + w) / w * chi
        return w, left, 1 / u + w_slope * (chi_slope + 1 / (1 + w) - 1 / w)


class _ExplicitProduct(LawWithChi, FreeProduct):
    """A free product of laws that both state χ, and so states it itself."""

    first: LawWithChi
    second: LawWithChi

    def chi_and_slope(self, w):
        chi, slope = self.first.chi_and_slope(w)
        chi_2, slope_2 = self.second.chi_and_slope(w)
        return chi * chi_2 * (1 + w) / w, slope + slope_2 + 1 / (1 + w) - 1 / w


@dataclass(frozen=True)
class FreeSum(LawWithPsi):
    """The free additive convolution of two laws.

    G(x) = G_1(ω) with ω = x + H_2(x + H_1(ω)), where H(x) = 1/G(x) - x.
    """

    first: Law
    second: Law

    @property
    def mean(self) -> float:
        return self.first.mean + self.second.mean

    @property
    def mass_at_zero(self) -> float:
        return max(0.0, self.first.mass_at_zero + self.second.mass_at_zero - 1)

    def atoms(self):
        return _heavy_pairs(self, np.add)

    def bounds(self):
        return np.add(self.first.support(), self.second.support())

    def moments(self, order):
        first, second = self.first.moments(order), self.second.moments(order)
        return from_cumulants(cumulants(first) + cumulants(second))

    def psi_negative(self, z):
        x = 1 / z
        omega = self._start(x)
        return (x - omega) / omega + x / omega * self.first.psi_negative(1 / omega)

    def psi_upper(self, z):
        def newton(omega, x):
            h_1, slope_1 = _h_and_slope(self.first, omega)
            h_2, slope_2 = _h_and_slope(self.second, x + h_1)
            return omega - (omega - x - h_2) / (1 - slope_1 * slope_2)

        x = np.conj(1 / z)  # in the upper half plane
        omega = follow(newton, x, self._start(-np.abs(x)))
        h_1, slope_1 = _h_and_slope(self.first, omega)
        _, slope_2 = _h_and_slope(self.second, x + h_1)
        cauchy = 1 / (omega + h_1)
        by_omega = -(cauchy**2) * (1 + slope_1)
        by_x = by_omega * (1 + slope_2) / (1 - slope_1 * slope_2)
        return np.conj(x * cauchy - 1), np.conj(-(x**2) * (cauchy + x * by_x))

    def _start(self, x):
        """Return ω for real x < 0; -mean ≤ H ≤ 0 brackets it."""

        def h(law, x):
            return x / (1 + law.psi_negative(1 / x)) - x

        def excess(omega, x):
            return omega - x - h(self.second, x + h(self.first, omega))

        margin = 1e-9 * (self.mean - x)
        return bracketed_root(excess, x - self.second.mean - margin, x + 0 * x, x)


def free_sum(*laws: Law) -> Law:
    """Return the free additive convolution of one or more laws."""
    if not laws:
        raise ValueError("`free_sum` needs at least one law.")
    return functools.reduce(FreeSum, laws)


def free_product(*laws: Law) -> Law:
    """Return the free multiplicative convolution of one or more laws."""
    if not laws:
        raise ValueError("`free_product` needs at least one law.")
    # The order does not matter; laws that state χ are the cheapest to multiply.
    factors = [factor for law in laws for factor in _factors(law)]
    explicit = [factor for factor in factors if isinstance(factor, LawWithChi)]
    others = [factor for factor in factors if not isinstance(factor, LawWithChi)]
    kinds = ((_ExplicitProduct, explicit), (FreeProduct, others))
    parts = [functools.reduce(kind, found) for kind, found in kinds if found]
    return functools.reduce(_ProductWithChi, parts)


def _factors(law: Law) -> list[Law]:
    if isinstance(law, FreeProduct):
        return _factors(law.first) + _factors(law.second)
    return [law]


def _log_h(law: Law, z: Computed) -> tuple[Computed, Computed]:
    """Return log h and its derivative, h(z) = ψ(z)/(z·(1 + ψ(z)))."""
    value, slope = law.psi_and_slope(z)
    return np.log(value / (z * (1 + value))), slope / (value * (1 + value)) - 1 / z


def _h_and_slope(law: Law, x: Computed) -> tuple[Computed, Computed]:
    """Return H(x) = 1/G(x) - x and its derivative."""
    value, slope = law.psi_and_slope(1 / x)
    f = x / (1 + value)
    return f - x, f / x + f**2 / x**3 * slope - 1


def _heavy_pairs(law: FreeProduct | FreeSum, join: np.ufunc) -> PointMasses:
    """Return the atoms of masses that add up to more than 1, ascending."""
    (u, first), (v, second) = law.first.atoms(), law.second.atoms()
    heavy = first > 1 - second.max(initial=0)
    heavier = second > 1 - first.max(initial=0)
    excess = np.add.outer(first[heavy], second[heavier]) - 1
    points, seen = join.outer(u[heavy], v[heavier]), excess > 1e-12
    order = np.argsort(points[seen])
    return PointMasses(points[seen][order], excess[seen][order])
