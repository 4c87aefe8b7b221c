"""Pictures of the free group: what is drawn is what was computed."""

import numpy as np
import pytest

from freeproj.report.figures import FIGURES, cayley, find, overview
from freeproj.report.figures.style import book_style


def test_every_picture_and_table_of_the_paper_has_its_name():
    assert set(FIGURES) - {"spread"} == {  # the docs' example may have been run
        "study",
        "cayley",
        "invariant",
        "overview",
        "effective-dimension",
        "kernel-spectra",
        "why-table-1",
        "storage",
        "cartpole-curves",
        "lsmdp",
        "block-spectra",
        "block-spectra-raw",
        "block-spectra-shuffled",
        "block-spectra-permutation",
        "lsmdp-spaces",
        "length-curves",
        "adaptation",
    }


@pytest.mark.parametrize("name", FIGURES)
def test_every_picture_has_a_module_that_computes_and_draws(name):
    module = find(name).load()
    assert callable(module.compute)
    assert callable(module.draw)


@pytest.mark.parametrize(
    "options",
    [{"depth": 3}, {"drawing": "isometric", "n_generators": 3, "depth": 2}],
)
def test_cayley_draws_one_line_per_edge(options):
    numbers = cayley.compute(**options)
    with book_style():
        figure = cayley.draw(numbers)
    drawn = sum(len(lines.get_segments()) for lines in figure.axes[0].collections[:-1])
    assert drawn == len(numbers["edges"])


def test_overview_shows_the_matrices_and_what_they_share():
    numbers = overview.compute(dim=4)
    shared = numbers["frp_shared"]
    assert np.array_equal(np.diag(shared), np.ones(8))
    assert shared[0, 1] == pytest.approx(2 / 3)  # aaa, aab
    assert shared[0, 7] == 0  # aaa, bbb
    with book_style():
        figure = overview.draw(numbers)
    squares = sum(len(axes.images) for axes in figure.axes[:2])
    assert squares == 8 + 2 + 4 + 8
