"""The gate: what a claim, its cells and its probability may say."""

import math

import numpy as np
import pytest

from freeproj.stats.audit import audit
from freeproj.stats.profiles import performance_profile, probability_of_improvement
from freeproj.stats.verdicts import Outcome, pairs_needed, verdict

UP = np.array([1.0, 1.2, 0.9, 1.1, 0.8, 1.3, 1.05, 0.95, 1.15, 1.0])
NOISE = np.array([0.5, -0.6, 0.2, -0.1, 0.4, -0.5, 0.3, -0.3, 0.1, -0.2])


def test_the_pooled_test_decides_and_one_counterexample_is_enough_against():
    assert verdict({"a": UP, "b": UP + NOISE}).outcome is Outcome.HOLDS
    assert verdict({"a": UP, "b": -UP}).outcome is Outcome.FAILS
    assert verdict({"a": -UP, "b": -UP}).outcome is Outcome.FAILS
    assert verdict({"a": NOISE, "b": NOISE[::-1]}).outcome is Outcome.OPEN


def test_the_alternative_turns_the_claim_round():
    cells = {"a": -UP, "b": -UP + NOISE}
    assert verdict(cells, alternative="less").outcome is Outcome.HOLDS
    assert verdict(cells, alternative="two-sided").outcome is Outcome.HOLDS
    mixed = verdict({"a": UP, "b": -UP}, alternative="two-sided")
    assert mixed.outcome is Outcome.HOLDS
    assert verdict({"a": NOISE}, alternative="two-sided").outcome is Outcome.OPEN


def test_a_margin_makes_no_difference_a_finding():
    small = {"a": NOISE / 10, "b": NOISE[::-1] / 10}
    assert verdict(small).outcome is Outcome.OPEN
    assert verdict(small, margin=0.5).outcome is Outcome.SAME
    assert verdict(small, margin=0.01).outcome is Outcome.OPEN
    by_cell = verdict(small, margin={"a": 0.5})
    assert by_cell.cells["a"].outcome is Outcome.SAME
    assert by_cell.outcome is Outcome.OPEN


def test_cells_are_corrected_for_their_number():
    """A p-value of 0.012 decides alone, but not as the best of eight cells."""
    good = np.array([0.5, 0.9, 1.4, 0.8, -0.25, 0.7, 1.1, 0.6, -0.1, 0.3])
    alone = verdict({"good": good})
    assert alone.outcome is Outcome.HOLDS
    assert 0.05 / 8 < alone.cells["good"].p < 0.02
    others = {k: np.roll(NOISE, k) for k in range(7)}
    among = verdict({"good": good, **others})
    assert among.cells["good"].outcome is Outcome.OPEN
    assert among.cells["good"].p == alone.cells["good"].p
    assert among.cells["good"].p_adjusted > 0.05


def test_one_cell_is_its_own_pool():
    found = verdict({"a": UP})
    assert found.p_adjusted == found.cells["a"].p == found.cells["a"].p_adjusted


def test_cells_that_do_not_look_are_left_out_and_named():
    found = verdict({"a": UP, "b": -UP}, left_out=["b"])
    assert found.outcome is Outcome.HOLDS
    assert found.left_out == ("b",)
    assert list(found.cells) == ["a"]


def test_too_few_seeds_say_how_many_are_needed():
    found = verdict({"a": UP[:5], "b": UP[:5]})
    assert found.outcome is Outcome.OPEN
    assert found.cells["a"].reason == (
        "Only 5 seed pairs; at least 8 are needed for a verdict on 2 cells "
        "(sign-flip p = 0.062)."
    )
    assert (pairs_needed(), pairs_needed(2), pairs_needed(10)) == (6, 8, 10)
    assert pairs_needed(10, "max-t") == 7
    seven = verdict(dict.fromkeys(range(10), UP[:7]), correction="max-t")
    assert seven.cells[0].outcome is Outcome.HOLDS
    assert seven.cells[0].reason.startswith("7 seed pairs, sign-flip p = 0.016")


def test_no_data_cannot_tell():
    found = verdict({"a": {}, "b": UP})
    assert found.cells["a"].reason == "No seed pairs with data."
    assert found.pooled.n_cells == 1
    assert verdict({}).reason == "No paired seeds in any cell."
    assert verdict({}).outcome is Outcome.OPEN


@pytest.mark.parametrize("argument", ["alternative", "correction"])
def test_unknown_words_are_refused(argument):
    with pytest.raises(ValueError, match=f"`{argument}` must be"):
        verdict({"a": UP}, **{argument: "better"})


def test_an_undecided_comparison_has_one_half_in_its_interval():
    seeds = range(5)
    first = {"a": {s: UP[s] for s in seeds}}
    second = {"a": {s: UP[s] - 0.5 for s in seeds}}
    few = probability_of_improvement(first, second)
    assert few.outcome is Outcome.OPEN
    assert few.probability > 0.8
    assert 0.5 in few.interval
    first = {"a": dict(enumerate(UP))}
    second = {"a": dict(enumerate(UP - 0.5))}
    many = probability_of_improvement(first, second)
    assert many.outcome is Outcome.HOLDS
    assert 0.5 not in many.interval
    back = probability_of_improvement(second, first)
    assert back.probability == pytest.approx(1 - many.probability)
    assert back.outcome is Outcome.FAILS
    assert math.isnan(probability_of_improvement({}, {}).probability)


def test_profiles_fall_from_one_to_zero_and_lie_in_their_band():
    cells = {"a": [0.0, 1.0, 2.0], "b": [1.0, 2.0, 3.0, math.nan]}
    found = performance_profile(cells, [-1, 0.5, 1.5, 5])
    np.testing.assert_allclose(found.share, [1, 5 / 6, 1 / 2, 0])
    assert (found.low <= found.share).all()
    assert (found.high >= found.share).all()
    assert np.isnan(performance_profile({}, [0.0]).share).all()


def test_an_audit_says_who_looks():
    blanked = dict(enumerate(NOISE))
    sees = audit({seed: value + 1 for seed, value in blanked.items()}, blanked)
    assert sees.uses_observation
    assert sees.difference == pytest.approx(1.0)
    assert str(sees) == "uses its observation"
    blind = audit(NOISE, NOISE[::-1])
    assert not blind.uses_observation
    assert str(blind) == "does not use its observation"
    assert audit(UP, 0 * UP, margin=2).uses_observation is False
    assert audit(-UP, 0 * UP).uses_observation  # looking may hurt
    assert audit([1.0, 2.0], [0.0, 0.0]).uses_observation is None


def test_cells_and_pool_share_the_level():
    """Each half has 2.5 %, until the other half has decided."""
    good = np.array([0.5, 0.9, 1.4, 0.8, -0.25, 0.7, 1.1, 0.6, -0.1, 0.3])
    found = verdict({"good": good, "noise": NOISE})
    cell = found.cells["good"]
    assert cell.p_adjusted == pytest.approx(
        min(4 * cell.p, max(2 * cell.p, 2 * found.pooled.p))
    )
    assert found.p_adjusted == pytest.approx(2 * found.pooled.p)
    decided = verdict({"a": UP, "b": UP[::-1]})
    assert decided.cells["a"].p_adjusted == pytest.approx(2 * decided.cells["a"].p)
