"""Standard against free random projection: who shares what. (Figure 1, right.)

Eight projections each, independent ones for RP, words of three letters in two
generators for FRP. The little squares are the matrices themselves.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.image import AxesImage

from freeproj.projection import words
from freeproj.report.figures.style import INK, PALETTE, WIDE, math_word
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

# Of a drawn matrix; neighbours stand 1 apart.
_CORNERS = 0.39 * np.array([(-1, 1, 1, -1, -1), (-1, -1, 1, 1, -1)])
_MATRIX = {"cmap": "PuOr", "vmin": -0.9, "vmax": 0.9, "interpolation": "nearest"}
_LEVEL = 1.55  # between the levels of the tree
_GREY = "#9aa0a6"


def compute(seed: int = 0, dim: int = 6, length: int = 3) -> dict[str, np.ndarray]:
    """Return the matrices of RP, of every prefix for FRP, and the shared prefixes."""
    import jax

    from freeproj.projection import matrices

    key_rp, key_frp = jax.random.split(jax.random.key(seed))
    family = words.enumerate_words(2, length)
    shared = [[words.common_prefix(v, w) / length for w in family] for v in family]
    bases = matrices.haar(key_frp, 2, dim)
    numbers = {
        "rp": matrices.haar(key_rp, 2**length, dim),
        "words": family,
        "rp_shared": np.eye(len(family)),
        "frp_shared": shared,
    }
    for level in range(1, length + 1):
        numbers[f"frp_{level}"] = matrices.block_all(bases, level, dim)
    return {name: np.asarray(each) for name, each in numbers.items()}


def draw(numbers: Numbers) -> Figure:
    """Draw RP left and FRP right; below, how much prefix two words share."""
    figure = Figure(figsize=(WIDE, 4.3))
    figure.set_layout_engine("none")  # the trees and the squares are placed by hand
    trees = GridSpec(1, 2, figure, left=0.02, right=0.98, top=0.94, bottom=0.43)
    shares = GridSpec(1, 2, figure, left=0.02, right=0.98, top=0.38, bottom=0.07)
    labels = [math_word(words.spell(word)) for word in numbers["words"]]
    plain = [f"$U_{{{index + 1}}}$" for index in range(len(labels))]
    depth = numbers["words"].shape[1]
    free = [numbers[f"frp_{level}"] for level in range(1, depth + 1)]
    rp, frp = (figure.add_subplot(place) for place in trees)
    _draw_tree(rp, {depth: numbers["rp"]}, (_GREY, _GREY), 0.8)
    _draw_tree(frp, dict(enumerate(free, 1)), PALETTE, 1.3)
    _frame(rp, plain, depth, "Standard random projection: independent matrices")
    _frame(frp, labels, depth, "Free random projection: words share prefixes")
    for letter, name in enumerate("ab"):
        text, colour = rf"${name}$: times $U_{letter + 1}$", PALETTE[letter]
        frp.text(-0.4, -0.1 - 0.55 * letter, text, color=colour)
    _draw_shared(figure.add_subplot(shares[0]), numbers["rp_shared"], plain)
    image = _draw_shared(figure.add_subplot(shares[1]), numbers["frp_shared"], labels)
    bar = figure.colorbar(image, cax=figure.add_axes((0.49, 0.1, 0.012, 0.25)))
    bar.set_ticks([0, 1 / 3, 2 / 3, 1], labels=["0", "⅓", "⅔", "1"])
    bar.ax.set_title("prefix\nshared", fontsize=7, pad=5)
    bar.outline.set_visible(False)
    return figure


def _draw_tree(
    axes: Axes, levels: Mapping[int, np.ndarray], colours: Sequence[str], width: float
) -> None:
    """Draw the matrices of each level, linked to those of the level drawn above it."""
    depth, above = max(levels), 0
    for level, matrices in levels.items():
        for index, matrix in enumerate(matrices):
            stop, colour = _vertex(index, level, depth), colours[index % 2]
            start = _vertex(index // 2 ** (level - above), above, depth)
            axes.plot(*zip(start, stop, strict=True), color=colour, lw=width, zorder=1)
            corners = np.array(stop)[:, None] + _CORNERS
            box = (*corners[0, [0, 1]], *corners[1, [0, 2]])
            axes.imshow(matrix, extent=box, aspect="auto", zorder=2, **_MATRIX)
            axes.plot(*corners, color=colour, lw=1.0, zorder=3)
        above = level


def _vertex(index: int, level: int, depth: int) -> tuple[float, float]:
    """Centre a vertex over the leaves below it."""
    leaves = 2 ** (depth - level)
    return index * leaves + (leaves - 1) / 2, -level * _LEVEL


def _frame(axes: Axes, labels: list[str], depth: int, title: str) -> None:
    """Draw the root, and the labels below the leaves."""
    bottom = -depth * _LEVEL
    axes.plot(*_vertex(0, 0, depth), "o", color=INK, markersize=4, zorder=3)
    for place, label in enumerate(labels):
        axes.text(place, bottom - 0.75, label, ha="center", va="center")
    axes.set(xlim=(-0.7, len(labels) - 0.3), ylim=(bottom - 1.05, 0.5))
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(title, pad=6)


def _draw_shared(axes: Axes, shared: np.ndarray, labels: list[str]) -> AxesImage:
    image = axes.imshow(shared, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(labels)), labels, rotation=90)
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image
