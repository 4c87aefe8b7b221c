"""What word length does to your own data: prediction, measurement and advice.

From a data matrix X (d dimensions x p samples) come the effective dimension that free
probability predicts and the one that random bases really give, for several lengths ℓ
and ridges γ at a fixed number of words n^ℓ; with a target, one value for each sample,
also the risk of ridge regression at the best ridge of each length: the cost of words.
Neither chooses a length (`advice_text` says why).
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float, Num
from scipy import stats

from freeproj.projection import words
from freeproj.spectra import advice_text
from freeproj.spectra.checks import Number, data_matrix, parameter, whole
from freeproj.spectra.effective_dimension import (
    effective_dimension,
    predicted_effective_dimension,
)
from freeproj.spectra.kernel import draw_words, in_threads
from freeproj.spectra.risk import Factors, best_ridge, factorise, leave_one_out

__all__ = ["OwnDataReport", "RiskByLength", "default_trials", "own_data_report"]
__all__ += ["rescale"]

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
    zero_risk: float  # of predicting the mean
    gain: float  # measured: by how much ℓ = 0 beats the mean
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
    lengths: tuple[int, ...]
    ridges: tuple[float, ...]
    without_words: Float[np.ndarray, " n_ridges"]  # of X^T X itself
    predicted: _Grid
    measured: _Grid
    standard_error: _Grid
    eigenvalues: Float[np.ndarray, " d"]  # of XX^T
    mean_share: float  # |mean sample|² as a share of the mean |sample|²
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


def own_data_report(
    X: Num[_AnyArray, "d p"],
    lengths: Sequence[int] = (1, 2, 4, 8),
    ridges: Sequence[Number] = (1e-2,),
    *,
    target: Num[_AnyArray, "samples *outputs"] | None = None,  # noqa: F821
    n_words: int = 256,
    n_trials: int | None = None,
    seed: int = 0,
) -> OwnDataReport:
    """Predict and measure d_eff/d of data for each length and ridge.

    The mean sample and the mean target are subtracted (an intercept is fitted), and the
    samples are brought to mean squared norm 1 (`rescale`).

    Args:
        X: one sample per column.
        target: one value, or row of values, for each sample, to predict from it.
        n_trials: draws of the bases per length; 0 measures nothing.
    """
    data = data_matrix(X, single=True)
    gamma = parameter(list(ridges), "ridges", above=0)
    if len(lengths) == 0 or gamma.size == 0:
        raise ValueError("`lengths` and `ridges` must each hold at least one value.")
    dim, n_samples = data.shape
    n_trials = default_trials(dim) if n_trials is None else whole(n_trials, "n_trials")
    lengths = [int(length) for length in lengths]
    families = [(words.generators_for(n_words, length), length) for length in lengths]
    mean, square = data.mean(axis=1), np.vdot(data, data)
    data = data - mean[:, None]
    if np.vdot(data, data) <= 1e-28 * square:
        raise ValueError("`X` must hold samples that differ; all are the same.")
    data, scale = rescale(data)
    values = np.zeros(n_samples) if target is None else target
    factors = factorise(data, values, intercept=True)
    spectrum = factors.spectrum
    t = spectrum.eigenvalues
    n, ell = np.array(families).T[:, :, None]
    best = [best_ridge(spectrum, *each) for each in [(1, 0), *families]]
    draws = [(*each, at.ridge) for each, at in zip(families, best[1:], strict=True)]
    shares, left_out = _measure(factors, gamma, draws, n_trials, seed)
    spread = shares.std(axis=1, ddof=1) if n_trials > 1 else shares[:, 0] * np.nan
    return OwnDataReport(
        dim=dim,
        n_samples=n_samples,
        n_words=int(n_words),
        n_trials=n_trials,
        lengths=tuple(lengths),
        ridges=tuple(gamma.tolist()),
        without_words=np.asarray(predicted_effective_dimension(t, gamma, length=0)),
        predicted=np.asarray(predicted_effective_dimension(t, gamma, n, ell)),
        measured=shares.mean(axis=1),
        standard_error=spread / np.sqrt(max(1, n_trials)),
        eigenvalues=t,
        mean_share=float(mean @ mean * n_samples / square),
        scale=scale,
        risk=None if target is None else _risk(factors, lengths, best, left_out),
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


def _measure(
    factors: Factors, ridges: np.ndarray, draws: list, n_trials: int, seed: int
) -> tuple[Float[np.ndarray, "lengths trials ridges"], Float[np.ndarray, "lengths p"]]:
    """Return d_eff/d of every draw, and the squared errors of samples left out.

    `draws` are n, ℓ and the ridge for the errors; nan stands where nothing is drawn.
    """
    shares = np.full((len(draws), max(1, n_trials), len(ridges)), np.nan)
    left_out = np.full((len(draws), len(factors.target)), np.nan)

    def trial(n, length, best, seed):
        rng, dim = np.random.default_rng(seed), len(factors.left)
        mixed = factors.mixed(draw_words(rng, n, length, dim, "orthogonal"))
        share = effective_dimension(mixed.eigenvalues, ridges) / dim
        return share, leave_one_out(mixed, best)

    # Seeds belong to draws: the result does not depend on the number of threads.
    for row, draw in enumerate(draws if n_trials else []):
        seeds = np.random.SeedSequence([seed, row]).spawn(n_trials)
        found = in_threads(functools.partial(trial, *draw), seeds)
        shares[row], errors = map(np.array, zip(*found, strict=True))
        left_out[row] = errors.mean(axis=0)
    return shares, left_out


def _risk(
    factors: Factors, lengths: list[int], best: list, left_out: np.ndarray
) -> RiskByLength:
    own = leave_one_out(factors, best[0].ridge)
    gain = leave_one_out(factors, np.inf) - own
    errors = np.array([own, *left_out])
    root = np.sqrt(len(own))
    gain_error = float(gain.std(ddof=1) / root)
    ridges, risks = np.array(best).T
    return RiskByLength(
        lengths=(0, *lengths),
        ridges=ridges,
        risks=risks,
        measured=errors.mean(axis=1),
        standard_error=errors.std(axis=1, ddof=1) / root,
        zero_risk=factors.spectrum.zero_risk,
        gain=float(gain.mean()),
        gain_error=gain_error,
        predicts=bool(gain.mean() > stats.t.ppf(0.975, len(own) - 1) * gain_error),
    )
