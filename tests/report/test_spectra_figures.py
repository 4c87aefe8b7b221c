"""The pictures of the spectra: computed small, saved, drawn from the file."""

import numpy as np
import pytest

from freeproj.report.figures import find, make_figure
from freeproj.report.figures.style import book_style
from freeproj.spectra import limit_effective_dimension

SMALL = {"lengths": (1, 2, 4), "n_words": 16, "dim": 24, "n_trials": 6, "seed": 1}


@pytest.mark.parametrize("name", ["effective-dimension", "kernel-spectra"])
@pytest.mark.parametrize("n_samples", [24, 12])
def test_figures_are_computed_saved_and_drawn_again(tmp_path, name, n_samples):
    options = {**SMALL, "n_samples": n_samples}
    out = tmp_path / "new" / "a.png"
    picture, numbers = make_figure(name, out, options=options)
    assert (picture, numbers) == (out, out.with_suffix(".npz"))
    (again,) = make_figure(name, tmp_path / "b.svg", numbers_from=numbers)
    (same,) = make_figure(name, tmp_path / "c.svg", numbers_from=numbers)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert again.read_bytes() == same.read_bytes()


def test_effective_dimension_numbers_are_theory_and_measurement(tmp_path):
    numbers = find("effective-dimension").load().compute(**SMALL, n_samples=24)
    assert numbers["measured_per_dimension"].shape == (3, 10)
    gap = numbers["measured_per_dimension"] - numbers["limit_per_dimension"]
    error = numbers["deviation_per_dimension"] / np.sqrt(6)
    assert (np.abs(gap) < 4 * error + 1 / 24).all()
    assert numbers["limit_per_dimension"][2, 0] == limit_effective_dimension(1e-4, 2, 4)
    assert numbers["n_generators"].tolist() == [16, 4, 2]


@pytest.mark.parametrize("n_samples", [12, 24])
def test_kernel_spectra_curves_have_the_mass_of_the_histograms(n_samples):
    numbers = (
        find("kernel-spectra").load().compute("spectra", **SMALL, n_samples=n_samples)
    )
    assert numbers["histogram"].shape == (3, 50)
    for row in range(3):
        widths = np.diff(numbers["bin_edges"][row])
        assert np.sum(numbers["histogram"][row] * widths) == pytest.approx(1)
        places, density = numbers["limit_places"][row], numbers["limit_density"][row]
        mass = np.trapezoid(density * places, np.log(places))
        assert mass == pytest.approx(1, abs=0.02)
        middle = numbers["bin_edges"][row].max() / 3
        left = numbers["bin_edges"][row][:-1] < middle
        share = np.sum((numbers["histogram"][row] * widths)[left])
        below = places < middle
        expected = np.trapezoid((density * places)[below], np.log(places[below]))
        assert share == pytest.approx(expected, abs=0.1)


def test_every_length_has_its_curve_and_points():
    module = find("effective-dimension").load()
    numbers = module.compute(**SMALL, n_samples=24)
    with book_style():
        above, below = module.draw(numbers).axes
    dotted = [line for line in above.lines if line.get_linestyle() == ":"]
    assert len(dotted) == 3 + 1  # and the one of the legend
    np.testing.assert_array_equal(
        dotted[0].get_ydata(), numbers["curve_per_dimension"][0]
    )
    assert len(above.containers) == 3 + 1
    assert len(below.containers) == 3


def test_the_wrong_numbers_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="has numbers of"):
        make_figure(
            "kernel-spectra", tmp_path / "x.png", numbers_from=tmp_path / "x.npz"
        )
