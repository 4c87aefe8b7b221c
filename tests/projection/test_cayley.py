"""Laws of the Poincaré disk and of the two drawings of the Cayley graph."""

import math

import numpy as np
import pytest

from freeproj.projection import cayley, words

LAYOUTS = [
    pytest.param(cayley.arc_layout(5), id="arcs"),
    pytest.param(cayley.isometric_layout(2, 5), id="isometric"),
    pytest.param(cayley.isometric_layout(3, 3), id="isometric-3"),
]


def distance(x, y):
    """2 artanh |x - y| / |1 - conj(x) y|, that of the Poincaré disk."""
    return 2 * np.arctanh(np.abs(x - y) / np.abs(1 - np.conj(x) * y))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_reduced_word_has_a_vertex_of_its_own_inside_the_disk(layout):
    n = np.abs(layout.words).max()
    depth = layout.words.shape[1]
    sizes = [words.count_words(int(n), k, inverses=True) for k in range(depth + 1)]
    assert np.bincount(layout.lengths).tolist() == sizes
    assert np.all(np.abs(layout.vertices) < 1)
    gaps = np.abs(layout.vertices[:, None] - layout.vertices[None, :])
    assert gaps[~np.eye(len(gaps), dtype=bool)].min() > 1e-9


@pytest.mark.parametrize("layout", LAYOUTS)
def test_edges_join_a_word_to_the_word_without_its_last_letter(layout):
    place = {
        tuple(w[:k]): i
        for i, (w, k) in enumerate(
            zip(layout.words.tolist(), layout.lengths, strict=True)
        )
    }
    for index in range(1, len(layout.vertices)):
        word = tuple(layout.words[index, : layout.lengths[index]].tolist())
        parent = place[word[:-1]]
        edge = layout.edges[index - 1]
        assert edge[0] == pytest.approx(layout.vertices[parent], abs=1e-9)
        assert edge[-1] == pytest.approx(layout.vertices[index], abs=1e-9)
        assert layout.letters[index - 1] == word[-1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_edges_are_geodesics(layout):
    # On a geodesic distances add up; on any other curve they do not.
    start, middle, stop = layout.edges[:, 0], layout.edges[:, 9], layout.edges[:, -1]
    np.testing.assert_allclose(
        distance(start, middle) + distance(middle, stop),
        distance(start, stop),
        rtol=1e-5,
    )


def test_isometric_edges_all_have_one_hyperbolic_length():
    for n in (1, 2, 3):
        layout = cayley.isometric_layout(n, 4)
        lengths = distance(layout.edges[:, 0], layout.edges[:, -1])
        np.testing.assert_allclose(lengths, lengths[0], rtol=1e-6)


def test_arcs_turn_at_right_angles_or_go_straight_on_at_the_first_vertices():
    # The a-line is the real axis and the b-line the imaginary one.
    layout = cayley.arc_layout(3)
    for index, vertex in enumerate(layout.vertices):
        letters = set(layout.words[index, : layout.lengths[index]].tolist())
        if letters and letters <= {1}:
            assert vertex.imag == pytest.approx(0, abs=1e-12)
            assert vertex.real > 0
        if letters and letters <= {-2}:
            assert vertex.real == pytest.approx(0, abs=1e-12)
            assert vertex.imag < 0


def test_the_first_vertex_of_the_arcs_is_where_theory_puts_it():
    # The circle at angle 0, δ = π/6, crosses the real axis at sec δ - tan δ.
    layout = cayley.arc_layout(1)
    east = layout.vertices[layout.words[:, 0] == 1][0]
    assert east == pytest.approx(1 / math.cos(math.pi / 6) - math.tan(math.pi / 6))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cayley.isometric_layout(2, 0), "depth"),
        (lambda: cayley.isometric_layout(8, 9), "smaller `depth`"),
    ],
)
def test_bad_input_is_refused_with_its_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()
