"""Laws by name, multiplied and added freely.

`Atoms` is an empirical spectrum, `MarchenkoPastur` the limit spectrum of Gaussian data,
`WordLaw` the limit spectrum of the words alone; `free_product` multiplies laws, so that

    free_product(WordLaw(4, 4), Atoms(eigenvalues of XX^T))

is the limit spectrum of A^ℓ XX^T (A^ℓ)^T, the averaged kernel's up to zeros; `free_sum`
adds them; with `Atoms([c])` the one scales, the other shifts. All have the transforms
of `freeproj.spectra.transforms.Law`. (Appendix C.)
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from freeproj.spectra.checks import Computed, Number, Values, non_negative, parameter
from freeproj.spectra.facts import PointMasses
from freeproj.spectra.roots import bracketed_root
from freeproj.spectra.transforms import (
    Law,
    LawWithPsi,
    LawWithS,
    cumulants,
    follow,
    from_cumulants,
    power,
    series,
    times,
)

__all__ = ["Atoms", "FreeProduct", "FreeSum", "MarchenkoPastur", "WordLaw"]
__all__ += ["free_product", "free_sum"]


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
class MarchenkoPastur(LawWithS):
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

    def s_and_slope(self, w):
        s = 1 / (self.aspect + w)
        return s, -s

    def as_words(self):
        return 1, 0, self.aspect

    def inverse_s(self, order):
        return series([float(self.aspect), 1.0], order)


@dataclass(frozen=True)
class WordLaw(LawWithS):
    """Limit law of (T*)^ℓ T^ℓ/n^ℓ, T = Σ a_i: S(w) = ((1 + w/n)/(1 + w))^ℓ."""

    n_generators: Number
    length: Number

    def __post_init__(self):
        parameter(self.n_generators, "n_generators", least=1, infinite=True)
        parameter(self.length, "length", least=0)

    @property
    def mean(self) -> float:
        return 1.0

    def s_and_slope(self, w):
        q, ell = 1 / self.n_generators, self.length
        slope = ell * (q / (1 + q * w) - 1 / (1 + w))
        return ((1 + q * w) / (1 + w)) ** ell, slope

    def atoms(self):
        trivial = np.ones(int(self.n_generators == 1 or self.length == 0))
        return PointMasses(trivial, trivial)

    def as_words(self):
        return self.n_generators, self.length, None

    def inverse_s(self, order):
        one, q = series([1.0, 1.0], order), 1 / float(self.n_generators)
        return times(
            power(one, self.length), power(series([1.0, q], order), -self.length)
        )


@dataclass(frozen=True)
class _Convolution(LawWithPsi):
    """A free convolution, found by subordination.

    With q(z) = ψ(z)/(z·(1 + ψ(z))) there are points z_1 and z_2 such that q(z) is
    q_1(z_1) times (plus) q_2(z_2). They solve x_1 = x + H_2(x_2), x_2 = x + H_1(x_1),
    with x = log z and H = log q for the product, x = 1/z and H = -q for the sum.
    """

    first: Law
    second: Law
    join: ClassVar[np.ufunc]
    # What differs between products and sums, in the coordinate x of each.
    _h: ClassVar[Callable]  # H from q
    _moved: ClassVar[Callable]  # z, moved by h in x
    _way: ClassVar[Callable]  # by how much z is moved to z_1
    _rate: ClassVar[Callable]  # H'(x) over dlog q/dlog z
    _bracket: ClassVar[Callable]  # around H_2 on the negative axis, from H_2 at z = 0

    @property
    def mean(self) -> float:
        return float(self.join(self.first.mean, self.second.mean))

    def bounds(self):
        return self.join(self.first.support(), self.second.support())

    def psi_negative(self, z):
        z_1 = self._start(z)
        q_1 = _q(self.first, z_1)
        q = self.join(q_1, _q(self.second, self._moved(z, self._h(q_1))))
        return z * q / (1 - z * q)

    def psi_upper(self, z):
        def newton(z_1, z):
            _, gap, s_1, s_2 = self._equation(z_1, z)
            return self._moved(z_1, -gap / (1 - s_1 * s_2))

        z_1 = follow(newton, z, self._start(-np.abs(z)))
        q, _, s_1, s_2 = self._equation(z_1, z)
        slope = (s_1 + s_2 + 2 * s_1 * s_2) / (1 - s_1 * s_2)  # H'(x)
        value = z * q / (1 - z * q)
        return value, value * (1 + value) * (1 + slope / self._rate(z, q)) / z

    def _start(self, z):
        """Return z_1 for real z < 0, where H_2 rises with x_2, or falls."""

        def excess(h_2, z):
            h_1 = self._h(_q(self.first, self._moved(z, h_2)))
            return h_2 - self._h(_q(self.second, self._moved(z, h_1)))

        low, high = self._bracket(self._h(self.second.mean))
        return self._moved(z, bracketed_root(excess, low + 0 * z, high + 0 * z, z))

    def _equation(self, z_1, z):
        """Return q, what z_1 leaves of its equation, H_1'(x_1) and H_2'(x_2)."""
        q_1, e_1 = _q_and_slope(self.first, z_1)
        z_2 = self._moved(z, self._h(q_1))
        q_2, e_2 = _q_and_slope(self.second, z_2)
        slopes = e_1 * self._rate(z_1, q_1), e_2 * self._rate(z_2, q_2)
        return self.join(q_1, q_2), self._way(z, z_1) - self._h(q_2), *slopes


class FreeProduct(_Convolution):
    """The free multiplicative convolution of two laws: S = S_1 · S_2."""

    join, _h = np.multiply, np.log
    _moved = staticmethod(lambda z, h: z * np.exp(h))
    _way = staticmethod(lambda z, z_1: np.log(z_1 / z))
    _rate = staticmethod(lambda z, q: 1.0)
    # Moved to the left where H_2 is less.
    _bracket = staticmethod(lambda h: (h - 1, h + 1))

    @property
    def mass_at_zero(self) -> float:
        return max(self.first.mass_at_zero, self.second.mass_at_zero)

    def atoms(self):
        points, weights = _heavy_pairs(self)
        seen, (zero, mass) = points > 0, super().atoms()
        return PointMasses(np.r_[zero, points[seen]], np.r_[mass, weights[seen]])

    def as_words(self):
        for words, data in ((self.first, self.second), (self.second, self.first)):
            if isinstance(words, WordLaw) and isinstance(data, MarchenkoPastur):
                return words.n_generators, words.length, data.aspect
        return None

    def inverse_s(self, order):
        return times(self.first.inverse_s(order), self.second.inverse_s(order))


class _ProductWithS(FreeProduct):
    """A free product whose first law states S: z = z_2·S_1(w), at the same w and u."""

    first: LawWithS
    psi_upper, psi_negative = Law.psi_upper, Law.psi_negative

    def curve(self, u):
        z, w, slope, w_slope = self.second.curve(u)
        s, s_slope = self.first.s_and_slope(w)
        return z * s, w, slope + s_slope * w_slope, w_slope

    def axis(self, v):
        z, w, u = self.second.axis(v)
        end = -(1 - self.first.mass_at_zero)  # where S_1 is infinite
        s, _ = self.first.s_and_slope(np.where(w > end, w, 0.5 * end))
        return np.where(w > end, z * s, -np.inf), w, u


class FreeSum(_Convolution):
    """The free additive convolution of two laws."""

    join, _h, _rate = np.add, np.negative, np.multiply
    _moved = staticmethod(lambda z, h: z / (1 + z * h))
    _way = staticmethod(lambda z, z_1: 1 / z_1 - 1 / z)
    _bracket = staticmethod(lambda h: ((1 + 1e-9) * h, 0.0))

    @property
    def mass_at_zero(self) -> float:
        return max(0.0, self.first.mass_at_zero + self.second.mass_at_zero - 1)

    def atoms(self):
        return _heavy_pairs(self)

    def moments(self, order):
        first, second = self.first.moments(order), self.second.moments(order)
        return from_cumulants(cumulants(first) + cumulants(second))


def free_sum(*laws: Law) -> Law:
    """Return the free additive convolution of one or more laws."""
    if not laws:
        raise ValueError("`free_sum` needs at least one law.")
    return functools.reduce(FreeSum, laws)


def free_product(*laws: Law) -> Law:
    """Return the free multiplicative convolution of one or more laws."""
    if not laws:
        raise ValueError("`free_product` needs at least one law.")
    # The order does not matter; laws that state S are the cheapest to multiply.
    factors = [factor for law in laws for factor in _factors(law)]
    with_s = [factor for factor in factors if isinstance(factor, LawWithS)]
    others = [factor for factor in factors if not isinstance(factor, LawWithS)]
    product = functools.reduce(FreeProduct, others) if others else with_s.pop()
    for law in reversed(with_s):
        product = _ProductWithS(law, product)
    return product


def _factors(law: Law) -> list[Law]:
    if isinstance(law, FreeProduct):
        return _factors(law.first) + _factors(law.second)
    return [law]


def _q(law: Law, z: Computed) -> Computed:
    """Return q(z) = ψ(z)/(z·(1 + ψ(z))) for real z < 0."""
    value = law.psi_negative(z)
    return value / (z * (1 + value))


def _q_and_slope(law: Law, z: Computed) -> tuple[Computed, Computed]:
    """Return q(z) and dlog q/dlog z for complex z."""
    value, slope = law.psi_and_slope(z)
    return value / (z * (1 + value)), z * slope / (value * (1 + value)) - 1


def _heavy_pairs(law: FreeProduct | FreeSum) -> PointMasses:
    """Return the atoms of masses that add up to more than 1, ascending."""
    (u, first), (v, second) = law.first.atoms(), law.second.atoms()
    heavy = first > 1 - second.max(initial=0)
    heavier = second > 1 - first.max(initial=0)
    excess = np.add.outer(first[heavy], second[heavier]) - 1
    points, seen = law.join.outer(u[heavy], v[heavier]), excess > 1e-12
    order = np.argsort(points[seen])
    return PointMasses(points[seen][order], excess[seen][order])
