"""What word length does to one's own data: predicted, measured, and what to take.

From a data matrix X (d dimensions x p samples) come the effective dimension that free
probability predicts and the one that random bases really give, for several lengths ℓ
and ridges γ at a fixed number of words n^ℓ; then a few sentences on (n, ℓ, d).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from jaxtyping import Array, Float, Num

from freeproj import words
from freeproj.spectra.checks import Number, data_matrix, parameter
from freeproj.spectra.effective_dimension import (
    data_eigenvalues,
    effective_dimension,
    predicted_effective_dimension,
)
from freeproj.spectra.kernel import Group, sample_root_singular_values

__all__ = [
    "OwnDataReport",
    "default_trials",
    "own_data_report",
    "rescale",
]

_AnyArray = Array | np.ndarray
_Grid = Float[np.ndarray, "n_lengths n_ridges"]

# One trial's fluctuation of d_eff/d is of the order 1/d, so this many rows over all
# trials bring the measurement's standard error below 1/200.
_ROWS_DRAWN = 512
# Distance between finite d and the limit, times d: at most this, from simulations.
_FINITE_SIZE = 0.8


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

    @property
    def aspect(self) -> float:
        """c = p/d: divides d_eff/d to give d_eff/p."""
        return self.n_samples / self.dim

    @property
    def n_generators(self) -> tuple[int, ...]:
        """n for each length, n^ℓ = n_words."""
        return tuple(words.generators_for(self.n_words, ell) for ell in self.lengths)

    def table(self) -> list[str]:
        """Returns a table for people, predicted beside measured, line by line.

        The row ℓ = 0 is the data's own kernel X^T X, which is known exactly.
        """
        rows = [_HEADER]
        for column in range(len(self.ridges)):
            rows += _table_rows(self, column)
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.rjust, row, widths)).rstrip() for row in rows]
        before = sum(widths[:3]) + 6, sum(widths[3:7]) + 8
        title = " " * before[0] + "d_eff/d".ljust(before[1]) + "d_eff/p"
        note = f"{self.n_words} words (n^ℓ); ℓ = 0 is the data's own kernel X^T X"
        if self.n_trials:
            note += f"; measured: mean of {self.n_trials} draws, {self.group} bases"
        return [title, *lines, note]

    def advice(self) -> list[str]:
        """Returns sentences on which (n, ℓ, d) to take, at the first ridge."""
        return [_reduction(self), *_agreement(self), *_sizes(self)]

    def numbers(self) -> Mapping[str, np.ndarray]:
        """Returns the report as plain arrays, to save and to draw."""
        names = ("dim", "n_samples", "n_words", "n_trials", "lengths", "ridges")
        grids = ("without_words", "predicted", "measured", "standard_error")
        return {name: np.asarray(getattr(self, name)) for name in names + grids} | {
            "n_generators": np.asarray(self.n_generators),
            "eigenvalues": self.eigenvalues,
        }


_HEADER = (
    *("ridge", "ℓ", "n"),
    *("predicted", "measured", "± s.e.", "difference"),  # of d_eff/d
    *("predicted", "measured"),  # of d_eff/p
)


def own_data_report(
    X: Num[_AnyArray, "d p"],
    lengths: Sequence[int] = (1, 2, 4, 8),
    ridges: Sequence[Number] = (1e-2,),
    *,
    n_words: int = 256,
    n_trials: int | None = None,
    seed: int = 0,
    group: Group = "orthogonal",
    on_progress: Callable[[int], None] | None = None,
) -> OwnDataReport:
    """Predicts and measures d_eff/d of data for each length and ridge.

    Args:
        X: one sample per column, used as it is; `rescale` gives it the paper's scale.
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
    thin = _thin(data)
    t = data_eigenvalues(thin)
    predicted = predicted_effective_dimension(
        t, gamma, np.array(n_generators)[:, None], np.array(lengths)[:, None]
    )
    sampling: _Sampling = {
        "n_trials": n_trials,
        "group": group,
        "on_progress": on_progress,
    }
    families = list(zip(n_generators, lengths, strict=True))
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
    )


def rescale(X: Num[_AnyArray, "d p"]) -> tuple[Float[np.ndarray, "d p"], float]:
    """Returns X in the paper's scale, and the factor that brought it there.

    The samples' mean squared norm becomes 1, as for entries from N(0, 1/d); only then
    do ridges mean the same from one data set to the next.
    """
    data = data_matrix(X)
    size = np.sqrt(np.mean(np.sum(data**2, axis=-2)))
    if size == 0:
        raise ValueError("`X` must not be zero everywhere.")
    return data / size, float(1 / size)


def default_trials(dim: int) -> int:
    """Returns how many draws of the bases give a standard error below 1/200."""
    return max(2, math.ceil(_ROWS_DRAWN / dim))


def _thin(data: np.ndarray) -> np.ndarray:
    """Returns a d x min(d, p) matrix with the same XX^T.

    K has the same non-zero eigenvalues for any such matrix, whatever the bases.
    """
    if data.shape[1] <= data.shape[0]:
        return data
    left, values, _ = np.linalg.svd(data, full_matrices=False)
    return left * values


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
    """Returns mean and standard error of d_eff/d; a row for each (n, ℓ)."""
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


def _table_rows(report: OwnDataReport, column: int) -> list[tuple[str, ...]]:
    ridge, c = f"{report.ridges[column]:g}", report.aspect
    own = report.without_words[column]
    blank = ("", "", "")
    rows: list[tuple[str, ...]] = [
        (ridge, "0", "-", f"{own:.4f}", *blank, f"{own / c:.4f}", "")
    ]
    for row, (length, n) in enumerate(
        zip(report.lengths, report.n_generators, strict=True)
    ):
        predicted, measured = (
            report.predicted[row, column],
            report.measured[row, column],
        )
        error = report.standard_error[row, column]
        numbers = (predicted, measured, error, measured - predicted)
        shown = [_shown(number) for number in (*numbers, predicted / c, measured / c)]
        rows.append((ridge, str(length), str(n), *shown))
    return rows


def _shown(number: float) -> str:
    return "-" if np.isnan(number) else f"{number:.4f}"


def _reduction(report: OwnDataReport) -> str:
    best = int(np.argmin(report.predicted[:, 0]))
    first = int(np.argmin(report.lengths))
    length, n = report.lengths[best], report.n_generators[best]
    fall = 1 - report.predicted[best, 0] / report.predicted[first, 0]
    dimension = report.predicted[best, 0] * report.dim
    text = f"At ridge {report.ridges[0]:g}, ℓ = {length} (n = {n}) has "
    if best == first:
        return f"{text}d_eff of about {dimension:.3g}, d being {report.dim}."
    return (
        f"{text}the smallest effective dimension, about {dimension:.3g} of "
        f"{report.dim}: {fall:.0%} less than ℓ = {report.lengths[first]} with as many "
        f"words. {report.n_words} words can be had with ℓ = "
        f"{', '.join(map(str, _possible_lengths(report.n_words)))}."
    )


def _possible_lengths(n_words: int) -> list[int]:
    """Returns the ℓ for which some n has n^ℓ = n_words."""
    candidates = range(1, max(2, n_words.bit_length()))
    return [length for length in candidates if _is_power(n_words, length)]


def _is_power(value: int, length: int) -> bool:
    try:
        words.generators_for(value, length)
    except ValueError:
        return False
    return True


def _agreement(report: OwnDataReport) -> list[str]:
    if report.n_trials == 0:
        return ["Nothing was measured (0 trials): the predictions stand alone."]
    gap = np.abs(report.measured - report.predicted)
    row, column = np.unravel_index(int(gap.argmax()), gap.shape)
    allowance = _FINITE_SIZE / report.dim + 4 * np.nan_to_num(report.standard_error)
    text = (
        f"Measured and predicted differ by at most {gap.max():.4f} "
        f"(ℓ = {report.lengths[row]}, ridge {report.ridges[column]:g})"
    )
    if (gap <= allowance).all():
        return [f"{text}, as expected for d = {report.dim}."]
    return [
        f"{text}, more than d = {report.dim} explains: trust the measured column. "
        "The prediction is for large d and bases that are free from the data."
    ]


def _sizes(report: OwnDataReport) -> list[str]:
    lines = []
    if report.dim < 40:
        lines.append(
            f"d = {report.dim} is small: the limit is off by up to about "
            f"{_FINITE_SIZE / report.dim:.2f}. Embedding into a larger d (padding with "
            "zeros, the paper takes 128) brings it closer."
        )
    if report.dim > report.n_samples:
        lines.append(
            f"Only {report.n_samples} samples in {report.dim} dimensions: d_eff/d "
            f"cannot pass p/d = {report.aspect:.3g}. If these are swapped, transpose."
        )
    return lines


def _check_request(lengths: Sequence[int], ridges: np.ndarray, n_trials: int) -> None:
    if len(lengths) == 0 or ridges.size == 0:
        raise ValueError("`lengths` and `ridges` must each hold at least one value.")
    if n_trials < 0:
        raise ValueError(f"`n_trials` must not be negative, got {n_trials}.")
