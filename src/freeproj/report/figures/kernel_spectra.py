"""`kernel-spectra`: spectra of √K for four word lengths, with theory (Fig. 2 right).

Histograms of the singular values of √K over all trials, and over them the density of
√x for x from the limit law μ(n, ℓ) ⊠ MP(c). Longer words: heavier tails, more mass
near zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.report.figures.effective_dimension import sample_spectra
from freeproj.report.figures.style import INK, WIDE, length_colour
from freeproj.spectra import density_curve
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]


def compute(
    lengths: Sequence[int] = (1, 2, 4, 8),
    n_words: int = 256,
    dim: int = 64,
    n_samples: int = 64,
    n_trials: int = 128,
    n_bins: int = 50,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Return histograms (as densities) and the limit's curve; rows are lengths."""
    aspect = n_samples / dim
    values, about = sample_spectra(lengths, n_words, dim, n_samples, n_trials, seed)
    bins, heights, places, curves = [], [], [], []
    for n, length, found in zip(
        about["n_generators"].tolist(), lengths, values, strict=True
    ):
        height, edges = np.histogram(found, bins=n_bins, density=True)
        x, density = density_curve(n, length, aspect)
        bins.append(edges)
        heights.append(height)
        places.append(np.sqrt(x))
        # The law has d points for p singular values: per sample it weighs 1/c.
        curves.append(2 * np.sqrt(x) * density / aspect)
    return about | {
        "bin_edges": np.array(bins),
        "histogram": np.array(heights),
        "limit_places": np.array(places),
        "limit_density": np.array(curves),
    }


def draw(numbers: Numbers) -> Figure:
    """Draw one panel per length, on common axes."""
    lengths = numbers["lengths"].tolist()
    figure = Figure(figsize=(WIDE, 2.1))
    panels = figure.subplots(1, len(lengths), sharex=True, sharey=True, squeeze=False)
    for row, axes in enumerate(panels[0]):
        _draw_panel(axes, numbers, row)
    first = panels[0, 0]
    first.set_ylabel("density")
    first.set_xlim(0, 1.02 * numbers["bin_edges"].max())
    first.set_yscale("log")
    first.set_ylim(_floor(numbers), 1.6 * numbers["histogram"].max())
    first.legend(loc="upper right")
    figure.supxlabel(r"singular values of $\sqrt{K}$", fontsize=8)
    return figure


def _draw_panel(axes: Axes, numbers: Numbers, row: int) -> None:
    length, n = numbers["lengths"][row], numbers["n_generators"][row]
    colour = length_colour(int(length))
    axes.stairs(
        numbers["histogram"][row],
        numbers["bin_edges"][row],
        fill=True,
        color=colour,
        alpha=0.45,
        label=f"{numbers['n_trials']} trials",
    )
    axes.plot(
        numbers["limit_places"][row],
        numbers["limit_density"][row],
        color=INK,
        lw=0.9,
        label="limit",
    )
    axes.set_title(rf"$\ell={length},\; n={n}$")


def _floor(numbers: Numbers) -> float:
    """Return the height of a third of one count in the finest histogram."""
    widths = np.diff(numbers["bin_edges"], axis=1)
    n_values = numbers["n_trials"] * numbers["n_samples"]
    return float(1 / (3 * n_values * widths.max()))
