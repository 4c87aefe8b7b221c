"""Linearly solvable MDPs on lattice and tree: distances, and an example of costs.

The first row of distances (Fig. 4) is the paper's view. The others show the change from
ℓ = 1 with seeds kept in pairs: for as few seeds, and for enough to see how large the
effect is. z = const, the passive dynamics, stands beside the lengths.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from freeproj import lsmdp
from freeproj.report.figures.style import INK, PALETTE, WIDE, same_limits
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_SPACES = {"lattice": lsmdp.lattice, "tree": lsmdp.binary_tree}
_GOAL = "#c1121f"
_TITLES = (
    r"KL($\pi^*\Vert\,\pi^\ell$), sum over states",
    r"$|\pi^\ell - \pi^*|$, sum over states",
    r"$z^\ell$ from $z^*$, unit length, L2",
    r"$z^\ell$ from $z^*$, unit length, L1",
)


def compute(
    show: str = "distances",
    *,
    lengths: Sequence[int] = (1, 2, 4, 8),
    n_words: int = 256,
    n_seeds: int = 10,
    n_seeds_many: int = 4000,
    reading: str = "goal",
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Return `distances`, metrics x (lengths, z = const), or an example on `spaces`."""
    if show == "spaces":
        return _examples(seed)
    counts = {"n_seeds": n_seeds, "n_seeds_many": n_seeds_many}
    settings = {"lengths": lengths, "n_words": n_words, "reading": reading}
    numbers = {name: np.array(value) for name, value in (settings | counts).items()}
    for name, make in _SPACES.items():
        for many, count in (("", n_seeds), ("_many", n_seeds_many)):
            found = lsmdp.compare_lengths(make(), n_seeds=count, seed=seed, **settings)
            changes = lsmdp.paired_changes(found, reference=found.lengths[0])
            summary = {
                "mean": found.table.mean(axis=-1),
                "std": found.table.std(axis=-1, ddof=1),
                "change": changes.value,
                "change_low": changes.low,
                "change_high": changes.high,
            }
            numbers |= {f"{name}{many}_{key}": value for key, value in summary.items()}
    return numbers


def _examples(seed: int) -> dict[str, np.ndarray]:
    numbers = {}
    for name, make in _SPACES.items():
        space = make()
        costs = lsmdp.sample_costs(np.random.default_rng(seed), space, 1)[0]
        shape = {"positions": space.positions, "edges": space.edges, "goal": space.goal}
        found = {"cost": costs, "desirability": lsmdp.solve(space, costs).desirability}
        numbers |= {f"{name}_{k}": np.array(v) for k, v in (shape | found).items()}
    return numbers


def draw(numbers: Numbers) -> Figure:
    """Draw four distances: their values, then changes for few and for many seeds."""
    if "lattice_cost" in numbers:
        return _draw_spaces(numbers)
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


def _draw_spaces(numbers: Numbers) -> Figure:
    """Draw costs above z*, lattice left and tree right; the goal is ringed in red."""
    figure = Figure(figsize=(WIDE, 5.0), layout="constrained")
    grid = figure.subplots(2, 2, width_ratios=(1, 1.9))
    least = min(numbers[f"{name}_desirability"].min() for name in _SPACES)
    rows = (
        ("cost", "cost c(s)", Normalize(0, 1), "YlGnBu"),
        ("desirability", "desirability z*(s)", LogNorm(least, 1), "YlOrBr"),
    )
    for axes_row, (key, title, norm, colours) in zip(grid, rows, strict=True):
        scale = ScalarMappable(norm, colours)
        for axes, name in zip(axes_row, _SPACES, strict=True):
            values = numbers[f"{name}_{key}"]
            _draw_graph(axes, numbers, name, values, scale)
            axes.set_title(f"{title}, {name} of {len(values)} states")
            axes.set_axis_off()
            axes.margins(0.12)
        figure.colorbar(scale, ax=axes_row, fraction=0.03, aspect=24)
    return figure


def _draw_graph(
    axes: Axes, numbers: Numbers, name: str, values: np.ndarray, scale: ScalarMappable
) -> None:
    """Draw edges and vertices, coloured and labelled by their values."""
    positions, goal = numbers[f"{name}_positions"], int(numbers[f"{name}_goal"])
    segments = list(positions[numbers[f"{name}_edges"]])
    axes.add_collection(LineCollection(segments, colors="0.55", lw=1.1, zorder=1))
    rings = [(_GOAL, 2.4) if at == goal else (INK, 0.6) for at in range(len(values))]
    colours, widths = zip(*rings, strict=True)
    edges = {"edgecolors": colours, "linewidths": widths}
    shades = {"c": values, "cmap": scale.cmap, "norm": scale.norm}
    axes.scatter(*positions.T, s=370, zorder=2, **shades, **edges)
    for (x, y), value in zip(positions, values, strict=True):
        label = f"{value:.2f}" if value >= 0.1 else f"{value:.1g}"
        ink = "white" if np.asarray(scale.norm(value)) > 0.6 else INK
        axes.text(x, y, label, ha="center", va="center", fontsize=6, color=ink)
