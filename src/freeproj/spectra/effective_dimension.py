"""The effective dimension of the averaged kernel: measured, predicted, in the limit.

The effective dimension of a kernel K with eigenvalues k_1, …, k_p at ridge γ is
d_eff = Tr K(K + γ)^-1 = Σ k_i/(k_i + γ). For words of length ℓ over n generators and
data X (d dimensions, p samples, aspect c = p/d) free probability predicts it.
(Section 4 and appendix C of the paper.)

Predictions are d_eff/d, the root that the paper's theorem names; d_eff/p = (d_eff/d)/c,
and the two agree only for c = 1.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float, Num

from freeproj.spectra.checks import (
    Computed,
    Values,
    as_given,
    data_matrix,
    non_negative,
    parameter,
)
from freeproj.spectra.roots import increasing_root

__all__ = ["EffectiveRidge", "LimitDerivatives", "as_solved", "at_effective_ridge"]
__all__ += ["data_eigenvalues", "effective_dimension", "effective_ridge"]
__all__ += ["limit_derivatives", "limit_effective_dimension"]
__all__ += ["predicted_effective_dimension"]

_AnyArray = Array | np.ndarray


class EffectiveRidge(NamedTuple):
    """The ridge that does to the data's own kernel what γ does to the averaged one."""

    ridge: np.ndarray | float  # κ
    share: np.ndarray | float  # y = d_eff/d
    drag: np.ndarray | float  # dlog γ/dlog κ - 1 ≥ 0

    @property
    def elasticity(self) -> np.ndarray | float:
        """dlog κ/dlog γ, in (0, 1]."""
        return 1 / (1 + self.drag)


class LimitDerivatives(NamedTuple):
    """Derivatives of the limit of d_eff/d."""

    ridge: np.ndarray | float  # ∂/∂γ
    length: np.ndarray | float  # ∂/∂ℓ with n^ℓ held fixed


def effective_dimension(
    eigenvalues: Num[_AnyArray, "*trials p"], ridge: Values
) -> np.ndarray | float:
    """Return d_eff = Σ k/(k + ridge) over the last axis, not normalised.

    The result has the shape (*trials, *ridge.shape).
    """
    k = non_negative(eigenvalues, "eigenvalues")
    ridge = parameter(ridge, "ridge", above=0)
    k = k.reshape(*k.shape[:-1], *(1,) * ridge.ndim, k.shape[-1])
    return as_given(np.sum(k / (k + ridge[..., None]), axis=-1))


def limit_effective_dimension(
    ridge: Values, n_generators: Values = 16, length: Values = 2, aspect: Values = 1.0
) -> np.ndarray | float:
    """Return the limit of d_eff/d for data X_ij ~ N(0, 1/d) as d → ∞, p/d → c.

    It is the root y in (0, min(1, c)) of γ·y·(1 - y/n)^ℓ = (1 - y)^(ℓ+1)·(c - y).
    All arguments broadcast; n and ℓ may be real, n = ∞ included, and ℓ = 0 is the
    kernel X^T X itself. The relative error is below 1e-12.
    """
    return as_given(_limit_root(ridge, n_generators, length, aspect)[0])


def limit_derivatives(
    ridge: Values, n_generators: Values = 16, length: Values = 2, aspect: Values = 1.0
) -> LimitDerivatives:
    """Return the derivatives of `limit_effective_dimension` by ridge and by length.

    Along ℓ the number of words n^ℓ is held fixed, so that n = n_w^(1/ℓ) falls.
    """
    _, by_log_ridge, along_length = _limit_root(ridge, n_generators, length, aspect)
    by_ridge = by_log_ridge / np.asarray(ridge, dtype=float)
    return LimitDerivatives(as_given(by_ridge), as_given(by_log_ridge * along_length))


def predicted_effective_dimension(
    X: Num[_AnyArray, "d p"] | Num[_AnyArray, " d"],
    ridge: Values,
    n_generators: Values = 16,
    length: Values = 2,
) -> np.ndarray | float:
    """Return the predicted d_eff/d for any data.

    With t the eigenvalues of XX^T and κ = γ·((1 - y/n)/(1 - y))^ℓ, an effective
    ridge, it is the y with y = mean of t/(t + κ).

    Args:
        X: the data matrix, one sample per column, not rescaled; or all d eigenvalues
            of XX^T, zeros included.
    """
    t = non_negative(X, "X") if np.ndim(X) == 1 else data_eigenvalues(np.asarray(X))
    return effective_ridge(t, ridge, n_generators, length).share


def effective_ridge(
    eigenvalues: Num[_AnyArray, " d"],
    ridge: Values,
    n_generators: Values = 16,
    length: Values = 2,
) -> EffectiveRidge:
    """Return κ, with which the data's own kernel acts as the averaged one at ridge γ.

    κ = γ·((1 - y/n)/(1 - y))^ℓ with y = mean of t/(t + κ), t the d eigenvalues of XX^T,
    zeros included. The other arguments broadcast.
    """
    t = non_negative(eigenvalues, "eigenvalues")
    ridge, n, ell = np.broadcast_arrays(
        parameter(ridge, "ridge", above=0),
        parameter(n_generators, "n_generators", least=1, infinite=True),
        parameter(length, "length", least=0),
    )
    log_ridge, n, ell = np.log(ridge).ravel(), n.ravel(), ell.ravel()

    def residual(log_kappa):
        # Long words may send the search far off; near the root the bound has no effect.
        kappa = np.exp(np.minimum(log_kappa, 700.0))
        found, _, drag = at_effective_ridge(t, kappa, n, ell)
        return found - np.log(kappa) + log_kappa - log_ridge, 1 + drag

    kappa = np.exp(increasing_root(residual, log_ridge))
    _, share, drag = at_effective_ridge(t, kappa, n, ell)
    return as_solved(ridge.shape, kappa, share, drag)


def as_solved(shape: tuple[int, ...], *solved: np.ndarray) -> EffectiveRidge:
    """Return κ, y and the drag in the shape of the arguments."""
    return EffectiveRidge(*(as_given(each.reshape(shape)) for each in solved))


def data_eigenvalues(X: Num[_AnyArray, "d p"]) -> Float[np.ndarray, " d"]:
    """Return all d eigenvalues of XX^T, ascending, zeros included."""
    data = data_matrix(X, single=True)
    nonzero = np.linalg.svd(data, compute_uv=False)[::-1] ** 2
    return np.pad(nonzero, (len(data) - len(nonzero), 0))


def _limit_root(
    ridge: Values, n_generators: Values, length: Values, aspect: Values
) -> tuple[Computed, Computed, Computed]:
    """Return y, ∂y/∂log γ and ∂h/∂ℓ at fixed n^ℓ, where h = 0 is the limit's equation.

    It is solved in u, where y = y_m·e^u/(1 + e^u), y_m = min(1, c).

    With t = 1/(1 + e^u) the logarithm of the equation becomes
    h(u) = log γ + u - log(|1 - c| + y_m·t) + ℓ·log((1 - y/n)/(1 - y)),
    1 - y = (1 - y_m) + y_m·t: no differences of nearly equal numbers, and h' ≥ 1.

    With q = 1/n, ∂h/∂ℓ at fixed n^ℓ is log((1-yq)/(1-y)) + yq·log(q)/(1-yq). The paper
    prints the second term with a plus sign before log n = -log q.
    """
    log_ridge = np.log(parameter(ridge, "ridge", above=0))
    q = 1 / parameter(n_generators, "n_generators", least=1, infinite=True)
    ell = parameter(length, "length", least=0)
    c = parameter(aspect, "aspect", above=0)
    largest = np.minimum(c, 1.0)
    # Constants of the loop below, which is all that costs time.
    one_less_largest, one_less_q, gap = 1 - largest, 1 - q, np.abs(1 - c)

    def residual(u):
        odds = np.exp(u)
        t = 1 / (1 + odds)
        moving = largest * t
        y, one_less_y, other = moving * odds, one_less_largest + moving, gap + moving
        words = ell * np.log1p(y * one_less_q / one_less_y)
        by_words = one_less_q / (one_less_y * (one_less_q + q * one_less_y))
        slope = 1 + y * t * (1 / other + ell * by_words)
        return log_ridge + u - np.log(other) + words, slope

    start = np.zeros(np.broadcast(log_ridge, q, ell, c).shape)
    u = increasing_root(residual, start)
    y, t = largest / (1 + np.exp(-u)), 1 / (1 + np.exp(u))
    one_less_y = one_less_largest + largest * t
    one_less_yq = one_less_q + q * one_less_y
    # q log q is 0 at q = 0, where n is infinite.
    q_log_q = q * np.log(np.where(q > 0, q, 1.0))
    along_length = np.log(one_less_yq / one_less_y) + y * q_log_q / one_less_yq
    return y, -y * t / residual(u)[1], along_length


def at_effective_ridge(
    t: np.ndarray, kappa: np.ndarray, n: np.ndarray, ell: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log γ, y and dlog γ/dlog κ - 1 for effective ridges κ (one axis).

    Everything is explicit in κ, and keeps its digits however small κ is.
    """
    q, kept = 1 / n, kappa[:, None] / (t + kappa[:, None])
    one_less_y = kept.mean(axis=-1)
    one_less_yq = (1 - q) + q * one_less_y
    log_ridge = np.log(kappa) - ell * np.log(one_less_yq / one_less_y)
    seen = t / (t + kappa[:, None])
    by_words = 1 / one_less_y - q / one_less_yq
    return log_ridge, seen.mean(axis=-1), ell * by_words * np.mean(kept * seen, axis=-1)
