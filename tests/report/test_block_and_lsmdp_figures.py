"""Laws of the pictures of block spectra and linearly solvable MDPs."""

import numpy as np
import pytest

from freeproj.report.figures import block_spectra, find, lsmdp, make_figure
from freeproj.storage.saved import load_numbers

SMALL = {
    "block-spectra": {"dim": 4, "n_trials": 2},
    "block-spectra-raw": {"dim": 4, "n_trials": 2},
    "block-spectra-shuffled": {"dim": 4, "n_trials": 2},
    "block-spectra-permutation": {"dim": 4, "n_trials": 2},
    "lsmdp": {"n_seeds": 3, "n_seeds_many": 20},
    "lsmdp-spaces": {},
}


@pytest.mark.parametrize("name", SMALL)
def test_a_picture_drawn_from_its_file_is_the_picture_computed(name, tmp_path):
    drawn, saved = make_figure(name, tmp_path / "a.svg", options=SMALL[name])
    (again,) = make_figure(name, tmp_path / "b.svg", numbers_from=saved)
    without_date = [
        [line for line in path.read_text().splitlines() if "dc:date" not in line]
        for path in (drawn, again)
    ]
    assert without_date[0] == without_date[1]


@pytest.mark.parametrize("name", SMALL)
def test_the_same_seed_gives_the_same_numbers_and_another_does_not(name):
    spec = find(name)
    options = {**spec.options, **SMALL[name]}
    first, second = (spec.load().compute(**options) for _ in range(2))
    for key, array in first.items():
        np.testing.assert_array_equal(array, second[key])
    other = spec.load().compute(**options, seed=1)
    assert any(
        array.dtype == float and not np.array_equal(array, other[key])
        for key, array in first.items()
    )


@pytest.mark.parametrize("name", SMALL)
def test_numbers_of_another_picture_are_refused(name, tmp_path):
    other = "lsmdp-spaces" if name != "lsmdp-spaces" else "lsmdp"
    _, saved = make_figure(other, tmp_path / "a.png", options=SMALL[other])
    with pytest.raises(ValueError, match="has numbers of"):
        make_figure(name, tmp_path / "b.png", numbers_from=saved)


def test_bars_and_point_masses_add_up_to_one():
    rng = np.random.default_rng(0)
    sample = np.concatenate([np.zeros(500), rng.uniform(0.1, 9, 480), np.full(20, 16)])
    smooth, atoms = block_spectra._split_atoms(sample)
    assert atoms == {0.0: 0.5, 16.0: 0.02}
    assert len(smooth) / len(sample) + sum(atoms.values()) == pytest.approx(1)
    smooth, atoms = block_spectra._split_atoms(rng.uniform(0, 4, 1000))
    assert (len(smooth), atoms) == (1000, {})


def test_the_raw_picture_marks_the_masses_at_0_and_16():
    numbers = block_spectra.compute(arrangement="raw", dim=4, n_trials=2)
    figure = block_spectra.draw(numbers)
    labels = [text.get_text() for text in figure.axes[1].texts]
    assert labels == ["93.8 % at 0", "6.25 % at 16"]
    labels = [text.get_text() for text in figure.axes[5].texts]  # singular values
    assert labels == ["93.8 % at 0", "6.25 % at 4"]
    assert not figure.axes[0].texts


def test_the_permutation_picture_shows_the_spectrum_without_the_ones():
    numbers = block_spectra.compute(group="permutation", dim=4, n_trials=2)
    assert numbers["eigenvalues"].max() == pytest.approx(16)
    assert numbers["eigenvalues"].shape == (4, 2, 64)
    assert numbers["eigenvalues_without_ones"].shape == (4, 2, 48)


def test_the_lsmdp_picture_states_its_seeds_and_shows_the_baseline(tmp_path):
    numbers = lsmdp.compute(**SMALL["lsmdp"])
    assert numbers["lattice_change"].shape == (4, 5)
    np.testing.assert_array_equal(numbers["tree_many_change"][:, 0], 0)
    figure = lsmdp.draw(numbers)
    labels = " ".join(axes.get_ylabel() for axes in figure.axes)
    assert "3 seeds" in labels
    assert "20 seeds" in labels
    ticks = [text.get_text() for text in figure.axes[-1].get_xticklabels()]
    assert ticks == ["1", "2", "4", "8", "const"]
    _, saved = make_figure("lsmdp", tmp_path / "f.png", options=SMALL["lsmdp"])
    stored = load_numbers(saved)
    for key, array in numbers.items():
        np.testing.assert_array_equal(stored[key], array)
