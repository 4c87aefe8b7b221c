"""Distances from the optimum against word length, lattice and tree (Fig. 4).

The first row is the paper's view, mean and standard deviation over ten seeds. The other
two show the change against ℓ = 1 with seeds kept in pairs: for the same ten, and for
enough seeds to see how large the effect is. z = const, the passive dynamics, stands
beside the lengths in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.lsmdp import (
    LengthComparison,
    binary_tree,
    compare_lengths,
    lattice,
    paired_changes,
)
from freeproj.report.figures.style import INK, PALETTE, WIDE
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_SPACES = {"lattice": lattice, "tree": binary_tree}
_COLOURS = {"lattice": PALETTE[0], "tree": PALETTE[1]}
_TITLES = (
    r"KL($\pi^*\Vert\,\pi^\ell$), sum over states",
    r"$|\pi^\ell - \pi^*|$, sum over states",
    r"$z^\ell$ from $z^*$, unit length, L2",
    r"$z^\ell$ from $z^*$, unit length, L1",
)


def compute(
    *,
    lengths: Sequence[int] = (1, 2, 4, 8),
    n_words: int = 256,
    n_seeds: int = 10,
    n_seeds_many: int = 4000,
    reading: str = "goal",
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Return means, deviations and paired changes, metrics x (lengths, z = const)."""
    numbers = {
        "lengths": np.array(lengths),
        "n_words": np.array(n_words),
        "n_seeds": np.array(n_seeds),
        "n_seeds_many": np.array(n_seeds_many),
        "reading": np.array(reading),
    }
    for name, make in _SPACES.items():
        for many, count in (("", n_seeds), ("_many", n_seeds_many)):
            comparison = compare_lengths(
                make(),
                lengths=lengths,
                n_words=n_words,
                n_seeds=count,
                reading=reading,
                seed=seed,
            )
            summary = _summary(comparison)
            numbers |= {f"{name}{many}_{key}": value for key, value in summary.items()}
    return numbers


def draw(numbers: Numbers) -> Figure:
    """Draw four distances: their values, then changes for few and for many seeds."""
    few, many = int(numbers["n_seeds"]), int(numbers["n_seeds_many"])
    figure = Figure(figsize=(WIDE, 5.4), layout="constrained")
    grid = figure.subplots(3, 4, sharex=True)
    for metric, (title, column) in enumerate(zip(_TITLES, grid.T, strict=True)):
        column[0].set_title(title)
        _draw_values(column[0], numbers, metric)
        _draw_changes(column[1], numbers, metric, "")
        _draw_changes(column[2], numbers, metric, "_many")
        column[2].set_xlabel("word length ℓ")
    grid[0, 0].set_ylabel(f"mean ± std, {few} seeds")
    grid[1, 0].set_ylabel(f"change from ℓ = 1 in %\n{few} seeds, 95 % interval")
    grid[2, 0].set_ylabel(f"change from ℓ = 1 in %\n{many} seeds, 95 % interval")
    for row in grid[1:]:
        _same_limits(row)
    figure.align_ylabels(grid[:, 0])
    ticks = [*map(str, numbers["lengths"]), "const"]
    grid[0, 0].set_xticks(range(len(ticks)), ticks)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    figure.suptitle(
        f"Reading '{numbers['reading']}', {numbers['n_words']} words. "
        "z = const is the baseline that knows no solution; lower is better.",
        fontsize=9,
    )
    return figure


def _summary(comparison: LengthComparison) -> dict[str, np.ndarray]:
    changes = paired_changes(comparison, reference=comparison.lengths[0])
    table = comparison.table
    return {
        "mean": table.mean(axis=-1),
        "std": table.std(axis=-1, ddof=1),
        "change": changes.value,
        "change_low": changes.low,
        "change_high": changes.high,
    }


def _draw_values(axes: Axes, numbers: Numbers, metric: int) -> None:
    for name, colour in _COLOURS.items():
        means = numbers[f"{name}_mean"][metric]
        errors = numbers[f"{name}_std"][metric]
        _draw_points(axes, means, (errors, errors), name, colour)
        axes.axhline(means[-1], color=colour, lw=0.6, ls=(0, (4, 3)), zorder=0)
    axes.set_ylim(bottom=0)


def _draw_changes(axes: Axes, numbers: Numbers, metric: int, many: str) -> None:
    axes.axhline(0, color=INK, lw=0.5, zorder=0)
    for name, colour in _COLOURS.items():
        prefix = f"{name}{many}_change"
        change = 100 * numbers[prefix][metric]
        low = change - 100 * numbers[f"{prefix}_low"][metric]
        high = 100 * numbers[f"{prefix}_high"][metric] - change
        _draw_points(axes, change, (low, high), name, colour)


def _draw_points(
    axes: Axes,
    values: np.ndarray,
    errors: tuple[np.ndarray, np.ndarray],
    name: str,
    colour: str,
) -> None:
    """Draw the lengths as a line and z = const as an open marker after them."""
    shift = -0.08 if name == "lattice" else 0.08
    at = np.arange(len(values)) + shift
    style = {"color": colour, "capsize": 1.8, "elinewidth": 0.8, "capthick": 0.8}
    lengths, constant = slice(None, -1), slice(-1, None)
    low, high = errors
    axes.errorbar(
        at[lengths],
        values[lengths],
        yerr=(low[lengths], high[lengths]),
        marker="o",
        label=name,
        **style,
    )
    axes.errorbar(
        at[constant],
        values[constant],
        yerr=(low[constant], high[constant]),
        marker="D",
        mfc="white",
        ls="none",
        label=f"{name}, z = const",
        **style,
    )


def _same_limits(row: np.ndarray) -> None:
    low = min(axes.get_ylim()[0] for axes in row)
    high = max(axes.get_ylim()[1] for axes in row)
    for axes in row:
        axes.set_ylim(low, high)
