"""Claims about kernel and LSMDP turn with the numbers."""

from __future__ import annotations

import numpy as np
import pytest

from freeproj.findings.claims import ask_analyses
from freeproj.findings.claims.analyses import (
    effective_dimension_falls,
    longer_words_help_lsmdp,
    theory_matches,
)
from freeproj.report.figures import kernel, lsmdp
from freeproj.stats import Outcome

HOLDS, FAILS, OPEN = Outcome.HOLDS, Outcome.FAILS, Outcome.OPEN


@pytest.fixture(scope="module")
def dimension():
    return kernel.compute(dim=32, n_samples=32, n_trials=160, n_ridges=3)


@pytest.fixture(scope="module")
def spectra():
    sizes = {"dim": 32, "n_samples": 32, "n_trials": 64}
    return kernel.compute("spectra", lengths=(1, 4), **sizes)


@pytest.fixture(scope="module")
def distances():
    return lsmdp.compute(n_seeds=4, n_seeds_many=400)


def test_effective_dimension_falls_and_rises_when_lengths_are_exchanged(dimension):
    assert effective_dimension_falls(dimension).outcome is HOLDS
    names = ("measured_per_dimension", "deviation_per_dimension")
    turned = dimension | {name: dimension[name][::-1] for name in names}
    assert effective_dimension_falls(turned).outcome is FAILS


def test_one_length_out_of_order_is_a_counterexample(dimension):
    means = dimension["measured_per_dimension"].copy()
    means[[1, 2]] = means[[2, 1]]
    judged = effective_dimension_falls(dimension | {"measured_per_dimension": means})
    assert judged.counts == {HOLDS: 2, FAILS: 1}


def test_noise_leaves_the_drop_open(dimension):
    noisy = dimension | {"deviation_per_dimension": np.full((4, 3), 5.0)}
    assert effective_dimension_falls(noisy).outcome is OPEN


def test_theory_matches_until_measurements_move_by_two_dimensions(dimension, spectra):
    assert theory_matches(dimension, spectra).outcome is HOLDS
    moved = dimension["measured_per_dimension"] + 2 / 32
    judged = theory_matches(dimension | {"measured_per_dimension": moved}, spectra)
    assert judged.outcome is FAILS


def test_a_shifted_spectrum_does_not_match(dimension, spectra):
    shifted = spectra | {"bin_edges": spectra["bin_edges"] + 0.2}
    judged = theory_matches(dimension, shifted)
    assert {f.outcome for f in judged.findings if "spectrum" in f.about} == {FAILS}


def test_an_analysis_is_judged_once_all_its_figures_are_there(dimension, spectra):
    some = {"effective-dimension": dimension}
    assert set(ask_analyses(some)) == {"effective-dimension"}
    both = ask_analyses(some | {"kernel-spectra": spectra})
    assert set(both) == {"effective-dimension", "theory"}
    assert both["theory"].section == "kernel"


def test_lsmdp_turns_with_the_sign_of_the_changes(distances):
    def scaled(factor):
        changed = dict(distances)
        for space in ("lattice_many", "tree_many"):
            changed[f"{space}_change"] = np.full((4, 5), -0.1) * factor
            changed[f"{space}_change_low"] = np.full((4, 5), -0.1) * factor - 0.01
            changed[f"{space}_change_high"] = np.full((4, 5), -0.1) * factor + 0.01
        return longer_words_help_lsmdp(changed)

    assert scaled(1).outcome is HOLDS
    assert scaled(-1).outcome is FAILS
    assert scaled(0).outcome is OPEN
    assert len(longer_words_help_lsmdp(distances).findings) == 8
