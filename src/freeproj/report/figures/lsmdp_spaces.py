"""The two state spaces with one example of costs, and its solution (appendix E)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from freeproj.lsmdp import binary_tree, lattice, sample_costs, solve
from freeproj.report.numbers import Numbers
from freeproj.report.style import INK, WIDE

__all__ = ["compute", "draw"]

_SPACES = {"lattice": lattice, "tree": binary_tree}
_GOAL = "#c1121f"


def compute(*, seed: int = 0) -> dict[str, np.ndarray]:
    """Returns both graphs with drawn costs and the desirability z* they lead to."""
    numbers = {}
    for name, make in _SPACES.items():
        space = make()
        costs = sample_costs(np.random.default_rng(seed), space, 1)[0]
        numbers |= {
            f"{name}_positions": space.positions,
            f"{name}_edges": space.edges,
            f"{name}_goal": np.array(space.goal),
            f"{name}_cost": costs,
            f"{name}_desirability": solve(space, costs).desirability,
        }
    return numbers


def draw(numbers: Numbers) -> Figure:
    """Draws costs above z*, lattice left and tree right; the goal is ringed in red."""
    figure = Figure(figsize=(WIDE, 5.0), layout="constrained")
    grid = figure.subplots(2, 2, width_ratios=(1, 1.9))
    rows = (
        ("cost", "cost c(s)", "YlGnBu"),
        ("desirability", "desirability z*(s)", "YlOrBr"),
    )
    for axes_row, (key, title, colours) in zip(grid, rows, strict=True):
        for axes, name in zip(axes_row, _SPACES, strict=True):
            points = _draw_graph(axes, numbers, name, numbers[f"{name}_{key}"], colours)
            n_states = len(numbers[f"{name}_cost"])
            axes.set_title(f"{title}, {name} of {n_states} states")
        figure.colorbar(points, ax=axes_row, fraction=0.03, aspect=24)
    return figure


def _draw_graph(
    axes: Axes, numbers: Numbers, name: str, values: np.ndarray, colours: str
):
    """Draws edges, then vertices coloured and labelled by their values."""
    positions, goal = numbers[f"{name}_positions"], int(numbers[f"{name}_goal"])
    segments = list(positions[numbers[f"{name}_edges"]])
    axes.add_collection(
        LineCollection(segments, colors="0.55", linewidths=1.1, zorder=1)
    )
    points = axes.scatter(
        *positions.T,
        c=values,
        s=330,
        cmap=colours,
        vmin=0,
        vmax=1,
        edgecolors=[_GOAL if at == goal else INK for at in range(len(values))],
        linewidths=[2.4 if at == goal else 0.6 for at in range(len(values))],
        zorder=2,
    )
    for (x, y), value in zip(positions, values, strict=True):
        ink = "white" if value > 0.62 else INK
        axes.text(
            x, y, f"{value:.2f}", ha="center", va="center", fontsize=6.5, color=ink
        )
    axes.set_axis_off()
    axes.margins(0.12)
    return points
