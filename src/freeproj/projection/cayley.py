"""The Cayley graph of a free group in the Poincaré disk: coordinates, no drawing.

Points of the disk are complex numbers; geodesics are arcs of circles orthogonal to the
unit circle, and diameters. Two layouts of the tree of reduced words:

- `arc_layout`: the paper's, for two generators. The arcs at level j stand at the
  angles kπ/(2·3^j); every arc is a whole line a^ℤ or b^ℤ of the graph. Faithful to the
  tree, not isometric. (The rule as printed starts at m = 1 and leaves the arcs
  unconnected; the tree starts at m = 2 and has the two diameters.)
- `isometric_layout`: any number of generators. A generator is a hyperbolic translation,
  so that every edge has the same hyperbolic length. (Appendix B.)
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Int

from freeproj.projection import words
from freeproj.storage.checks import at_least

__all__ = ["Layout", "arc_layout", "isometric_layout"]

_POINTS_PER_EDGE = 24
_MAX_VERTICES = 500_000


class Layout(NamedTuple):
    """The vertices and edges of the tree, the identity first, then by word length.

    Edge i leads from the parent of vertex i + 1 to that vertex.
    """

    words: Int[np.ndarray, "vertices depth"]  # padded with zeros
    lengths: Int[np.ndarray, " vertices"]
    vertices: Complex[np.ndarray, " vertices"]
    edges: Complex[np.ndarray, "edges points"]

    @property
    def letters(self) -> Int[np.ndarray, " edges"]:
        """The letter that each edge stands for: the last of its word."""
        return self.words[np.arange(1, len(self.words)), self.lengths[1:] - 1]

    def spelled(self, vertex: int) -> str:
        """The word of a vertex, for people."""
        return words.spell(self.words[vertex, : self.lengths[vertex]])


def isometric_layout(n_generators: int = 2, depth: int = 5) -> Layout:
    """Place a word at T_{s_1} ∘ ··· ∘ T_{s_ℓ}(0), with translations T_s.

    T_k(z) = (z + r e^{iθ}) / (1 + r e^{-iθ} z) with θ = π(k-1)/n and r = cos(π/2n), the
    least r for which branches stay apart (1/2 for n = 1).
    """
    tree = _reduced_words(n_generators, depth)
    lengths = (tree != 0).sum(axis=1)
    reach = math.cos(math.pi / (2 * n_generators)) if n_generators > 1 else 0.5
    places = np.where(tree > 0, tree - 1, -tree - 1 + n_generators)
    shifts = reach * np.exp(1j * np.pi * places / n_generators)
    vertices = np.zeros(len(tree), dtype=complex)
    for position in reversed(range(depth)):
        shift = shifts[:, position]
        moved = (vertices + shift) / (1 + np.conj(shift) * vertices)
        vertices = np.where(position < lengths, moved, vertices)
    return Layout(tree, lengths, vertices, _edges(lengths, vertices))


def arc_layout(depth: int = 5) -> Layout:
    """Place the words of F_2 where the paper's arcs cross.

    Word w of length j stands on the arc at angle kπ/(2·3^(j-1)): a letter that goes
    straight on has k → 3k, a left or right turn 3k ± 1. East, north, west and south
    stand for a, b, a^-1, b^-1.
    """
    tree = _reduced_words(2, depth)
    lengths = (tree != 0).sum(axis=1)
    heading = np.array([0, 0, 1, 3, 2])[tree]  # the last two stand for b^-1 and a^-1
    # Of each word of a level: k, and the centres of the circle that crosses its last
    # step and of the circle of the step itself, nan where that is a diameter.
    place = heading[lengths == 1, 0]
    arc, line = _arc(place, 0), np.full(4, np.nan, dtype=complex)
    levels = [np.zeros(1, dtype=complex), _crossings(arc, line)]
    for level in range(1, depth):
        last, before = (heading[lengths == level + 1, k] for k in (level, level - 1))
        turn = (last - before + 1) % 4 - 1
        place, arc, line = (np.repeat(each, 3) for each in (place, arc, line))
        place, line = 3 * place + turn, np.where(turn == 0, line, arc)
        arc = _arc(place, level)
        levels.append(_crossings(arc, line))
    vertices = np.concatenate(levels)
    return Layout(tree, lengths, vertices, _edges(lengths, vertices))


def _arc(place: Int[np.ndarray, " words"], level: int) -> Complex[np.ndarray, " words"]:
    """Return the centre of the circle at right angles to the unit's at e^{i(φ ± δ)}."""
    angle, spread = place * math.pi / (2 * 3**level), math.pi / (6 * 3**level)
    return np.exp(1j * angle) / math.cos(spread)


def _crossings(
    first: Complex[np.ndarray, " words"], second: Complex[np.ndarray, " words"]
) -> Complex[np.ndarray, " words"]:
    """Return where geodesics meet; nan is the diameter through the first one.

    Both circles satisfy |z|² + 1 = 2 Re(z conj(C)), so z is a multiple of i(C_1 - C_2).
    """
    direction = np.where(np.isnan(second), first, 1j * (first - second))
    unit = direction / abs(direction)
    reach = (unit * first.conj()).real
    return unit * np.sign(reach) * (abs(reach) - np.sqrt(reach**2 - 1))


def _edges(
    lengths: Int[np.ndarray, " vertices"], vertices: Complex[np.ndarray, " vertices"]
) -> Complex[np.ndarray, "edges points"]:
    """Return points along the geodesic from each vertex's parent to the vertex."""
    # Words stand by length, then in order: those that continue one stand together.
    n_letters, inner = np.sum(lengths == 1), np.flatnonzero(lengths < lengths.max())
    parents = np.repeat(inner, np.where(inner == 0, n_letters, n_letters - 1))
    start, stop = vertices[parents, None], vertices[1:, None]
    seen = (stop - start) / (1 - start.conj() * stop)  # from start, moved to 0
    along = np.linspace(0, 1, _POINTS_PER_EDGE) * seen
    return (along + start) / (1 + start.conj() * along)


def _reduced_words(n_generators: int, depth: int) -> Int[np.ndarray, "words depth"]:
    """Return all reduced words of at most `depth` letters, padded with zeros."""
    at_least(1, depth=depth)
    lengths = range(depth + 1)
    total = sum(words.count_words(n_generators, k, inverses=True) for k in lengths)
    if total > _MAX_VERTICES:
        raise ValueError(
            f"`depth` = {depth} has {total} words for {n_generators} generators; at "
            f"most {_MAX_VERTICES} are placed. Choose a smaller `depth`."
        )
    levels = (words.enumerate_words(n_generators, k, inverses=True) for k in lengths)
    padded = [np.pad(each, ((0, 0), (0, depth - each.shape[1]))) for each in levels]
    return np.concatenate(padded)
