"""Power series up to an order, and the moments of laws from them.

A series is the array of its coefficients from order 0 on. Moments m_k, free cumulants
k_j and the inverse χ of ψ(z) = Σ m_k z^k follow from each other by Lagrange's formula.
"""

from __future__ import annotations

import numpy as np

from freeproj.spectra.checks import Number

__all__ = [
    "cumulants",
    "from_cumulants",
    "from_inverse",
    "inverse",
    "over",
    "power",
    "series",
    "times",
]


def series(head: list[float], order: int) -> np.ndarray:
    """Return a polynomial as a series."""
    return np.pad(np.array(head, float), (0, order + 1))[: order + 1]


def times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product."""
    return np.convolve(a, b)[: len(a)]


def over(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the quotient."""
    return times(a, power(b, -1))


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


def inverse(moments: np.ndarray) -> np.ndarray:
    """Return w/χ(w), which multiplies like 1/S up to 1 + w; one order less."""
    psi = moments[1:]  # ψ(z)/z
    chi = [power(psi, -k)[k - 1] / k for k in range(1, len(moments))]  # χ(w)/w
    return over(series([1.0], len(psi) - 1), np.array(chi))


def from_inverse(inverse: np.ndarray) -> np.ndarray:
    """Return moments from w/χ(w): m_k = (1/k) [w^(k-1)] (w/χ(w))^k."""
    found = [power(inverse, k)[k - 1] / k for k in range(1, len(inverse))]
    return np.array([1.0, *found])
