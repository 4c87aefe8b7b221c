"""`kernel-spectra`: spectra of √K for four word lengths, with theory (Fig. 2 right).

Histograms of the singular values of √K over all trials, and over them the density of
√x for x from the limit law μ(n, ℓ) ⊠ MP(c). Longer words: heavier tails, more mass
near zero.
"""

from collections.abc import Sequence

import numpy as np
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
    sizes = (n_words, dim, n_samples, n_trials, seed)
    values, about = sample_spectra(tuple(lengths), *sizes)
    rows = []
    n_generators = about["n_generators"].tolist()
    for n, length, found in zip(n_generators, lengths, values, strict=True):
        heights, edges = np.histogram(found, bins=n_bins, density=True)
        x, density = density_curve(n, length, aspect)
        # The law has d points for p singular values: per sample it weighs 1/c.
        rows.append((edges, heights, np.sqrt(x), 2 * np.sqrt(x) * density / aspect))
    names = ("bin_edges", "histogram", "limit_places", "limit_density")
    columns = map(np.array, zip(*rows, strict=True))
    return about | dict(zip(names, columns, strict=True))


def draw(numbers: Numbers) -> Figure:
    """Draw one panel per length, on common axes."""
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
