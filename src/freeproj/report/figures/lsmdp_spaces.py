"""The two state spaces with one example of costs, and its solution (appendix E)."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from freeproj.lsmdp import binary_tree, lattice, sample_costs, solve
from freeproj.report.figures.style import INK, WIDE
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_SPACES = {"lattice": lattice, "tree": binary_tree}
_GOAL = "#c1121f"


def compute(*, seed: int = 0) -> dict[str, np.ndarray]:
    """Return both graphs with drawn costs and the desirability z* they lead to."""
    numbers = {}
    for name, make in _SPACES.items():
        space = make()
        costs = sample_costs(np.random.default_rng(seed), space, 1)[0]
        shape = {"positions": space.positions, "edges": space.edges, "goal": space.goal}
        found = {"cost": costs, "desirability": solve(space, costs).desirability}
        numbers |= {f"{name}_{k}": np.array(v) for k, v in (shape | found).items()}
    return numbers


def draw(numbers: Numbers) -> Figure:
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
