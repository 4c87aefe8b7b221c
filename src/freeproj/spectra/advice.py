"""What word length does to your own data: prediction, measurement and advice.

From a data matrix X (d dimensions x p samples) come the effective dimension that free
probability predicts and the one that random bases really give, for several lengths ℓ
and ridges γ at a fixed number of words n^ℓ. With a target, one value for each sample,
also the risk of ridge regression at the best ridge of each length, predicted and
measured: the cost of words. Neither chooses a length. At a fixed number of words the
effective dimension falls with ℓ whatever the data, and words never lower the risk.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float, Num
from scipy import stats

from freeproj.projection import words
from freeproj.spectra import advice_text
from freeproj.spectra.checks import Number, data_matrix, parameter
from freeproj.spectra.effective_dimension import (
    effective_dimension,
    predicted_effective_dimension,
)
from freeproj.spectra.kernel import Group, check_draws, draw_words, in_threads
from freeproj.spectra.risk import (
    Factors,
    best_ridge,
    factorise,
    leave_one_out,
    spectrum_from,
)

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
    """Risk at the best ridge of each length; 0 stands for the data without words.

    `ridges` are 0 where no ridge is best, and ∞ where a constant is. The measurement
    leaves out each sample in turn, for each draw of the bases.
    """

    lengths: tuple[int, ...]
    ridges: Float[np.ndarray, " n_lengths"]
    risks: Float[np.ndarray, " n_lengths"]  # predicted squared error on a fresh sample
    measured: Float[np.ndarray, " n_lengths"]  # nan where no bases were drawn
    standard_error: Float[np.ndarray, " n_lengths"]  # of the measured, over samples
    zero_risk: float  # of predicting the mean, or zero where nothing was centred
    gain: float  # measured: by how much ℓ = 0 beats that constant
    gain_error: float  # its standard error
    predicts: bool  # whether the gain is significant (one-sided, 2.5 %)


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
    centered: bool
    scale: float  # by which the samples were multiplied
    risk: RiskByLength | None = None  # with a target only

    @property
    def aspect(self) -> float:
        """c = p/d: divides d_eff/d to give d_eff/p."""
        return self.n_samples / self.dim

    @property
    def n_generators(self) -> tuple[int, ...]:
        """n for each length, n^ℓ = n_words."""
        return tuple(words.generators_for(self.n_words, ell) for ell in self.lengths)

    # Lines and sentences for people: the numbers, what they say, what weakens them.
    table, advice = advice_text.table, advice_text.advice
    warnings = advice_text.warnings

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
    center: bool = True,
    rescale_samples: bool = True,
    n_words: int = 256,
    n_trials: int | None = None,
    seed: int = 0,
    group: Group = "orthogonal",
    on_progress: Callable[[int], None] | None = None,
) -> OwnDataReport:
    """Predict and measure d_eff/d of data for each length and ridge.

    Args:
        X: one sample per column.
        target: one value, or row of values, for each sample, to predict from it.
        center: subtract the mean sample and the mean target: fit an intercept.
        rescale_samples: bring the samples to mean squared norm 1 (`rescale`).
        n_trials: draws of the bases per length; 0 measures nothing.
        on_progress: called with the number of bases drawn since the last call.
    """
    data = data_matrix(X, single=True)
    gamma = parameter(list(ridges), "ridges", above=0)
    n_trials = default_trials(len(data)) if n_trials is None else n_trials
    if len(lengths) == 0 or gamma.size == 0:
        raise ValueError("`lengths` and `ridges` must each hold at least one value.")
    check_draws(group, n_trials=(n_trials, 0))
    n_words, lengths = int(n_words), [int(length) for length in lengths]
    families = [(words.generators_for(n_words, length), length) for length in lengths]
    mean_share, data, scale = _prepared(data, center, rescale_samples)
    values = np.zeros(data.shape[1]) if target is None else target
    factors = factorise(data, values, intercept=center)
    spectrum = spectrum_from(factors)
    t = spectrum.eigenvalues
    n, ell = np.array(families).T[:, :, None]
    every = [] if target is None else [(1, 0), *families]
    best = [best_ridge(spectrum, *each) for each in every]
    draws = _Draws(factors, gamma, n_trials, seed, group, on_progress)
    measured, error, left_out = draws.measure(families, best[1:])
    return OwnDataReport(
        dim=data.shape[0],
        n_samples=data.shape[1],
        n_words=n_words,
        n_trials=n_trials,
        group=group,
        lengths=tuple(lengths),
        ridges=tuple(gamma.tolist()),
        without_words=np.asarray(predicted_effective_dimension(t, gamma, length=0)),
        predicted=np.asarray(predicted_effective_dimension(t, gamma, n, ell)),
        measured=measured,
        standard_error=error,
        eigenvalues=t,
        mean_share=mean_share,
        centered=center,
        scale=scale,
        risk=_risk(factors, lengths, best, left_out) if best else None,
    )


def rescale(X: Num[_AnyArray, "d p"]) -> tuple[Float[np.ndarray, "d p"], float]:
    """Return X in the paper's scale, and the factor that brought it there.

    The samples' mean squared norm becomes 1, as for entries from N(0, 1/d). A ridge
    then means the same for data in other units. With another number of samples p it
    means the same only per sample: keep ridge/p.
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


def _prepared(
    data: np.ndarray, center: bool, scaled: bool
) -> tuple[float, np.ndarray, float]:
    """Return the mean sample's share of the norm, the data to use, and their scale."""
    mean, square = data.mean(axis=1), np.vdot(data, data)
    share = float(mean @ mean * data.shape[1] / square) if square else 0.0
    if center:
        data = data - mean[:, None]
        if square and np.vdot(data, data) <= 1e-28 * square:
            raise ValueError("`X` must hold samples that differ; all are the same.")
    return (share, *rescale(data)) if scaled else (share, data, 1.0)


class _Draws(NamedTuple):
    """How bases are drawn, and what each draw measures, whatever the family."""

    factors: Factors
    ridges: np.ndarray
    n_trials: int
    seed: int
    group: Group
    on_progress: Callable[[int], None] | None

    def trial(
        self, family: tuple[int, int], best: float | None, seed: np.random.SeedSequence
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw bases once; return d_eff/d for each ridge, and the left-out errors."""
        left = self.factors.left
        mixed = draw_words(np.random.default_rng(seed), *family, len(left), self.group)
        roots = np.linalg.svd(mixed @ left, compute_uv=False)
        if self.on_progress is not None:
            self.on_progress(family[0])
        errors = [] if best is None else leave_one_out(self.factors, best, mixed)
        share = effective_dimension(roots**2, self.ridges) / len(left)
        return np.asarray(share), np.asarray(errors)

    def measure(
        self, families: list, best: list
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return mean and standard error of d_eff/d, and squared errors left out.

        A row for each (n, ℓ). Every draw gives both; the errors are those of samples
        left out, at the best ridge of the family.
        """
        mean, error = np.full((2, len(families), len(self.ridges)), np.nan)
        left_out = []
        # Seeds belong to draws: the result does not depend on the number of threads.
        for row, family in enumerate(families if self.n_trials else []):
            at_best = best[row].ridge if best else None
            trial = functools.partial(self.trial, family, at_best)
            seeds = np.random.SeedSequence([self.seed, row]).spawn(self.n_trials)
            shares, errors = zip(*in_threads(trial, seeds), strict=True)
            mean[row] = np.mean(shares, axis=0)
            if len(shares) > 1:
                error[row] = np.std(shares, axis=0, ddof=1) / np.sqrt(len(shares))
            left_out.append(np.mean(errors, axis=0))
        return mean, error, left_out


def _risk(
    factors: Factors, lengths: list[int], best: list, left_out: list[np.ndarray]
) -> RiskByLength:
    own = leave_one_out(factors, best[0].ridge)
    gain = leave_one_out(factors, np.inf) - own
    unknown = [np.full(len(own), np.nan)] * (len(lengths) - len(left_out))
    errors = np.array([own, *left_out, *unknown])
    root = np.sqrt(len(own))
    gain_error = float(gain.std(ddof=1) / root)
    ridges, risks = np.array(best).T
    return RiskByLength(
        lengths=(0, *lengths),
        ridges=ridges,
        risks=risks,
        measured=errors.mean(axis=1),
        standard_error=errors.std(axis=1, ddof=1) / root,
        zero_risk=spectrum_from(factors).zero_risk,
        gain=float(gain.mean()),
        gain_error=gain_error,
        predicts=bool(gain.mean() > stats.t.ppf(0.975, len(own) - 1) * gain_error),
    )
