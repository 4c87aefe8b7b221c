"""The Cayley graph of a free group in the Poincaré disk. (Figure 1, left.)"""

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from freeproj.projection import cayley
from freeproj.report.figures.style import COLUMN, INK, PALETTE, math_word
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_LABELLED_RADIUS = 0.93  # labels nearer to the edge would run into each other
_PAPER = "#faf8f4"


def compute(
    drawing: str = "arcs", n_generators: int = 2, depth: int = 6, labels: int = 2
) -> dict[str, np.ndarray]:
    """Return vertices, edges and words.

    Args:
        drawing: `arcs` (the paper's, two generators) or `isometric` (any number).
        labels: words of up to so many letters are written at their vertex.
    """
    if drawing not in ("arcs", "isometric"):
        raise ValueError(f"No drawing {drawing!r}. Known: arcs, isometric.")
    if drawing == "isometric":
        layout = cayley.isometric_layout(n_generators, depth)
    elif n_generators == 2:
        layout = cayley.arc_layout(depth)
    else:
        raise ValueError(
            f"The drawing 'arcs' has 2 generators, got `n_generators` = "
            f"{n_generators}; use drawing=isometric."
        )
    labelled = range(int((layout.lengths <= labels).sum()))
    spelled = np.array([layout.spelled(vertex) for vertex in labelled])
    names = ("words", "lengths", "vertices", "edges")
    return {name: getattr(layout, name) for name in names} | {"labels": spelled}


def draw(numbers: Numbers) -> Figure:
    """Draw the tree: a colour per generator, lines that thin out towards infinity."""
    figure = Figure(figsize=(COLUMN, COLUMN))
    figure.set_layout_engine("none")  # the disk fills the page
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03))
    axes.add_patch(Circle((0, 0), 1, facecolor=_PAPER, edgecolor=INK, linewidth=0.8))
    _draw_edges(axes, numbers)
    sizes = 9.0 * 0.36 ** numbers["lengths"].astype(float)
    shown, sizes = numbers["vertices"][sizes > 0.02], sizes[sizes > 0.02]
    places = np.real(shown), np.imag(shown)
    axes.scatter(*places, s=sizes, color=INK, linewidths=0, zorder=3)
    _draw_labels(axes, numbers)
    return figure


def _draw_edges(axes, numbers: Numbers) -> None:
    lengths, words = numbers["lengths"][1:], numbers["words"][1:]
    generators = np.abs(words[np.arange(len(words)), lengths - 1])
    for generator in np.unique(generators):
        for length in np.unique(lengths):
            chosen = numbers["edges"][(generators == generator) & (lengths == length)]
            lines = list(np.stack([np.real(chosen), np.imag(chosen)], axis=-1))
            style = {"colors": PALETTE[(generator - 1) % len(PALETTE)], "zorder": 2}
            style["linewidths"] = max(2.0 * 0.68 ** (length - 1), 0.15)
            axes.add_collection(LineCollection(lines, capstyle="round", **style))


def _draw_labels(axes, numbers: Numbers) -> None:
    halo = [effects.withStroke(linewidth=1.6, foreground=_PAPER)]
    for index, label in enumerate(numbers["labels"]):
        vertex, length = numbers["vertices"][index], int(numbers["lengths"][index])
        if abs(vertex) > _LABELLED_RADIUS:
            continue
        place = (vertex.real, vertex.imag)
        shift = (2.2, 2.0) if length < 2 else (1.2, 1.2)
        size = (9.5, 8, 5.2, 3.4)[min(length, 3)]
        style = {"textcoords": "offset points", "path_effects": halo, "zorder": 4}
        text = math_word(str(label))
        axes.annotate(text, place, xytext=shift, fontsize=size, **style)
