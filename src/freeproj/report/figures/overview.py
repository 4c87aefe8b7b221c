"""Standard against free random projection: who shares what. (Figure 1, right.)

Eight projections each: independent ones for RP; for FRP the words of three letters in
two generators, whose products share their prefixes. The little squares are the matrices
themselves.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.image import AxesImage

from freeproj.projection import words
from freeproj.report.figures.style import INK, PALETTE, WIDE, math_word
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_SIDE = 0.78  # of a drawn matrix; neighbours stand 1 apart
_LEVEL = 1.55  # between the levels of the tree


def compute(seed: int = 0, dim: int = 6, length: int = 3) -> dict[str, np.ndarray]:
    """Return the matrices of RP, of every prefix for FRP, and the shared prefixes."""
    import jax

    from freeproj.projection import matrices

    key_rp, key_frp = jax.random.split(jax.random.key(seed))
    family = words.enumerate_words(2, length)
    bases = matrices.haar(key_frp, 2, dim)
    numbers = {
        "rp": np.asarray(matrices.haar(key_rp, 2**length, dim)),
        "words": family,
        "rp_shared": np.eye(len(family)),
        "frp_shared": np.array(
            [[words.common_prefix(v, w) / length for w in family] for v in family]
        ),
    }
    for level in range(1, length + 1):
        products = matrices.represent_all(bases, level)
        numbers[f"frp_{level}"] = np.asarray(products)
    return numbers


def draw(numbers: Numbers) -> Figure:
    """Draw RP left and FRP right; below, how much prefix two words share."""
    figure = Figure(figsize=(WIDE, 4.3))
    figure.set_layout_engine("none")  # the trees and the squares are placed by hand
    trees = GridSpec(1, 2, figure, left=0.02, right=0.98, top=0.94, bottom=0.43)
    shares = GridSpec(1, 2, figure, left=0.02, right=0.98, top=0.38, bottom=0.07)
    depth = numbers["words"].shape[1]
    labels = [math_word(words.spell(word)) for word in numbers["words"]]
    plain = [f"$U_{{{index + 1}}}$" for index in range(len(labels))]
    _draw_independent(figure.add_subplot(trees[0]), numbers["rp"], plain, depth)
    _draw_tree(figure.add_subplot(trees[1]), numbers, labels)
    _draw_shared(figure.add_subplot(shares[0]), numbers["rp_shared"], plain)
    image = _draw_shared(figure.add_subplot(shares[1]), numbers["frp_shared"], labels)
    bar = figure.colorbar(image, cax=figure.add_axes((0.49, 0.1, 0.012, 0.25)))
    bar.set_ticks([0, 1 / 3, 2 / 3, 1], labels=["0", "⅓", "⅔", "1"])
    bar.ax.set_title("prefix\nshared", fontsize=7, pad=5)
    bar.outline.set_visible(False)
    return figure


def _draw_independent(
    axes: Axes, drawn: np.ndarray, labels: list[str], depth: int
) -> None:
    bottom, root = -depth * _LEVEL, ((len(drawn) - 1) / 2, 0.0)
    _root(axes, *root)
    for place, matrix in enumerate(drawn):
        _link(axes, root, (place, bottom), "#9aa0a6", 0.8)
        _square(axes, matrix, float(place), bottom, "#9aa0a6")
    _frame(axes, labels, depth, "Standard random projection: independent matrices")


def _draw_tree(axes: Axes, numbers: Numbers, labels: list[str]) -> None:
    depth = numbers["words"].shape[1]
    _root(axes, (len(labels) - 1) / 2, 0.0)
    for level in range(1, depth + 1):
        for index, matrix in enumerate(numbers[f"frp_{level}"]):
            letter = index % 2
            start = (_place(index // 2, level - 1, depth), -(level - 1) * _LEVEL)
            stop = (_place(index, level, depth), -level * _LEVEL)
            _link(axes, start, stop, PALETTE[letter], 1.3)
            _square(axes, matrix, *stop, PALETTE[letter])
    for letter, name in enumerate(("a", "b")):
        axes.text(
            -0.4,
            -0.1 - 0.55 * letter,
            rf"${name}$: times $U_{letter + 1}$",
            color=PALETTE[letter],
        )
    _frame(axes, labels, depth, "Free random projection: words share prefixes")


def _place(index: int, level: int, depth: int) -> float:
    """Centre a vertex over the leaves below it."""
    leaves = 2 ** (depth - level)
    return index * leaves + (leaves - 1) / 2


def _frame(axes: Axes, labels: list[str], depth: int, title: str) -> None:
    bottom = -depth * _LEVEL
    for place, label in enumerate(labels):
        axes.text(place, bottom - 0.75, label, ha="center", va="center")
    axes.set(xlim=(-0.7, len(labels) - 0.3), ylim=(bottom - 1.05, 0.5))
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(title, pad=6)


def _root(axes: Axes, x: float, y: float) -> None:
    axes.plot([x], [y], "o", color=INK, markersize=4, zorder=3)


def _link(axes: Axes, start, stop, colour: str, width: float) -> None:
    axes.plot(
        [start[0], stop[0]],
        [start[1], stop[1]],
        color=colour,
        linewidth=width,
        zorder=1,
    )


def _square(axes: Axes, matrix: np.ndarray, x: float, y: float, colour: str) -> None:
    half = _SIDE / 2
    axes.imshow(
        matrix,
        extent=(x - half, x + half, y - half, y + half),
        cmap="PuOr",
        vmin=-0.9,
        vmax=0.9,
        zorder=2,
        interpolation="nearest",
        aspect="auto",
    )
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * half
    axes.plot(
        x + corners[:, 0], y + corners[:, 1], color=colour, linewidth=1.0, zorder=3
    )


def _draw_shared(axes: Axes, shared: np.ndarray, labels: list[str]) -> AxesImage:
    image = axes.imshow(shared, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(labels)), labels, rotation=90)
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image
