"""What word length does to your own data: prediction, measurement and advice.

From a data matrix X (d dimensions x p samples) come the effective dimension that free
probability predicts and the one that random bases really give, for several lengths ℓ
and ridges γ at a fixed number of words n^ℓ. With a target, one value for each sample,
(ℓ, γ) is chosen by the predicted risk of ridge regression. The effective dimension
alone cannot choose: at a fixed number of words it falls with ℓ whatever the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np
from jaxtyping import Array, Float, Num

from freeproj.projection import words
from freeproj.spectra import advice_text
from freeproj.spectra.checks import Number, data_matrix, parameter
from freeproj.spectra.effective_dimension import (
    effective_dimension,
    predicted_effective_dimension,
)
from freeproj.spectra.kernel import Group, sample_root_singular_values
from freeproj.spectra.risk import TargetSpectrum, best_ridge, spectrum_of

__all__ = [
    "OwnDataReport",
    "RiskByLength",
    "default_trials",
    "own_data_report",
    "rescale",
]

_AnyArray = Array | np.ndarray
_Grid = Float[np.ndarray, "n_lengths n_ridges"]

# One trial's fluctuation of d_eff/d is of the order 1/d, so this many rows over all
# trials bring the measurement's standard error below 1/200.
_ROWS_DRAWN = 512
# From here on the prediction is off by less than 0.002, and bases take minutes to draw.
_LARGE = 500


class RiskByLength(NamedTuple):
    """The least predicted risk for each length; 0 stands for the data without words."""

    lengths: tuple[int, ...]
    ridges: Float[np.ndarray, " n_lengths"]  # where it is reached
    risks: Float[np.ndarray, " n_lengths"]  # mean squared error on a fresh sample
    zero_risk: float  # of predicting zero


@dataclass(frozen=True)
class OwnDataReport:
    """Effective dimensions d_eff/d of one data matrix; rows are ℓ, columns γ.

    `measured` is nan, and `n_trials` zero, where nothing was measured.
    """

    dim: int
    n_samples: int
    n_words: int
    n_trials: int
    group: Group
    lengths: tuple[int, ...]
    ridges: tuple[float, ...]
    without_words: Float[np.ndarray, " n_ridges"]  # of X^T X itself
    predicted: _Grid
    measured: _Grid
    standard_error: _Grid
    eigenvalues: Float[np.ndarray, " d"]  # of XX^T
    mean_share: float  # |mean sample|² as a share of the mean |sample|²
    risk: RiskByLength | None = None  # with a target only

    @property
    def aspect(self) -> float:
        """c = p/d: divides d_eff/d to give d_eff/p."""
        return self.n_samples / self.dim

    @property
    def n_generators(self) -> tuple[int, ...]:
        """n for each length, n^ℓ = n_words."""
        return tuple(words.generators_for(self.n_words, ell) for ell in self.lengths)

    def table(self) -> list[str]:
        """Return a table for people, predicted beside measured, line by line.

        The row ℓ = 0 is the data's own kernel X^T X, which is known exactly.
        """
        return advice_text.table(self)

    def advice(self) -> list[str]:
        """Return sentences on which (n, ℓ, ridge, d) to take."""
        return advice_text.advice(self)

    def warnings(self) -> list[str]:
        """Return sentences on why the numbers may mean less than they seem to."""
        return advice_text.warnings(self)

    def numbers(self) -> Mapping[str, np.ndarray]:
        """Return the report as plain arrays, to save and to draw."""
        names = ("dim", "n_samples", "n_words", "n_trials", "lengths", "ridges")
        grids = ("without_words", "predicted", "measured", "standard_error")
        return {name: np.asarray(getattr(self, name)) for name in names + grids} | {
            "n_generators": np.asarray(self.n_generators),
            "eigenvalues": self.eigenvalues,
        }


def own_data_report(
    X: Num[_AnyArray, "d p"],
    lengths: Sequence[int] = (1, 2, 4, 8),
    ridges: Sequence[Number] = (1e-2,),
    *,
    target: Num[_AnyArray, "samples *outputs"] | None = None,  # noqa: F821
    n_words: int = 256,
    n_trials: int | None = None,
    seed: int = 0,
    group: Group = "orthogonal",
    on_progress: Callable[[int], None] | None = None,
) -> OwnDataReport:
    """Predict and measure d_eff/d of data for each length and ridge.

    Args:
        X: one sample per column, used as it is; `rescale` gives it the paper's scale.
        target: one value, or row of values, for each sample, to predict from it.
        n_trials: draws of the bases per length; 0 measures nothing.
        on_progress: called with the number of bases drawn since the last call.
    """
    data = data_matrix(X)
    if data.ndim != 2:
        raise ValueError(f"`X` must be one matrix d x p, got shape {data.shape}.")
    gamma = parameter(list(ridges), "ridges", above=0)
    n_trials = default_trials(len(data)) if n_trials is None else n_trials
    _check_request(lengths, gamma, n_trials)
    n_words, lengths = int(n_words), [int(length) for length in lengths]
    n_generators = [words.generators_for(n_words, length) for length in lengths]
    nothing = np.zeros(data.shape[1])
    spectrum = spectrum_of(data, nothing if target is None else target)
    t = spectrum.eigenvalues
    predicted = predicted_effective_dimension(
        t, gamma, np.array(n_generators)[:, None], np.array(lengths)[:, None]
    )
    sampling: _Sampling = {
        "n_trials": n_trials,
        "group": group,
        "on_progress": on_progress,
    }
    families = list(zip(n_generators, lengths, strict=True))
    thin = _thin(data) if n_trials else data
    measured, error = _measure(thin, families, gamma, seed, sampling)
    return OwnDataReport(
        dim=data.shape[0],
        n_samples=data.shape[1],
        n_words=n_words,
        n_trials=n_trials,
        group=group,
        lengths=tuple(lengths),
        ridges=tuple(gamma.tolist()),
        without_words=np.asarray(predicted_effective_dimension(t, gamma, length=0)),
        predicted=np.asarray(predicted),
        measured=measured,
        standard_error=error,
        eigenvalues=t,
        mean_share=_mean_share(data),
        risk=None if target is None else _risk(spectrum, families),
    )


def rescale(X: Num[_AnyArray, "d p"]) -> tuple[Float[np.ndarray, "d p"], float]:
    """Return X in the paper's scale, and the factor that brought it there.

    The samples' mean squared norm becomes 1, as for entries from N(0, 1/d); only then
    do ridges mean the same from one data set to the next.
    """
    data = data_matrix(X)
    size = np.sqrt(np.vdot(data, data) * data.shape[-2] / data.size)
    if size == 0:
        raise ValueError("`X` must not be zero everywhere.")
    return data / size, float(1 / size)


def default_trials(dim: int) -> int:
    """Return how many draws of the bases give a standard error below 1/200.

    From d = 500 on it is 0: there the prediction is closer than that.
    """
    return max(2, math.ceil(_ROWS_DRAWN / dim)) if dim < _LARGE else 0


def _thin(data: np.ndarray) -> np.ndarray:
    """Return a d x min(d, p) matrix with the same XX^T.

    K has the same non-zero eigenvalues for any such matrix, whatever the bases.
    """
    if data.shape[1] <= data.shape[0]:
        return data
    return np.asarray(np.linalg.qr(data.T, mode="r")).T


def _mean_share(data: np.ndarray) -> float:
    mean = data.mean(axis=1)
    return float(mean @ mean * data.shape[1] / np.vdot(data, data))


def _risk(spectrum: TargetSpectrum, families: list[tuple[int, int]]) -> RiskByLength:
    every = [(1, 0), *families]
    found = [best_ridge(spectrum, n, length) for n, length in every]
    ridges, risks = np.array(found).T
    lengths = tuple(length for _, length in every)
    return RiskByLength(lengths, ridges, risks, spectrum.zero_risk)


class _Sampling(TypedDict):
    """How bases are drawn, whatever the family."""

    n_trials: int
    group: Group
    on_progress: Callable[[int], None] | None


def _measure(
    data: np.ndarray,
    families: list[tuple[int, int]],
    ridges: np.ndarray,
    seed: int,
    sampling: _Sampling,
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard error of d_eff/d; a row for each (n, ℓ)."""
    mean, error = np.full((2, len(families), len(ridges)), np.nan)
    if sampling["n_trials"] == 0:
        return mean, error
    for row, (n, length) in enumerate(families):
        values = sample_root_singular_values(
            data, n, length, seed=seed + row, **sampling
        )
        shares = np.asarray(effective_dimension(values**2, ridges)) / len(data)
        mean[row] = shares.mean(axis=0)
        if len(shares) > 1:
            error[row] = shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
    return mean, error


def _check_request(lengths: Sequence[int], ridges: np.ndarray, n_trials: int) -> None:
    if len(lengths) == 0 or ridges.size == 0:
        raise ValueError("`lengths` and `ridges` must each hold at least one value.")
    if n_trials < 0:
        raise ValueError(f"`n_trials` must not be negative, got {n_trials}.")
