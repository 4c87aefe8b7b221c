"""The averaged kernel, theory and measurement (Fig. 2).

`effective-dimension` (left): d_eff/d (also d_eff/p when p = d, as in the paper), the
limit and means over trials; below, their gap, which is of the order 1/d.
`kernel-spectra` (right): singular values of √K over all trials, and the density of √x
for x from the limit law μ(n, ℓ) ⊠ MP(c).
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj import spectra
from freeproj.projection.words import generators_for
from freeproj.report.figures.style import COLUMN, INK, WIDE, length_colour
from freeproj.spectra.effective_dimension import limit_effective_dimension
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]


def compute(
    show: str = "dimension",
    lengths: Sequence[int] = (1, 2, 4, 8),
    n_words: int = 256,
    dim: int = 64,
    n_samples: int = 64,
    n_trials: int = 128,
    n_ridges: int = 10,
    n_bins: int = 50,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Return d_eff/d at ridges, or (show `spectra`) histograms; rows are lengths."""
    sizes = (n_words, dim, n_samples, n_trials, seed)
    values, about = _sample_spectra(tuple(lengths), *sizes)
    aspect = n_samples / dim
    if show == "spectra":
        return about | _histograms(values, about, aspect, n_bins)
    ridges = np.geomspace(1e-4, 1e-1, n_ridges)
    fine = np.geomspace(ridges[0] / 1.3, ridges[-1] * 1.3, 200)
    found = [spectra.effective_dimension(each**2, ridges) for each in values]
    trials = np.stack(found) / dim
    law = (about["n_generators"][:, None], about["lengths"][:, None], aspect)
    return about | {
        "ridges": ridges,
        "measured_per_dimension": trials.mean(axis=1),
        "deviation_per_dimension": trials.std(axis=1, ddof=1),
        "limit_per_dimension": np.asarray(limit_effective_dimension(ridges, *law)),
        "curve_ridges": fine,
        "curve_per_dimension": np.asarray(limit_effective_dimension(fine, *law)),
    }


@functools.lru_cache(maxsize=2)  # both figures show the same draws
def _sample_spectra(
    lengths: tuple, n_words: int, dim: int, n_samples: int, n_trials: int, seed: int
) -> tuple[Float[np.ndarray, "lengths trials p"], dict[str, np.ndarray]]:
    """Return singular values of √K, data and bases new in each trial, and settings."""
    n_generators = [generators_for(n_words, length) for length in lengths]
    values = []
    for n, length in zip(n_generators, lengths, strict=True):
        first = seed + 100 * length
        data = spectra.gaussian_data(n_trials, dim, n_samples, seed=first)
        draws: Any = {"n_trials": n_trials, "seed": first + 1}
        values.append(spectra.sample_root_singular_values(data, n, length, **draws))
    about = {"lengths": lengths, "n_generators": n_generators}
    about |= {"dim": dim, "n_samples": n_samples, "n_trials": n_trials}
    return np.stack(values), {name: np.asarray(each) for name, each in about.items()}


def _histograms(values: np.ndarray, about: Numbers, aspect: float, n_bins: int) -> dict:
    rows = []
    laws = zip(about["n_generators"].tolist(), about["lengths"].tolist(), strict=True)
    for found, (n, length) in zip(values, laws, strict=True):
        heights, edges = np.histogram(found, bins=n_bins, density=True)
        x, density = spectra.density_curve(n, length, aspect)
        # The law has d points for p singular values: per sample it weighs 1/c.
        rows.append((edges, heights, np.sqrt(x), 2 * np.sqrt(x) * density / aspect))
    names = ("bin_edges", "histogram", "limit_places", "limit_density")
    return dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))


def draw(numbers: Numbers) -> Figure:
    """Draw spectra, a panel per length, or values above and their gaps below."""
    if "histogram" in numbers:
        return _draw_spectra(numbers)
    figure = Figure(figsize=(1.15 * COLUMN, 3.5))
    ratios = {"height_ratios": [3.4, 1], "hspace": 0.06}
    above, below = figure.subplots(2, 1, sharex=True, gridspec_kw=ratios)
    _draw_values(above, numbers)
    dim = numbers["dim"]
    gap = numbers["measured_per_dimension"] - numbers["limit_per_dimension"]
    error = numbers["deviation_per_dimension"] / np.sqrt(numbers["n_trials"])
    below.axhline(0, color=INK, lw=0.6)
    for row, length in enumerate(numbers["lengths"].tolist()):
        style = {"color": length_colour(length), "lw": 0.7, "elinewidth": 0.7, "ms": 2}
        points = (numbers["ridges"], dim * gap[row], 2 * dim * error[row])
        below.errorbar(*points, fmt="o-", **style)
    below.set(xlabel=r"ridge $\gamma$", ylabel=r"$d\times$difference")
    below.set_ylim(min(-1.2, 1.1 * float((dim * gap).min())), 0.35)
    figure.align_ylabels()
    return figure


def _draw_values(axes: Axes, numbers: Numbers) -> None:
    points = {"fmt": "o", "capsize": 1.6, "ms": 2.6}
    dots = {"ls": ":", "lw": 1.3}
    curves, places = numbers["curve_per_dimension"], numbers["curve_ridges"]
    means, deviations = (
        numbers[f"{name}_per_dimension"] for name in ("measured", "deviation")
    )
    for row, length in enumerate(numbers["lengths"].tolist()):
        colour = length_colour(length)
        axes.plot(places, curves[row], color=colour, **dots)
        measured = (numbers["ridges"], means[row], deviations[row])
        axes.errorbar(*measured, color=colour, elinewidth=0.8, **points)
        label = rf"$\ell={length},\; n={numbers['n_generators'][row]}$"
        beside = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
        end = (places[-1], curves[row, -1])
        axes.annotate(label, end, color=colour, fontsize=7, **beside)
    axes.set_xscale("log")
    axes.set_ylim(np.floor(10 * curves.min() - 0.5) / 10, min(1.0, 1.04 * curves.max()))
    axes.errorbar([], [], [], color=INK, label="measured", **points)
    axes.plot([], [], color=INK, label=r"limit $d\to\infty$", **dots)
    axes.legend(loc="lower left")
    square = r"\;=\;d_\mathrm{eff}/p" * bool(numbers["dim"] == numbers["n_samples"])
    axes.set_ylabel(rf"$d_\mathrm{{eff}}/d{square}$")
    axes.set_title(
        rf"$d={numbers['dim']},\;p={numbers['n_samples']}$, "
        rf"{numbers['n_trials']} trials: mean $\pm$ standard deviation"
    )


def _draw_spectra(numbers: Numbers) -> Figure:
    lengths, edges = numbers["lengths"].tolist(), numbers["bin_edges"]
    figure = Figure(figsize=(WIDE, 2.1))
    panels = figure.subplots(1, len(lengths), sharex=True, sharey=True, squeeze=False)
    for row, (axes, length) in enumerate(zip(panels[0], lengths, strict=True)):
        bars = {"color": length_colour(length), "alpha": 0.45, "fill": True}
        label = f"{numbers['n_trials']} trials"
        axes.stairs(numbers["histogram"][row], edges[row], label=label, **bars)
        curve = (numbers["limit_places"][row], numbers["limit_density"][row])
        axes.plot(*curve, color=INK, lw=0.9, label="limit")
        axes.set_title(rf"$\ell={length},\; n={numbers['n_generators'][row]}$")
    first = panels[0, 0]
    first.set_ylabel("density")
    first.set_xlim(0, 1.02 * edges.max())
    first.set_yscale("log")
    # A third of one count in the finest histogram.
    n_values, widest = numbers["n_trials"] * numbers["n_samples"], np.diff(edges).max()
    first.set_ylim(1 / (3 * n_values * widest), 1.6 * numbers["histogram"].max())
    first.legend(loc="upper right")
    figure.supxlabel(r"singular values of $\sqrt{K}$", fontsize=8)
    return figure
