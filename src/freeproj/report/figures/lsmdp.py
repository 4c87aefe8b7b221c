"""Distances from the optimum against word length, lattice and tree (Fig. 4).

The first row is the paper's view. The other two show the change against ℓ = 1 with
seeds kept in pairs: for as few seeds, and for enough to see how large the effect is.
z = const, the passive dynamics, stands beside the lengths in all of them.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.lsmdp import binary_tree, compare_lengths, lattice, paired_changes
from freeproj.report.figures.style import INK, PALETTE, WIDE, same_limits
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_SPACES = {"lattice": lattice, "tree": binary_tree}
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
    counts = {"n_seeds": n_seeds, "n_seeds_many": n_seeds_many}
    settings = {"lengths": lengths, "n_words": n_words, "reading": reading}
    numbers = {name: np.array(value) for name, value in (settings | counts).items()}
    for name, make in _SPACES.items():
        for many, count in (("", n_seeds), ("_many", n_seeds_many)):
            found = compare_lengths(make(), n_seeds=count, seed=seed, **settings)
            changes = paired_changes(found, reference=found.lengths[0])
            summary = {
                "mean": found.table.mean(axis=-1),
                "std": found.table.std(axis=-1, ddof=1),
                "change": changes.value,
                "change_low": changes.low,
                "change_high": changes.high,
            }
            numbers |= {f"{name}{many}_{key}": value for key, value in summary.items()}
    return numbers


def draw(numbers: Numbers) -> Figure:
    """Draw four distances: their values, then changes for few and for many seeds."""
    figure = Figure(figsize=(WIDE, 5.4), layout="constrained")
    grid = figure.subplots(3, 4, sharex=True)
    for metric, (title, column) in enumerate(zip(_TITLES, grid.T, strict=True)):
        column[0].set_title(title)
        for name, colour in zip(_SPACES, PALETTE, strict=False):
            means, errors = (
                numbers[f"{name}_{key}"][metric] for key in ("mean", "std")
            )
            _draw_points(column[0], means, np.array([errors, errors]), name)
            style = {"color": colour, "lw": 0.6, "ls": (0, (4, 3)), "zorder": 0}
            column[0].axhline(means[-1], **style)
        column[0].set_ylim(bottom=0)
        _draw_changes(column[1], numbers, metric, "")
        _draw_changes(column[2], numbers, metric, "_many")
        column[2].set_xlabel("word length ℓ")
    grid[0, 0].set_ylabel(f"mean ± std, {numbers['n_seeds']} seeds")
    for row, count in ((1, numbers["n_seeds"]), (2, numbers["n_seeds_many"])):
        told = f"change from ℓ = 1 in %\n{count} seeds, 95 % interval"
        grid[row, 0].set_ylabel(told)
        same_limits(list(grid[row]))
    figure.align_ylabels(grid[:, 0])
    ticks = [*map(str, numbers["lengths"]), "const"]
    grid[0, 0].set_xticks(range(len(ticks)), ticks)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    figure.suptitle(
        f"Reading '{numbers['reading']}', {numbers['n_words']} words. "
        "z = const is the baseline, the passive policy; lower is better.",
        fontsize=9,
    )
    return figure


def _draw_changes(axes: Axes, numbers: Numbers, metric: int, many: str) -> None:
    axes.axhline(0, color=INK, lw=0.5, zorder=0)
    for name in _SPACES:
        change, low, high = (
            100 * numbers[f"{name}{many}_change{end}"][metric]
            for end in ("", "_low", "_high")
        )
        _draw_points(axes, change, np.array([change - low, high - change]), name)


def _draw_points(axes: Axes, values: np.ndarray, errors: np.ndarray, name: str) -> None:
    """Draw the lengths as a line and z = const as an open marker after them."""
    at = np.arange(len(values)) + (-0.08 if name == "lattice" else 0.08)
    colour = PALETTE[list(_SPACES).index(name)]
    style = {"color": colour, "capsize": 1.8, "elinewidth": 0.8, "capthick": 0.8}
    constant = {"marker": "D", "mfc": "white", "ls": "none"}
    for part, label, look in (
        (slice(None, -1), name, {"marker": "o"}),
        (slice(-1, None), f"{name}, z = const", constant),
    ):
        points = (at[part], values[part], errors[:, part])
        axes.errorbar(*points, label=label, **look, **style)
