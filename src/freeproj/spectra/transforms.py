"""The transforms of a law on [0, ∞), and how one is found from another.

For a law μ with mean m > 0 and mass a at zero:

    G(z) = ∫ 1/(z - t) μ(dt)           Cauchy transform,   `cauchy`
    ψ(z) = ∫ zt/(1 - zt) μ(dt)         = G(1/z)/z - 1,     `psi`
    χ(ψ(z)) = z                        ψ's inverse,        `chi`, on (-(1 - a), 0)
    S(w) = (1 + w)/w · χ(w)            S-transform,        `s_transform`

G and ψ take negative and non-real arguments. (Section 4 of the paper.) The laws
themselves are in `freeproj.spectra.laws`. Each is a curve u ↦ (z, w = ψ(z)): a law that
states ψ has u = z (`LawWithPsi`), one that states S has u = w (`LawWithS`). On the
negative axis z and w are monotone in u and a bracketed root is safe. From there u is
followed along a circle around zero into the complex plane: ψ is analytic off [0, ∞), so
that no choice between roots ever arises.

Moments m_k, free cumulants k_j and the S-transform follow from each other by Lagrange's
formula: power series, as arrays of coefficients from order 0 on.
"""

import abc
from collections.abc import Callable
from typing import Any

import numpy as np

from freeproj.spectra import facts
from freeproj.spectra.checks import Computed, Number, Values, as_given
from freeproj.spectra.roots import bracketed_root

__all__ = ["Law", "LawWithPsi", "LawWithS", "cumulants", "follow", "from_cumulants"]
__all__ += ["power", "series", "times"]

# A step along the circle brings z this factor closer to the cut [0, ∞); where that is
# not enough, smaller steps are tried.
_APPROACH = 0.5


class Law(abc.ABC):
    """A probability law on [0, ∞) with its transforms."""

    mean: float
    mass_at_zero: float = 0.0

    def cauchy(self, z: Values | complex) -> Any:
        """Return G(z) for z off [0, ∞)."""
        z = _off_the_cut(z)
        return as_given((1 + self.psi(1 / z)) / z)

    def psi(self, z: Values | complex) -> Any:
        """Return ψ(z) for z off [0, ∞); negative z give values in (-1, 0)."""
        z = _off_the_cut(z)
        if np.isrealobj(z):
            return as_given(self.psi_negative(z))
        return as_given(self.psi_and_slope(z)[0])

    def chi(self, w: Values) -> Any:
        """Return χ(w) < 0, the inverse of ψ, for real w in (-(1 - mass at 0), 0)."""
        w = np.asarray(w, dtype=np.float64)
        low = -(1 - self.mass_at_zero)
        if not ((w > low) & (w < 0)).all():
            raise ValueError(f"χ and S take real w in ({low:g}, 0), got {w}.")
        return as_given(self.chi_negative(w))

    def s_transform(self, w: Values) -> Any:
        """Return S(w) = (1 + w)/w · χ(w) for real w in (-(1 - mass at 0), 0)."""
        w = np.asarray(w, dtype=np.float64)
        return as_given((1 + w) / w * self.chi(w))

    density, support = facts.density, facts.support
    moment, sample = facts.moment, facts.sample

    def atoms(self) -> facts.PointMasses:
        """Return the points that have a positive mass."""
        zero = np.array([self.mass_at_zero] if self.mass_at_zero else [])
        return facts.PointMasses(np.zeros(len(zero)), zero)

    def as_words(self) -> tuple[Any, Any, Any] | None:
        """Return (n, ℓ, aspect) of a word law, Marchenko–Pastur, or their product."""
        return None

    # A law states one of these two; each is found from the other.
    def moments(self, order: int) -> np.ndarray:
        """Return m_0, …, m_order: m_k = (1/k) [w^(k-1)] ((1 + w)/S)^k."""
        base = times(series([1.0, 1.0], order), self.inverse_s(order))
        found = [power(base, k)[k - 1] / k for k in range(1, order + 1)]
        return np.array([1.0, *found])

    def inverse_s(self, order: int) -> np.ndarray:
        """Return 1/S(w) as a power series, where S/(1 + w) = χ(w)/w."""
        psi = self.moments(order + 1)[1:]  # ψ(z)/z
        chi = [power(psi, -k)[k - 1] / k for k in range(1, order + 2)]  # χ(w)/w
        return power(times(series([1.0, 1.0], order), np.array(chi)), -1)

    @abc.abstractmethod
    def curve(self, u: Computed) -> tuple[Any, Any, Any, Any]:
        """Return z, w = ψ(z), dlog z/du and dw/du, for complex u."""

    @abc.abstractmethod
    def axis(self, v: Computed) -> tuple[Computed, Computed, Computed]:
        """Return z, w and u on the negative axis, where -z and -w rise with real v."""

    def psi_negative(self, z: Computed) -> Computed:
        """Return ψ for real z < 0, unchecked."""
        return self._on_axis(z, 0)[1]

    def chi_negative(self, w: Computed) -> Computed:
        """Return χ on (-(1 - mass at 0), 0), unchecked."""
        return self._on_axis(w, 1)[0]

    def psi_and_slope(self, z: Computed) -> tuple[Computed, Computed]:
        """Return ψ and ψ' for complex z in either half plane."""
        below = np.imag(z) < 0  # ψ of a conjugate is ψ's conjugate
        both = self.psi_upper(np.where(below, np.conj(z), z))
        value, slope = (np.where(below, np.conj(each), each) for each in both)
        return value, slope

    def psi_upper(self, z: Computed) -> tuple[Computed, Computed]:
        """Return ψ and ψ' on the upper half plane and the negative axis."""

        def newton(u, z):
            at, _, slope, _ = self.curve(u)
            return u - np.log(at / z) / slope

        u = follow(newton, z, self._on_axis(-np.abs(z), 0)[2])
        _, w, slope, w_slope = self.curve(u)
        return w, w_slope / (z * slope)

    def _on_axis(self, value: Computed, which: int) -> tuple[Computed, ...]:
        """Return z, w and u where z (`which` = 0) or w (1) has a negative value."""

        def excess(v, value):
            with np.errstate(divide="ignore"):  # z is -∞ where w ends
                return np.log(self.axis(v)[which] / value)

        start = np.zeros(np.shape(value))
        return self.axis(bracketed_root(excess, start - 1, start + 1, value))


class LawWithPsi(Law):
    """A law that states ψ and ψ' (`psi_upper`): u = z."""

    def curve(self, u):
        value, slope = self.psi_and_slope(u)
        return u, value, 1 / u, slope

    def axis(self, v) -> tuple[Any, Any, Any]:
        z = -np.exp(v)
        return z, self.psi_negative(z), z

    def psi_negative(self, z):
        return self.psi_upper(z)[0]


class LawWithS(Law):
    """A law that states S: u = w."""

    @abc.abstractmethod
    def s_and_slope(self, w: Computed) -> tuple[Computed, Computed]:
        """Return S(w) and S'(w)/S(w), for real and complex w."""

    def curve(self, u):
        s, slope = self.s_and_slope(u)
        return u / (1 + u) * s, u, 1 / u - 1 / (1 + u) + slope, 1.0

    def axis(self, v):
        w = -(1 - self.mass_at_zero) / (1 + np.exp(-v))
        return self.chi_negative(w), w, w

    def chi_negative(self, w):
        return self.curve(w)[0]


def follow(
    newton: Callable[[Computed, Computed], Computed],
    z: Computed,
    start: Computed,
    approach: float = _APPROACH,
) -> Computed:
    """Follow a solution from -|z| along the circle to z in the upper half plane.

    Args:
        newton: (solution, z) ↦ solution after one of Newton's steps.
        start: the solution at -|z|.
        approach: the factor by which a step comes closer to the cut.
    """
    z, start = np.asarray(z), np.asarray(start)
    angle = np.abs(np.angle(z))  # -π where the imaginary part is -0
    halvings = np.log(np.pi / angle.min(initial=np.pi)) / -np.log(approach)
    n_steps = int(np.ceil(halvings))
    w: Any = start.astype(complex)
    last = w
    for k in range(1, n_steps + 1):
        between = np.pi * (angle / np.pi) ** (k / n_steps)
        for _ in range(2):
            w = newton(w, np.abs(z) * np.exp(1j * between))
    moving = np.ones(z.shape, bool)
    for _ in range(40):
        w, last = np.array(w), w
        w[moving] = newton(w[moving], z[moving])
        moving &= ~(np.abs(w - last) <= 1e-13 * np.abs(w))
        if not moving.any():
            return w
    # Rounding allows no more for the others.
    lost = ~(np.abs(w - last) <= 1e-9 * np.abs(w))
    if lost.any() and approach > 0.9:
        raise ArithmeticError("ψ was not found; is z too close to the spectrum?")
    if lost.any():
        w[lost] = follow(newton, z[lost], start[lost], np.sqrt(approach))
    return w


def _off_the_cut(z: Values | complex) -> Computed:
    z = np.asarray(z)
    if z.dtype.kind not in "iufc":
        raise ValueError(f"The argument must be a number, got {z}.")
    z = z.astype(complex if z.dtype.kind == "c" else float)
    if np.any((np.imag(z) == 0) & ~(np.real(z) < 0)):
        raise ValueError("The argument must lie off [0, ∞); add an imaginary part.")
    return z


def series(head: list[float], order: int) -> np.ndarray:
    """Return a polynomial as a series."""
    return np.pad(np.array(head, float), (0, order + 1))[: order + 1]


def times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product."""
    return np.convolve(a, b)[: len(a)]


def power(a: np.ndarray, exponent: Number) -> np.ndarray:
    """Return a power of a series with a[0] > 0, by its differential equation."""
    result = np.zeros(len(a))
    result[0] = a[0] ** float(exponent)
    for k in range(1, len(a)):
        j = np.arange(1, k + 1)
        terms = (exponent * j - (k - j)) * a[j] * result[k - j]
        result[k] = terms.sum() / (k * a[0])
    return result


def cumulants(moments: np.ndarray) -> np.ndarray:
    """Return free cumulants: k_j = -[z^j] M(z)^(1-j)/(j - 1), k_1 = m_1."""
    found = [-power(moments, 1 - j)[j] / (j - 1) for j in range(2, len(moments))]
    return np.array([0.0, *moments[1:2], *found])


def from_cumulants(cumulants: np.ndarray) -> np.ndarray:
    """Return moments: m_j = [z^j] C(z)^(j+1)/(j + 1), C = 1 + Σ k_j z^j."""
    one = cumulants + series([1.0], len(cumulants) - 1)
    return np.array([power(one, j + 1)[j] / (j + 1) for j in range(len(one))])
