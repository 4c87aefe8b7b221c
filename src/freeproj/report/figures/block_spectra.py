"""Spectra of block matrices of words, one column per length (appendix C).

Four pictures come from here: the paper's partial transpose, the raw square, the
shuffled one, all over O(64), and the transpose over S(16), where a second row leaves
out the all-ones vector that every permutation fixes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.report.numbers import Numbers
from freeproj.report.style import INK, LENGTH_COLOURS, PALETTE, WIDE
from freeproj.spectra.block_laws import kesten_mckay_density, marchenko_pastur_density
from freeproj.spectra.blocks import block_spectra
from freeproj.words import generators_for

__all__ = ["compute", "draw"]

_N_BINS = 50
_ATOM_WIDTH = 1e-6  # eigenvalues this close are one point mass
_TITLES = {
    "transposed": "Partial transpose (2,7)(4,5)",
    "raw": "Raw square, no transpose",
    "shuffled": "Uniform shuffle, anew in each trial",
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
    """Returns the eigenvalues of K by length and trial, and what they belong to."""
    settings = {
        "arrangement": arrangement,
        "group": group,
        "dim": dim,
        "n_words": n_words,
        "n_trials": n_trials,
        "seed": seed,
    }
    numbers = {
        "eigenvalues": np.stack([block_spectra(length=n, **settings) for n in lengths]),
        "lengths": np.array(lengths),
        "dim": np.array(dim),
        "n_words": np.array(n_words),
        "arrangement": np.array(arrangement),
        "group": np.array(group),
    }
    if group == "permutation":
        numbers["eigenvalues_without_ones"] = np.stack(
            [block_spectra(length=n, keep_ones=False, **settings) for n in lengths]
        )
    return numbers


def draw(numbers: Numbers) -> Figure:
    """Draws histograms of K above those of √K, or of K without the all-ones vector."""
    eigenvalues = numbers["eigenvalues"]
    permutes = str(numbers["group"]) == "permutation"
    if permutes:
        rows = [
            ("eigenvalue of K", eigenvalues, False),
            (
                "eigenvalue of K off the ones",
                numbers["eigenvalues_without_ones"],
                False,
            ),
        ]
    else:
        rows = [
            ("eigenvalue of K", eigenvalues, False),
            ("singular value, √K", np.sqrt(eigenvalues), True),
        ]
    n_lengths = len(numbers["lengths"])
    figure = Figure(figsize=(WIDE, 3.5), layout="constrained")
    grid = figure.subplots(2, n_lengths, sharex="row", sharey="row", squeeze=False)
    for axes_row, (label, values, square_roots) in zip(grid, rows, strict=True):
        _draw_row(axes_row, values, numbers, square_roots)
        axes_row[0].set_ylabel("density")
        for axes in axes_row:
            axes.set_xlabel(label)
    for axes, length in zip(grid[0], numbers["lengths"], strict=True):
        n = generators_for(int(numbers["n_words"]), int(length))
        axes.set_title(f"ℓ = {length}, n = {n}")
    grid[0, -1].legend(loc="upper right", handlelength=1.6)
    figure.suptitle(_caption(numbers), fontsize=9)
    return figure


def _draw_row(
    axes_row: Sequence[Axes],
    values: np.ndarray,
    numbers: Numbers,
    square_roots: bool,
) -> None:
    """Draws one kind of value, a panel per length, on common axes."""
    right = 1.04 * max(values.max(), 2 if square_roots else 4)
    bins = np.linspace(0, right, _N_BINS + 1)
    tops = []
    for axes, length, sample in zip(axes_row, numbers["lengths"], values, strict=True):
        colour = LENGTH_COLOURS.get(int(length), PALETTE[3])
        smooth, atoms = _split_atoms(sample.ravel())
        # The point masses count too: the bars' area is what they leave of 1.
        heights = np.histogram(smooth, bins)[0] / (sample.size * np.diff(bins))
        axes.stairs(heights, bins, fill=True, color=colour, alpha=0.55, linewidth=0)
        _draw_laws(axes, right, int(numbers["n_words"]), square_roots)
        _draw_atoms(axes, atoms, colour)
        tops.append(np.partition(heights, -2)[-2])
    # The density of K has a pole at 0; the panels show what lies beside it.
    top = 1.3 * max(*tops, 0.4)
    axes_row[0].set_xlim(-0.02 * right, right)
    axes_row[0].set_ylim(0, top)


def _draw_laws(axes: Axes, right: float, n_words: int, square_roots: bool) -> None:
    """Draws the limit of ℓ = 1 and the law the paper names."""
    n_blocks = round(np.sqrt(n_words))
    x = np.linspace(0.002, right, 1500)
    at, slope = (x**2, 2 * x) if square_roots else (x, 1.0)
    kesten_mckay = kesten_mckay_density(at, n_blocks) * slope
    marchenko_pastur = marchenko_pastur_density(at) * slope
    axes.plot(
        x, kesten_mckay, color=INK, lw=0.9, label=f"Kesten–McKay, {n_blocks} blocks"
    )
    axes.plot(
        x,
        marchenko_pastur,
        color="0.45",
        lw=0.9,
        ls=(0, (2, 2)),
        label="Marchenko–Pastur",
    )


def _split_atoms(sample: np.ndarray) -> tuple[np.ndarray, dict[float, float]]:
    """Returns what is left without the point masses, and each mass by its place."""
    places = np.unique(np.round(sample, 5))
    atoms, smooth = {}, np.ones(len(sample), dtype=bool)
    for place in (places[0], places[-1]):
        near = np.abs(sample - place) < 1e-5
        if near.mean() > 0.003 and near.sum() > 8:
            atoms[float(place)] = float(near.mean())
            smooth &= ~near
    return sample[smooth], atoms


def _draw_atoms(axes: Axes, atoms: dict[float, float], colour: str) -> None:
    """Marks every point mass by a line through the panel and its share in percent."""
    for place, share in atoms.items():
        axes.axvline(place, color=colour, lw=2.2, ymax=0.62, solid_capstyle="butt")
        leftmost = place < np.mean(axes.get_xlim())
        axes.annotate(
            f"{100 * share:.2g} % at {place:.0f}",
            (place, 0.64),
            xycoords=("data", "axes fraction"),
            ha="left" if leftmost else "right",
            va="bottom",
            fontsize=6.5,
            color=colour,
        )


def _caption(numbers: Numbers) -> str:
    group = "S" if str(numbers["group"]) == "permutation" else "O"
    title = _TITLES.get(str(numbers["arrangement"]), str(numbers["arrangement"]))
    words, dim = numbers["n_words"], numbers["dim"]
    n_trials = numbers["eigenvalues"].shape[1]
    return f"{title}: {words} words over {group}({dim}), {n_trials} trials"
