"""The Cayley graph of a free group in the Poincaré disk. (Figure 1, left.)"""

from __future__ import annotations

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from freeproj.projection import cayley
from freeproj.report.figures.style import COLUMN, INK, PALETTE, math_word
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_DRAWINGS = ("arcs", "isometric")
_LABELLED_RADIUS = 0.93  # labels nearer to the edge would run into each other


def compute(
    drawing: str = "arcs", n_generators: int = 2, depth: int = 6, labels: int = 2
) -> dict[str, np.ndarray]:
    """Return vertices, edges and words.

    Args:
        drawing: `arcs` (the paper's, two generators) or `isometric` (any number).
        labels: words of up to so many letters are written at their vertex.
    """
    if drawing not in _DRAWINGS:
        raise ValueError(f"No drawing {drawing!r}. Known: {', '.join(_DRAWINGS)}.")
    if drawing == "arcs" and n_generators != 2:
        raise ValueError(
            f"The drawing 'arcs' has 2 generators, got `n_generators` = "
            f"{n_generators}; use drawing=isometric."
        )
    layout = (
        cayley.arc_layout(depth)
        if drawing == "arcs"
        else cayley.isometric_layout(n_generators, depth)
    )
    n_labels = int((layout.lengths <= labels).sum())
    spelled = [layout.spelled(vertex) for vertex in range(n_labels)]
    return {
        "words": layout.words,
        "lengths": layout.lengths,
        "vertices": layout.vertices,
        "edges": layout.edges,
        "labels": np.array(spelled),
    }


def draw(numbers: Numbers) -> Figure:
    """Draw the tree: a colour per generator, lines that thin out towards infinity."""
    figure = Figure(figsize=(COLUMN, COLUMN))
    figure.set_layout_engine("none")  # the disk fills the page
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03))
    axes.add_patch(Circle((0, 0), 1, facecolor="#faf8f4", edgecolor=INK, linewidth=0.8))
    _draw_edges(axes, numbers)
    _draw_vertices(axes, numbers)
    _draw_labels(axes, numbers)
    return figure


def _draw_edges(axes, numbers: Numbers) -> None:
    lengths, words = numbers["lengths"][1:], numbers["words"][1:]
    generators = np.abs(words[np.arange(len(words)), lengths - 1])
    for generator in np.unique(generators):
        for length in np.unique(lengths):
            chosen = numbers["edges"][(generators == generator) & (lengths == length)]
            lines = np.stack([np.real(chosen), np.imag(chosen)], axis=-1)
            axes.add_collection(
                LineCollection(
                    list(lines),
                    colors=PALETTE[(generator - 1) % len(PALETTE)],
                    linewidths=max(2.0 * 0.68 ** (length - 1), 0.15),
                    capstyle="round",
                    zorder=2,
                )
            )


def _draw_vertices(axes, numbers: Numbers) -> None:
    vertices, lengths = numbers["vertices"], numbers["lengths"]
    sizes = 9.0 * 0.36 ** lengths.astype(float)
    shown = sizes > 0.02
    axes.scatter(
        np.real(vertices[shown]),
        np.imag(vertices[shown]),
        s=sizes[shown],
        color=INK,
        linewidths=0,
        zorder=3,
    )


def _draw_labels(axes, numbers: Numbers) -> None:
    halo = [effects.withStroke(linewidth=1.6, foreground="#faf8f4")]
    for index, label in enumerate(numbers["labels"]):
        vertex, length = numbers["vertices"][index], int(numbers["lengths"][index])
        if abs(vertex) > _LABELLED_RADIUS:
            continue
        axes.annotate(
            math_word(str(label)),
            (vertex.real, vertex.imag),
            xytext=(2.2, 2.0) if length < 2 else (1.2, 1.2),
            textcoords="offset points",
            fontsize=(9.5, 8, 5.2, 3.4)[min(length, 3)],
            path_effects=halo,
            zorder=4,
        )
