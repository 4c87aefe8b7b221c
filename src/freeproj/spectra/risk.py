"""The risk of ridge regression with the averaged kernel, for your own target.

Kernel ridge regression with K = X^T (A^ℓ)^T A^ℓ X fits H y, H = K(K + γ)^-1. Its risk
on a fresh sample is estimated by generalised cross-validation,

    risk = (1/p)·|(I - H)y|² / (1 - Tr H/p)²,

and random bases that are free from the data turn both parts into functions of the
data's own spectrum. Let t_i be the eigenvalues of X^T X, a_i the components of y along
its eigenvectors, and κ the effective ridge (`effective_ridge`). In the limit of large d

    γ(K + γ)^-1  ≈  κ(X^T X + κ)^-1,

so Tr H = Σ t_i/(t_i + κ), and, differentiating by γ, with s = dlog κ/dlog γ,

    |(I - H)y|²  =  Σ a_i²·κ/(t_i + κ)·(1 - s·t_i/(t_i + κ)).

Without words κ = γ and s = 1: the usual Σ a_i² (κ/(t_i + κ))². The derivation is in the
documentation (Theory).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float, Num
from scipy.optimize import minimize_scalar

from freeproj.spectra.checks import Number, Values, as_given, data_matrix, real_array
from freeproj.spectra.effective_dimension import effective_ridge

__all__ = ["BestRidge", "TargetSpectrum", "best_ridge", "predicted_risk", "spectrum_of"]

_AnyArray = Array | np.ndarray


class TargetSpectrum(NamedTuple):
    """Data and target as the risk needs them."""

    eigenvalues: Float[np.ndarray, " d"]  # of XX^T, ascending, zeros included
    power: Float[np.ndarray, " d"]  # squared components a_i² of y
    rest: float  # squared norm of y outside the rows of X
    n_samples: int

    @property
    def zero_risk(self) -> float:
        """The risk of predicting zero: the mean square of the target."""
        return (float(self.power.sum()) + self.rest) / self.n_samples


class BestRidge(NamedTuple):
    """The ridge of least predicted risk, and that risk."""

    ridge: float
    risk: float


def spectrum_of(
    X: Num[_AnyArray, "d p"],
    target: Num[_AnyArray, "samples *outputs"],  # noqa: F821
) -> TargetSpectrum:
    """Return what the risk needs of data X, one sample per column, and its target.

    Several outputs (columns of the target) are added up. From the d x d matrix XX^T if
    there are more samples than dimensions, from the p x p matrix X^T X otherwise.
    """
    data = data_matrix(X)
    y = real_array(target, "target")
    y = y[:, None] if y.ndim == 1 else y
    if data.ndim != 2 or y.shape[0] != data.shape[1] or y.ndim != 2:
        raise ValueError(
            f"`target` must have one value (or row) for each of the {data.shape[-1]} "
            f"samples of `X`, got shape {np.shape(target)}."
        )
    dim, n_samples = data.shape
    if n_samples >= dim:
        t, vectors = np.linalg.eigh(data @ data.T)
        along = vectors.T @ (data @ y)  # √t_i a_i
        power = np.sum(along**2, axis=1) / np.maximum(t, np.finfo(float).tiny)
    else:
        t, vectors = np.linalg.eigh(data.T @ data)
        power = np.sum((vectors.T @ y) ** 2, axis=1)
    seen = t > t[-1] * max(dim, n_samples) * np.finfo(float).eps
    t, power = np.where(seen, t, 0.0), np.where(seen, power, 0.0)
    t, power = (np.pad(each, (dim - len(t), 0)) for each in (t, power))
    rest = max(0.0, float(np.sum(y**2) - power.sum()))
    return TargetSpectrum(t, power, rest, n_samples)


def predicted_risk(
    spectrum: TargetSpectrum,
    ridge: Values,
    n_generators: Values = 16,
    length: Values = 2,
) -> np.ndarray | float:
    """Return the predicted mean squared error on a fresh sample, noise included.

    The arguments broadcast; `length` 0 is regression on X itself.
    """
    t, power, rest, n_samples = spectrum
    kappa, share, elasticity = map(
        np.asarray, effective_ridge(t, ridge, n_generators, length)
    )
    kept = kappa[..., None] / (t + kappa[..., None])
    left = kept * (1 - elasticity[..., None] * (1 - kept)) @ power + rest
    freedom = 1 - share * len(t) / n_samples
    return as_given(left / n_samples / freedom**2)


def best_ridge(
    spectrum: TargetSpectrum, n_generators: Number = 16, length: Number = 2
) -> BestRidge:
    """Return the ridge of least predicted risk, over fourteen orders of magnitude."""
    middle = np.log(spectrum.eigenvalues.mean())
    grid = middle + np.linspace(-16, 16, 65)
    risks = predicted_risk(spectrum, np.exp(grid), n_generators, length)
    near = grid[int(np.argmin(risks))]
    found = minimize_scalar(
        lambda log_ridge: predicted_risk(
            spectrum, np.exp(log_ridge), n_generators, length
        ),
        bounds=(near - 0.5, near + 0.5),
        method="bounded",
    )
    return BestRidge(float(np.exp(found.x)), float(found.fun))
