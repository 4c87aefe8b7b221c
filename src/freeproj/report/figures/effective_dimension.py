"""`effective-dimension`: theory and measurement against the ridge (Fig. 2 left).

For each word length the limit is a curve, the mean over trials a point with the
standard deviation over trials; below, what remains between the two, which is of the
order 1/d. Both are d_eff/d, and also d_eff/p when p = d, as in the paper.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.projection import words
from freeproj.report.figures.style import COLUMN, INK, length_colour
from freeproj.spectra import (
    effective_dimension,
    gaussian_data,
    limit_effective_dimension,
    sample_root_singular_values,
)
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw", "sample_spectra"]


def compute(
    lengths: Sequence[int] = (1, 2, 4, 8),
    n_words: int = 256,
    dim: int = 64,
    n_samples: int = 64,
    n_trials: int = 128,
    n_ridges: int = 10,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Return measured and limit values of d_eff/d; rows are lengths."""
    ridges = np.geomspace(1e-4, 1e-1, n_ridges)
    fine = np.geomspace(ridges[0] / 1.3, ridges[-1] * 1.3, 200)
    values, about = sample_spectra(lengths, n_words, dim, n_samples, n_trials, seed)
    trials = np.stack([effective_dimension(each**2, ridges) for each in values]) / dim
    n, length = about["n_generators"][:, None], about["lengths"][:, None]
    law = (n, length, n_samples / dim)
    return about | {
        "ridges": ridges,
        "measured_per_dimension": trials.mean(axis=1),
        "deviation_per_dimension": trials.std(axis=1, ddof=1),
        "limit_per_dimension": np.asarray(limit_effective_dimension(ridges, *law)),
        "curve_ridges": fine,
        "curve_per_dimension": np.asarray(limit_effective_dimension(fine, *law)),
    }


def draw(numbers: Numbers) -> Figure:
    """Draw curves and points above, their differences below."""
    figure = Figure(figsize=(1.15 * COLUMN, 3.5))
    ratios = {"height_ratios": [3.4, 1], "hspace": 0.06}
    above, below = figure.subplots(2, 1, sharex=True, gridspec_kw=ratios)
    _draw_values(above, numbers)
    _draw_differences(below, numbers)
    below.set_xlabel(r"ridge $\gamma$")
    figure.align_ylabels()
    return figure


def _draw_values(axes: Axes, numbers: Numbers) -> None:
    curves, places = numbers["curve_per_dimension"], numbers["curve_ridges"]
    for row, length in enumerate(numbers["lengths"].tolist()):
        colour = length_colour(length)
        axes.plot(places, curves[row], ":", color=colour, lw=1.3)
        axes.errorbar(
            numbers["ridges"],
            numbers["measured_per_dimension"][row],
            numbers["deviation_per_dimension"][row],
            fmt="o",
            color=colour,
            elinewidth=0.8,
            capsize=1.6,
            ms=2.6,
        )
        axes.annotate(
            rf"$\ell={length},\; n={numbers['n_generators'][row]}$",
            (places[-1], curves[row, -1]),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=7,
        )
    axes.set_xscale("log")
    axes.set_ylim(np.floor(10 * curves.min() - 0.5) / 10, min(1.0, 1.04 * curves.max()))
    _explain(axes, numbers)


def _explain(axes: Axes, numbers: Numbers) -> None:
    axes.errorbar([], [], [], fmt="o", color=INK, capsize=1.6, ms=2.6, label="measured")
    axes.plot([], [], ":", color=INK, lw=1.3, label=r"limit $d\to\infty$")
    axes.legend(loc="lower left")
    axes.set_ylabel(_label(numbers))
    axes.set_title(
        rf"$d={numbers['dim']},\;p={numbers['n_samples']}$, "
        rf"{numbers['n_trials']} trials: mean $\pm$ standard deviation"
    )


def _label(numbers: Numbers) -> str:
    square = numbers["dim"] == numbers["n_samples"]
    return r"$d_\mathrm{eff}/d" + (r"\;=\;d_\mathrm{eff}/p$" if square else "$")


def _draw_differences(axes: Axes, numbers: Numbers) -> None:
    gap = numbers["measured_per_dimension"] - numbers["limit_per_dimension"]
    error = numbers["deviation_per_dimension"] / np.sqrt(numbers["n_trials"])
    axes.axhline(0, color=INK, lw=0.6)
    for row, length in enumerate(numbers["lengths"].tolist()):
        axes.errorbar(
            numbers["ridges"],
            numbers["dim"] * gap[row],
            2 * numbers["dim"] * error[row],
            fmt="o-",
            color=length_colour(length),
            lw=0.7,
            elinewidth=0.7,
            ms=2,
        )
    axes.set_ylabel(r"$d\times$difference")
    axes.set_ylim(min(-1.2, 1.1 * float((numbers["dim"] * gap).min())), 0.35)


def sample_spectra(
    lengths: Sequence[int],
    n_words: int,
    dim: int,
    n_samples: int,
    n_trials: int,
    seed: int,
) -> tuple[Float[np.ndarray, "lengths trials p"], dict[str, np.ndarray]]:
    """Draw data and bases anew for each trial, all lengths at n^ℓ = n_words.

    Return the singular values of √K, and the settings behind them.
    """
    n_generators = [words.generators_for(n_words, length) for length in lengths]
    values = [
        _sample(n, length, dim, n_samples, n_trials, seed + 100 * length)
        for n, length in zip(n_generators, lengths, strict=True)
    ]
    return np.stack(values), {
        "lengths": np.asarray(lengths),
        "n_generators": np.asarray(n_generators),
        "dim": np.asarray(dim),
        "n_samples": np.asarray(n_samples),
        "n_trials": np.asarray(n_trials),
    }


@functools.lru_cache(maxsize=8)  # two figures show the same draws
def _sample(
    n: int, length: int, dim: int, n_samples: int, n_trials: int, seed: int
) -> Float[np.ndarray, "trials p"]:
    data = gaussian_data(n_trials, dim, n_samples, seed=seed)
    return sample_root_singular_values(
        data, n, length, n_trials=n_trials, seed=seed + 1
    )
