"""The risk of ridge regression with the averaged kernel, predicted from the data.

Regressing a target y on data X with K = X^T (A^ℓ)^T A^ℓ X fits H y, H = K(K + γ)^-1.
The risk on a fresh sample is estimated by generalised cross-validation,

    risk = (1/p)·|(I - H)y|² / (1 - Tr H/p)².

Let t_i be the eigenvalues of X^T X, a_i the components of y along its eigenvectors, κ
the effective ridge (`effective_ridge`) and s = dlog κ/dlog γ ≤ 1. For large d

    Tr H = Σ t_i/(t_i + κ),  |(I - H)y|² = Σ a_i²·κ/(t_i + κ)·(1 - s·t_i/(t_i + κ)).

Without words κ = γ and s = 1. Since s ≤ 1, the risk with words is never below the risk
without words at ridge κ: words cannot win.

What an agent sees in a rollout is not that average: E environments with distinct words
w_e show their own data X_e (d x p, spectrum t), and these are pooled, M = Σ_e λ(w_e)
X_e X_e^T λ(w_e)^T. For large d that is the E-fold free additive convolution of the
data's distribution, for every ℓ: ridge γ acts in each environment like κ,

    y = mean of t/(t + κ),    γ = κ (1 - E·y)/(1 - y),    d_eff/d = E·y .

The derivations are in the documentation (docs/kernel.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float, Num
from scipy.optimize import minimize_scalar

from freeproj.spectra.checks import (
    Number,
    Values,
    as_given,
    data_matrix,
    non_negative,
    parameter,
    real_array,
)
from freeproj.spectra.effective_dimension import (
    EffectiveRidge,
    as_solved,
    at_effective_ridge,
    effective_ridge,
)
from freeproj.spectra.roots import bracketed_root

__all__ = ["BestRidge", "Factors", "TargetSpectrum", "best_ridge", "environment_ridge"]
__all__ += ["environment_risk", "factorise", "leave_one_out", "predicted_risk"]
__all__ += ["risk_at", "spectrum_of"]

_AnyArray = Array | np.ndarray

# The search begins this far below the smallest eigenvalue, where the risk is that of
# ridge 0, and ends this far above the largest, where it is that of a constant.
_BELOW, _ABOVE, _STEP = 1e-10, 1e8, 0.25
_SAME = 1e-6  # a relative difference in risk that counts as none


class TargetSpectrum(NamedTuple):
    """Data and target as the risk needs them."""

    eigenvalues: Float[np.ndarray, " d"]  # of XX^T, ascending, zeros included
    power: Float[np.ndarray, " d"]  # squared components a_i² of y
    rest: float  # squared norm of y outside the rows of X
    n_samples: int
    intercept: bool = False  # whether the mean was taken out of data and target

    @property
    def zero_risk(self) -> float:
        """The risk without the data: of predicting zero, or the mean with intercept."""
        total = float(self.power.sum()) + self.rest
        return total * self.n_samples / (self.n_samples - self.intercept) ** 2


class BestRidge(NamedTuple):
    """The ridge of least predicted risk, and that risk.

    Ridge 0 is the ridgeless limit: least squares, or interpolation where there are more
    dimensions than samples. Ridge ∞ means that a constant predicts best.
    """

    ridge: float
    risk: float


class Factors(NamedTuple):
    """Data as left @ along with orthonormal rows, and the target; no rank is wasted."""

    left: Float[np.ndarray, "d rank"]  # orthogonal columns
    along: Float[np.ndarray, "rank p"]
    target: Float[np.ndarray, "p outputs"]
    intercept: bool

    @property
    def eigenvalues(self) -> Float[np.ndarray, " rank"]:
        """The positive eigenvalues of XX^T."""
        return np.sum(self.left**2, axis=0)

    @property
    def is_full(self) -> bool:
        """Whether the data can fit every target."""
        rank, n_samples = self.along.shape
        return rank == n_samples - self.intercept

    @property
    def spectrum(self) -> TargetSpectrum:
        """What the predicted risk needs."""
        (dim, rank), along, y = self.left.shape, self.along, self.target
        power = np.sum((along @ y) ** 2, axis=1)
        rest = 0.0 if self.is_full else max(0.0, float(np.sum(y**2) - power.sum()))
        both = (self.eigenvalues, power)
        t, power = (np.pad(each[::-1], (dim - rank, 0)) for each in both)
        return TargetSpectrum(t, power, rest, along.shape[1], self.intercept)

    def mixed(self, words: Float[np.ndarray, "d d"]) -> Factors:
        """Return the factors of words @ data."""
        left, roots, turned = np.linalg.svd(words @ self.left, full_matrices=False)
        return self._replace(left=left * roots, along=turned @ self.along)


def spectrum_of(
    X: Num[_AnyArray, "d p"],
    target: Num[_AnyArray, "samples *outputs"],  # noqa: F821
    *,
    intercept: bool = False,
) -> TargetSpectrum:
    """Return what the risk needs of data X, one sample per column, and its target.

    Several outputs (columns of the target) are added up. With `intercept` the means of
    data and target are taken out, and one degree of freedom is counted for them.
    """
    return factorise(X, target, intercept=intercept).spectrum


def factorise(X: Values, target: Values, *, intercept: bool) -> Factors:
    """Return the singular value decomposition that all of this module needs.

    Not from XX^T, which would square the condition number.
    """
    data = data_matrix(X, single=True)
    y = real_array(target, "target")
    y = y[:, None] if y.ndim == 1 else y
    if y.shape[0] != data.shape[1] or y.ndim != 2:
        rule = f"one value (or row) for each of the {data.shape[-1]} samples of `X`"
        raise ValueError(f"`target` must have {rule}, got shape {np.shape(target)}.")
    if intercept and data.shape[1] < 2:
        raise ValueError("An intercept needs at least two samples, got 1.")
    if intercept:
        data = data - data.mean(axis=1, keepdims=True)
        y = y - y.mean(axis=0)
    left, roots, along = np.linalg.svd(data, full_matrices=False)
    seen = roots > roots[0] * max(data.shape) * np.finfo(float).eps
    return Factors((left * roots)[:, seen], along[seen], y, intercept)


def predicted_risk(
    spectrum: TargetSpectrum,
    ridge: Values,
    n_generators: Values = 16,
    length: Values = 2,
) -> np.ndarray | float:
    """Return the predicted mean squared error on a fresh sample, noise included.

    The arguments broadcast; `length` 0 is regression on X itself.
    """
    t = spectrum.eigenvalues
    return _risk_with(spectrum, effective_ridge(t, ridge, n_generators, length))


def leave_one_out(factors: Factors, ridge: Number) -> Float[np.ndarray, " p"]:
    """Return each sample's squared error when all the others are fitted: a measurement.

    The error of ridge regression without sample i is that with it over 1 - H_ii. Ridges
    0 and ∞ are those of `BestRidge`.
    """
    _, along, y, intercept = factors
    t = factors.eigenvalues
    # At ridge 0: what the limit leaves, up to a factor that cancels.
    kept = 1 / (1 + t / ridge) if ridge > 0 else t.min() / t * factors.is_full
    residual = along.T @ (kept[:, None] * (along @ y))
    slack = kept @ along**2
    if not factors.is_full:
        residual += y - along.T @ (along @ y)
        slack += 1 - intercept / len(y) - np.sum(along**2, axis=0)
    return np.sum(residual**2, axis=1) / slack**2


def risk_at(
    spectrum: TargetSpectrum, kappa: np.ndarray, drag: np.ndarray
) -> np.ndarray:
    """Return the risk at effective ridges κ, `drag` = 1/s - 1.

    Written without differences of nearly equal numbers: 1 - s·t/(t + κ) is
    s·(drag + κ/(t + κ)), and p - Tr H is summed over the directions of the data.
    """
    t, power, rest, n_samples, intercept = spectrum
    kept = kappa[:, None] / (t + kappa[:, None])
    left = (kept * (drag[:, None] + kept)) @ power / (1 + drag) + rest
    seen = t > 0
    freedom = n_samples - intercept - seen.sum() + kept[:, seen].sum(axis=1)
    return left * n_samples / freedom**2


def best_ridge(
    spectrum: TargetSpectrum, n_generators: Number = 16, length: Number = 2
) -> BestRidge:
    """Return the ridge of least predicted risk, searched in κ.

    κ is about γ^(1/(ℓ+1)): a search in the ridge γ itself would end too early for long
    words.
    """
    n = np.array([parameter(n_generators, "n_generators", least=1, infinite=True)])
    ell = np.array([parameter(length, "length", least=0)])
    t = spectrum.eigenvalues
    if not t.any():
        return BestRidge(np.inf, spectrum.zero_risk)

    def risk(log_kappa):
        kappa = np.exp(np.atleast_1d(log_kappa))
        return risk_at(spectrum, kappa, at_effective_ridge(t, kappa, n, ell)[2])

    low, high = np.log(t[t > 0].min() * _BELOW), np.log(t.max() * _ABOVE)
    grid, step = np.linspace(low, high, int((high - low) / _STEP) + 2, retstep=True)
    risks = risk(grid)
    least = (1 + _SAME) * risks.min()
    if spectrum.zero_risk <= least:
        return BestRidge(np.inf, spectrum.zero_risk)
    if risks[0] <= least:
        return BestRidge(0.0, float(risks[0]))
    near = grid[int(np.argmin(risks))]
    bounds = (near - step, near + step)
    found = minimize_scalar(lambda x: risk(x)[0], bounds=bounds, method="bounded")
    (log_ridge,), *_ = at_effective_ridge(t, np.exp(np.array([found.x])), n, ell)
    return BestRidge(float(np.exp(log_ridge)), float(found.fun))


def environment_ridge(
    eigenvalues: Num[_AnyArray, " d"], ridge: Values, n_environments: Values = 64
) -> EffectiveRidge:
    """Return κ, d_eff/d of the pooled data, and dlog κ/dlog γ.

    Args:
        eigenvalues: the d eigenvalues of X_e X_e^T, alike in every environment.
    """
    t = non_negative(eigenvalues, "eigenvalues")
    gamma, count = np.broadcast_arrays(
        parameter(ridge, "ridge", above=0),
        parameter(n_environments, "n_environments", least=1),
    )
    shape, gamma, count = gamma.shape, gamma.ravel(), count.ravel()

    def excess(log_kappa, gamma, count):
        return _ridge_of(t, np.exp(log_kappa), count)[0] - gamma

    low, high = np.log(gamma) - 1e-9, np.log(gamma + count * t.mean()) + 1e-9
    kappa = np.exp(bracketed_root(excess, low, high, gamma, count))
    _, share, drag = _ridge_of(t, kappa, count)
    return as_solved(shape, kappa, count * share, drag)


def environment_risk(
    spectrum: TargetSpectrum, ridge: Values, n_environments: Values = 64
) -> np.ndarray | float:
    """Return the predicted risk of one readout for all environments, on a fresh sample.

    `spectrum` is that of one environment's data and target. The sample is from one of
    these environments; what was learned in the others acts like a larger ridge.
    """
    t = spectrum.eigenvalues
    return _risk_with(spectrum, environment_ridge(t, ridge, n_environments))


def _risk_with(spectrum: TargetSpectrum, solved: EffectiveRidge) -> np.ndarray | float:
    kappa, drag = np.asarray(solved.ridge, float), np.asarray(solved.drag, float)
    return as_given(risk_at(spectrum, kappa.ravel(), drag.ravel()).reshape(kappa.shape))


def _ridge_of(t: np.ndarray, kappa: np.ndarray, count: np.ndarray) -> tuple:
    """Return γ (negative where no γ belongs to κ), y and dlog γ/dlog κ - 1."""
    seen, kept = t / (t + kappa[:, None]), kappa[:, None] / (t + kappa[:, None])
    y, v = seen.mean(axis=1), np.mean(seen * kept, axis=1)
    with np.errstate(divide="ignore"):
        drag = v * (count / (1 - count * y) - 1 / (1 - y))
    return kappa * (1 - count * y) / (1 - y), y, drag
