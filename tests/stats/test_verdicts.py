"""The gate: what a claim, its cells and its probability may say."""

import numpy as np
import pytest

from freeproj.stats import audit
from freeproj.stats.verdicts import Outcome, verdict

pytestmark = pytest.mark.fast

UP = np.array([1.0, 1.2, 0.9, 1.1, 0.8, 1.3, 1.05, 0.95, 1.15, 1.0])
NOISE = np.array([0.5, -0.6, 0.2, -0.1, 0.4, -0.5, 0.3, -0.3, 0.1, -0.2])


def test_the_pool_decides_and_one_counterexample_is_enough_against():
    assert verdict({"a": UP, "b": UP + NOISE}).outcome is Outcome.HOLDS
    assert verdict({"a": UP, "b": -UP}).outcome is Outcome.FAILS
    assert verdict({"a": -UP, "b": -UP}).outcome is Outcome.FAILS
    assert verdict({"a": NOISE, "b": NOISE[::-1]}).outcome is Outcome.OPEN


def test_less_is_more_turned_round():
    for cells in ({"a": -UP, "b": -UP + NOISE}, {"a": UP, "b": -UP}, {"a": NOISE}):
        turned = {cell: -values for cell, values in cells.items()}
        less, more = verdict(cells, "less"), verdict(turned, "more")
        assert less.outcome is more.outcome
        assert less.pooled.p == more.pooled.p


def test_the_same_is_within_the_margin_and_beyond_it_refutes():
    small = {"a": NOISE / 10, "b": NOISE[::-1] / 10}
    assert verdict(small, "same", 0.5).outcome is Outcome.HOLDS
    assert verdict(small, "same", 0.01).outcome is Outcome.OPEN
    assert verdict({**small, "c": UP}, "same", 0.5).outcome is Outcome.FAILS
    # A difference from zero within the margin is still the same.
    assert verdict({"a": UP / 10}).outcome is Outcome.HOLDS
    assert verdict({"a": UP / 10}, "same", 0.5).outcome is Outcome.HOLDS
    with pytest.raises(ValueError, match="`margin` must be greater than 0"):
        verdict(small, "same")


@pytest.mark.parametrize("expects", ["more", "less", "same"])
def test_what_is_shown_decides(expects):
    """Interval, p-value and outcome of a mean say the same thing."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        shifts = rng.normal(0, 0.6, 4)
        cells = {c: rng.normal(shift, 0.5, 7) for c, shift in enumerate(shifts)}
        found = verdict(cells, expects, 0.4)
        for each in (found.pooled, *found.cells.values()):
            low, high = each.interval[:2]
            if expects == "same":
                decided = (low > -0.4 and high < 0.4) or low > 0.4 or high < -0.4
            else:
                decided = low > 0 or high < 0
            assert decided == (each.outcome is not Outcome.OPEN)
            assert decided == (each.p <= 0.05)


def test_cells_are_corrected_for_their_number():
    """A p-value of 0.012 decides alone, but not as the best of eight cells."""
    good = np.array([0.5, 0.9, 1.4, 0.8, -0.5, 0.7, 1.1, 0.6, -0.3, 0.3])
    alone = verdict({"good": good}).cells["good"]
    assert alone.outcome is Outcome.HOLDS
    assert 0.05 / 16 < alone.p < 0.05 / 2  # or the pool's half would be enough
    among = verdict({"good": good, **{k: np.roll(NOISE, k) for k in range(7)}})
    assert among.cells["good"].outcome is Outcome.OPEN
    assert among.cells["good"].p > 0.05
    assert among.cells["good"].interval.low < alone.interval.low


def test_one_cell_is_its_own_pool():
    found = verdict({"a": UP})
    assert found.pooled == found.cells["a"]


@pytest.mark.parametrize("expects", ["more", "less"])
def test_a_threshold_stands_for_zero(expects):
    plain = verdict({"a": UP, "b": NOISE}, expects)
    found = verdict({"a": UP + 3, "b": NOISE + 3}, expects, threshold=3.0)
    assert found.outcome is plain.outcome
    assert found.pooled.p == pytest.approx(plain.pooled.p)
    assert found.pooled.interval.low == pytest.approx(plain.pooled.interval.low + 3)


def test_every_look_at_the_data_costs():
    good = np.array([0.5, 0.9, 1.4, 0.8, -0.7, 0.7, 1.1, 0.6, -0.5, 0.3])
    once, thrice = verdict({"a": good}), verdict({"a": good}, looks=3)
    assert thrice.pooled.p == pytest.approx(3 * once.pooled.p)
    assert (once.outcome, thrice.outcome) == (Outcome.HOLDS, Outcome.OPEN)


def test_cells_that_do_not_use_their_observation_are_left_out_and_named():
    found = verdict({"a": UP, "b": -UP}, left_out=["b"])
    assert found.outcome is Outcome.HOLDS
    assert found.left_out == ("b",)
    assert list(found.cells) == ["a"]


def test_too_few_seeds_say_how_many_are_needed():
    found = verdict({"a": UP[:2], "b": UP})
    assert found.cells["a"].outcome is Outcome.OPEN
    assert found.cells["a"].reason == (
        "Only 2 seed pairs; at least 3 are needed for a verdict."
    )
    assert found.cells["b"].outcome is Outcome.HOLDS
    empty = verdict({"a": {}, "b": UP})
    assert empty.cells["a"].reason == "No seed pairs with data."
    assert verdict({}).outcome is Outcome.OPEN


def test_an_audit_says_who_looks():
    blanked = dict(enumerate(NOISE))
    sees = audit({seed: value + 1 for seed, value in blanked.items()}, blanked)
    assert sees.uses_observation
    assert sees.difference == pytest.approx(1.0)
    blind = audit(NOISE, NOISE[::-1])
    assert not blind.uses_observation
    assert blind.uses_observation is False
    assert audit(UP, 0 * UP, margin=2).uses_observation is False
    assert audit(-UP, 0 * UP).uses_observation  # looking may hurt
    assert audit([1.0, 2.0], [0.0, 0.0]).uses_observation is None


def test_cells_and_pool_share_the_level():
    """Each half has 2.5 %, until the other half has decided."""
    good = np.array([0.5, 0.9, 1.4, 0.8, -0.25, 0.7, 1.1, 0.6, -0.1, 0.3])
    found = verdict({"good": good, "noise": NOISE})
    alone = verdict({"good": good}).pooled.p
    pool = found.pooled.p / 2
    expected = min(4 * alone, max(2 * alone, 2 * pool))
    assert found.cells["good"].p == pytest.approx(expected)
    decided = verdict({"a": UP, "b": UP[::-1]})
    assert decided.cells["a"].p == pytest.approx(2 * verdict({"a": UP}).pooled.p)
