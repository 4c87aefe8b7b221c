"""Claims about runs turn with the data, and say what is missing."""

import json

import pytest

from fake_dataset import fake_dataset, why_table_1
from freeproj.findings.claims import CLAIMS, judge_runs
from freeproj.findings.claims.lengths import (
    best_length_exceeds_one,
    free_beats_plain,
    free_helps_new_tasks,
)
from freeproj.findings.claims.signs import (
    at_chance_without_reward,
    fixed_bases_carry_nothing_over,
    length_changes_nothing,
    signs_explain_table,
    storage_helps,
)
from freeproj.report.tables import format_table
from freeproj.stats import Outcome

HOLDS, FAILS, OPEN = Outcome.HOLDS, Outcome.FAILS, Outcome.OPEN
LENGTHS = {"projection.length": (1, 2, 4)}
CARTPOLE = {"task": "StatelessCartPole", "n_trials": 4}


def rising(settings, name):
    return 0.1 * settings["projection.length"] * (name != "zero")


def falling(settings, name):
    return -rising(settings, name)


def level(settings, name):
    return 0.3 * (name != "zero")


@pytest.fixture(scope="module")
def pattern():
    return why_table_1(10)


def test_the_sign_slip_is_found_where_it_is(pattern):
    claim = signs_explain_table(pattern)
    assert claim.outcome is HOLDS
    assert {f.outcome for f in claim.findings} == {HOLDS}
    # per task and kind of bases: three lengths on tile, minus tile (and less true
    # Haar's), chance
    assert len(claim.findings) == 2 * 2 * 6
    assert "the paper's RP: -0.12" in claim.headline
    assert any("True Haar" in finding.remark for finding in claim.findings)


def test_the_sign_slip_is_not_found_where_it_is_not():
    grid = {"projection.family": ("haar", "qr"), **LENGTHS}
    assert signs_explain_table(fake_dataset(grid)).outcome is OPEN

    def turned(settings, name):
        slip = settings["projection.length"] == 1
        return slip * {"tile_unit": 0.4, "minus_tile": -0.4}.get(name, 0.0)

    assert signs_explain_table(fake_dataset(grid, 10, turned)).outcome is FAILS


def test_equivalence_needs_a_narrow_interval_and_no_difference():
    equal = fake_dataset(LENGTHS, 10, level, noise=0.01)
    assert length_changes_nothing(equal).outcome is HOLDS
    unequal = fake_dataset(LENGTHS, 10, rising, noise=0.01)
    assert length_changes_nothing(unequal).outcome is FAILS
    # "not significant" is not "equal"
    noisy = fake_dataset(LENGTHS, 4, level, noise=0.3)
    assert length_changes_nothing(noisy).outcome is OPEN


def test_raw_qr_and_fixed_bases_are_no_evidence_on_true_haar(pattern):
    claim = length_changes_nothing(pattern)
    # two tasks, three lengths; on random maps these agents are as good as blind
    assert len(claim.findings) == 6
    assert claim.outcome is OPEN
    assert "do not use their observation: 6 of 6" in claim.headline


def test_fixed_bases_carry_over_or_not(pattern):
    assert fixed_bases_carry_nothing_over(pattern).outcome is HOLDS
    carrying = fake_dataset(LENGTHS, 10, level, redraw_every=0)
    assert fixed_bases_carry_nothing_over(carrying).outcome is FAILS


def test_chance_without_reward_is_asked_of_card_tasks_without_reward(pattern):
    assert at_chance_without_reward(pattern).outcome is HOLDS
    assert at_chance_without_reward(fake_dataset(LENGTHS, 10, level)).outcome is FAILS
    others = fake_dataset(LENGTHS, 3, level, previous_reward=True)
    assert at_chance_without_reward(others).missing
    assert at_chance_without_reward(fake_dataset(LENGTHS, 3, **CARTPOLE)).missing


@pytest.mark.parametrize(
    ("trial_return", "outcome"), [(rising, HOLDS), (falling, FAILS), (level, OPEN)]
)
def test_storage_is_asked_of_the_same_fixed_matrices(trial_return, outcome):
    same = {"redraw_every": 0, "projection.n_generators": 4, **CARTPOLE}
    assert storage_helps(fake_dataset(LENGTHS, 10, trial_return, **same)).outcome is (
        outcome
    )
    words_fixed = fake_dataset(LENGTHS, 3, trial_return, redraw_every=0)
    assert "n_generators" in storage_helps(words_fixed).missing


@pytest.mark.parametrize(
    ("trial_return", "outcome"), [(rising, HOLDS), (falling, FAILS)]
)
def test_free_against_plain_follows_the_data(trial_return, outcome):
    claim = free_beats_plain(fake_dataset(LENGTHS, 10, trial_return))
    assert claim.outcome is outcome
    assert "p = " in claim.headline
    assert claim.findings[0].seeds == 10


def test_agents_that_do_not_look_get_no_verdict():
    def unseeing(settings, name):
        return 0.1 * settings["projection.length"]

    data = fake_dataset(LENGTHS, 10, unseeing)
    claim = free_beats_plain(data)
    assert claim.outcome is OPEN
    assert all("does not use its observation" in f.basis for f in claim.findings)
    assert best_length_exceeds_one(data).outcome is OPEN


def test_the_best_length_is_tested_on_other_seeds():
    assert best_length_exceeds_one(fake_dataset(LENGTHS, 10, rising)).outcome is HOLDS
    worse = best_length_exceeds_one(fake_dataset(LENGTHS, 10, falling))
    assert worse.outcome is not HOLDS
    assert worse.findings[0].value < 0
    assert best_length_exceeds_one(fake_dataset(LENGTHS, 2, rising)).outcome is OPEN


def test_held_out_tasks_have_a_claim_of_their_own():
    data = fake_dataset(LENGTHS, 10, rising, **{"evaluation.task": "RepeatFirst"})
    assert free_helps_new_tasks(data).outcome is HOLDS
    assert free_beats_plain(data).missing


def test_every_claim_says_what_is_missing_instead_of_failing():
    one_run = fake_dataset(n_seeds=1, **{"evaluation.maps": ("tile",)}, maps=("tile",))
    claims = judge_runs(one_run)
    assert claims.keys() == {n for n in CLAIMS if not CLAIMS.resolve(n).figures}
    assert all(claim.missing for claim in claims.values())
    assert all(claim.outcome is OPEN for claim in claims.values())


def test_claim_cards_equal_table_cells():
    data = fake_dataset({**LENGTHS, "memory": ("gru", "s5")}, 10, rising)
    claim = free_beats_plain(data)
    rows = json.loads(format_table("table-results", data, "json"))
    cells = [row for row in rows if row["projection.length"] > 1]
    assert len(cells) == len(claim.findings)
    for row, finding in zip(cells, claim.findings, strict=True):
        assert f"ℓ = {row['projection.length']}" in finding.about
        assert row["memory"].upper() in finding.about
        assert row["difference"] == pytest.approx(finding.value)
        ends = row["difference_low"], row["difference_high"]
        assert ends == pytest.approx(finding.interval[:2])
        assert row["verdict"] == finding.outcome
