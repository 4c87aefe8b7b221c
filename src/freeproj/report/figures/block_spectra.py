"""Spectra of block matrices of words, one column per length (appendix C).

Four figures come from here: the paper's partial transpose, the raw square, the
shuffled one, all over O(64), and the transpose over S(16), where a second row leaves
out the all-ones vector that every permutation fixes.
"""

import functools
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from freeproj.projection.words import generators_for
from freeproj.report.figures.style import INK, WIDE, length_colour
from freeproj.spectra import MarchenkoPastur, WordLaw, block_spectra
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_N_BINS = 50
_TITLES = {
    "transposed": "Partial transpose (2,7)(4,5)",
    "raw": "Raw square, no transpose",
    "shuffled": "Uniform shuffle, drawn anew in each trial",
}


def compute(
    *,
    arrangement: str = "transposed",
    group: str = "orthogonal",
    dim: int = 64,
    n_words: int = 256,
    lengths: Sequence[int] = (1, 2, 4, 8),
    n_trials: int = 32,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Return the eigenvalues of K by length and trial, and the settings behind them."""
    sizes = {"group": group, "dim": dim, "n_words": n_words}
    settings = {**sizes, "n_trials": n_trials, "seed": seed}
    kept = {"eigenvalues": True}
    if group == "permutation":
        kept["eigenvalues_without_ones"] = False
    # Arranging single letters only gives them other names: the figures share them.
    arranged = {n: arrangement if n > 1 else "raw" for n in lengths}
    spectra = {
        name: [
            _spectra(length=n, arrangement=how, keep_ones=ones, **settings)
            for n, how in arranged.items()
        ]
        for name, ones in kept.items()
    }
    shown = {"arrangement": arrangement, **sizes, "lengths": lengths}
    return {name: np.array(value) for name, value in (spectra | shown).items()}


_spectra = functools.lru_cache(maxsize=4)(block_spectra)  # as many as a figure shows


def draw(numbers: Numbers) -> Figure:
    """Draw histograms of K above those of √K, or of K without the all-ones vector."""
    spectra, group = numbers["eigenvalues"], str(numbers["group"])
    lower = ("singular value, √K", spectra, 2)
    if group == "permutation":
        lower = ("eigenvalue, ones removed", numbers["eigenvalues_without_ones"], 1)
    rows = [("eigenvalue of K", spectra, 1), lower]
    figure = Figure(figsize=(WIDE, 3.8), layout="constrained")
    lengths, n_words = numbers["lengths"].tolist(), int(numbers["n_words"])
    grid = figure.subplots(2, len(lengths), sharex="row", sharey="row", squeeze=False)
    for axes_row, (label, eigenvalues, root) in zip(grid, rows, strict=True):
        _draw_row(axes_row, eigenvalues, lengths, n_words, root)
        axes_row[0].set_ylabel("density")
        for axes in axes_row:
            axes.set_xlabel(label)
    for axes, length in zip(grid[0], lengths, strict=True):
        axes.set_title(f"ℓ = {length}, n = {generators_for(n_words, length)}")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    arrangement = str(numbers["arrangement"])
    title = _TITLES.get(arrangement, arrangement)
    over = f"{'S' if group == 'permutation' else 'O'}({numbers['dim']})"
    exact = "; even ℓ exact" if arrangement == "raw" else ""
    told = f"{n_words} words over {over}, {spectra.shape[1]} trials{exact}"
    figure.suptitle(f"{title}: {told}", fontsize=9)
    return figure


def _draw_row(
    panels: np.ndarray, spectra: np.ndarray, lengths: list[int], n_words: int, root: int
) -> None:
    """Draw the root-th roots of eigenvalues, a panel per length, on common axes."""
    right = 1.04 * max(spectra.max(), 4) ** (1 / root)
    bins = np.linspace(0, right, _N_BINS + 1)
    beside_pole = [0.4]
    for axes, length, sample in zip(panels, lengths, spectra, strict=True):
        colour = length_colour(length)
        smooth, atoms = _split_atoms(sample.ravel())
        # The point masses count too: the bars' area is 1 minus these masses.
        counts = np.histogram(smooth ** (1 / root), bins)[0]
        heights = counts / (sample.size * np.diff(bins))
        axes.stairs(heights, bins, fill=True, color=colour, alpha=0.6, linewidth=0)
        _draw_laws(axes, n_words, root)
        _draw_atoms(axes, atoms, right, root)
        beside_pole.append(heights[1])
    # The density of K has a pole at 0; the panels show what lies beside it.
    panels[0].set(xlim=(-0.02 * right, right), ylim=(0, 1.45 * max(beside_pole)))
    panels[0].xaxis.set_major_locator(MaxNLocator(4, integer=True))


def _draw_laws(axes: Axes, n_words: int, root: int) -> None:
    """Draw the limit of ℓ = 1 and the law the paper names."""
    n_blocks = round(np.sqrt(n_words))
    kesten = f"Kesten–McKay, {n_blocks} blocks: limit of ℓ = 1"
    for name, law, colour, dashes in (
        (kesten, WordLaw(n_blocks, 1), INK, "-"),
        ("Marchenko–Pastur", MarchenkoPastur(1), "0.45", (0, (2, 2))),
    ):
        # Dense at both ends, where the density has a pole and a vertical slope.
        x = law.support()[1] * np.sin(np.linspace(0.01, np.pi / 2, 400)) ** 2
        y = x ** (1 / root)
        slope = root * y ** (root - 1)
        density = law.density(x) * slope
        axes.plot(y, density, color=colour, lw=0.9, ls=dashes, label=name)


def _split_atoms(sample: np.ndarray) -> tuple[np.ndarray, dict[float, float]]:
    """Return what is left without the point masses, and each mass by its place.

    Numbers below 1e-12 are zeros; with long words the density's pole alone puts up to
    half a percent there. Equal numbers at the right end are an outlier of each trial.
    """
    top = sample.max()
    zeros, highest = sample < 1e-12, np.abs(sample - top) < 1e-9 * top
    atoms, smooth = {}, np.ones(len(sample), dtype=bool)
    for place, there, least in ((0.0, zeros, 0.01), (top, highest, 0.003)):
        if there.mean() > least and there.sum() > 1:
            atoms[float(place)] = float(there.mean())
            smooth &= ~there
    return sample[smooth], atoms


def _draw_atoms(axes: Axes, atoms: dict[float, float], right: float, root: int) -> None:
    """Mark every point mass by a line and its share in percent."""
    for place, share in atoms.items():
        at = place ** (1 / root)
        outward, side = (-1, "right") if at > right / 2 else (1, "left")
        axes.axvline(at, color=INK, lw=1.6, ymax=0.86, solid_capstyle="butt")
        where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        line = {"arrowstyle": "-", "lw": 0.5, "color": INK}
        style = {"ha": side, "va": "center", "fontsize": 7, "arrowprops": line}
        label, shift = f"{100 * share:.3g} % at {at:.0f}", (12 * outward, 2)
        axes.annotate(label, (at, 0.86), xytext=shift, **where, **style)
