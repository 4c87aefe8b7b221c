"""One word per environment: the kernel of what an agent sees in a rollout.

E environments have distinct words w_e and their own data X_e (d x p, spectrum t). Not
the average over words but the data themselves are pooled, λ(w_1)X_1, …, λ(w_E)X_E, and

    M = Σ_e λ(w_e) X_e X_e^T λ(w_e)^T .

In the limit of large d the conjugates of the data by *distinct* group elements are free
from each other, whatever the words. So M has the E-fold free additive convolution of
the data's distribution for every word length ℓ: what an agent sees has the same
spectrum, effective dimension and risk for all ℓ, unlike the averaged kernel. By
additive subordination, ridge γ acts in each environment like the larger ridge κ,

    y = mean of t/(t + κ),    γ = κ (1 - E·y)/(1 - y),    d_eff/d = E·y .
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Array, Num

from freeproj.spectra.checks import Values, as_given, non_negative, parameter
from freeproj.spectra.effective_dimension import EffectiveRidge
from freeproj.spectra.risk import TargetSpectrum, risk_at

__all__ = ["environment_ridge", "environment_risk"]

_STEPS = 64


def environment_ridge(
    eigenvalues: Num[Array | np.ndarray, " d"],
    ridge: Values,
    n_environments: Values = 64,
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
    low, high = np.log(gamma), np.log(gamma + count * t.mean())
    for _ in range(_STEPS):  # the left side rises with κ
        middle = 0.5 * (low + high)
        above = _ridge_of(t, np.exp(middle), count)[0] > gamma
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    kappa = np.exp(0.5 * (low + high))
    _, share, drag = _ridge_of(t, kappa, count)
    found = (kappa, count * share, 1 / (1 + drag))
    return EffectiveRidge(*(as_given(each.reshape(shape)) for each in found))


def environment_risk(
    spectrum: TargetSpectrum, ridge: Values, n_environments: Values = 64
) -> np.ndarray | float:
    """Return the predicted risk of one readout for all environments, on a fresh sample.

    `spectrum` is that of one environment's data and target. The sample is from one of
    these environments; what was learned in the others acts like a larger ridge.
    """
    solved = environment_ridge(spectrum.eigenvalues, ridge, n_environments)
    kappa, elasticity = (np.asarray(solved[k], dtype=float) for k in (0, 2))
    risks = risk_at(spectrum, kappa.ravel(), 1 / elasticity.ravel() - 1)
    return as_given(risks.reshape(kappa.shape))


def _ridge_of(t: np.ndarray, kappa: np.ndarray, count: np.ndarray) -> tuple:
    """Return γ (negative where no γ belongs to κ), y and dlog γ/dlog κ - 1."""
    seen = t / (t + kappa[:, None])
    y = seen.mean(axis=1)
    v = np.mean(seen * (1 - seen), axis=1)
    with np.errstate(divide="ignore"):
        drag = v * (count / (1 - count * y) - 1 / (1 - y))
    return kappa * (1 - count * y) / (1 - y), y, drag
