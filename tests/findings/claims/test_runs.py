"""Claims about runs turn with the data, and say what is missing."""

import json

import pytest

from fake_dataset import fake_dataset, shipped, why_table_1
from freeproj.findings.asking import ask
from freeproj.findings.claims import CLAIMS, ask_runs
from freeproj.findings.questions import Question
from freeproj.report.tables import format_table
from freeproj.stats import Outcome

HOLDS, FAILS, OPEN = Outcome.HOLDS, Outcome.FAILS, Outcome.OPEN
LENGTHS = {"projection.length": (1, 2, 4)}
CARTPOLE = {"task": "StatelessCartPole", "n_trials": 4}


def answer(name, dataset):
    return ask(CLAIMS.resolve(name), dataset)


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
    claim = answer("sign-slip", pattern)
    assert claim.outcome is HOLDS
    assert {f.outcome for f in claim.findings} == {HOLDS}
    # per task and kind of bases: three lengths on tile, minus tile (and less true
    # Haar's), chance
    assert len(claim.findings) == 2 * 2 * 6
    assert "the paper: -0.73; chance: -0.49" in claim.details
    assert any("minus that of Haar" in finding.about for finding in claim.findings)


def test_the_sign_slip_is_not_found_where_it_is_not():
    grid = {"projection.family": ("haar", "qr"), **LENGTHS}
    assert answer("sign-slip", fake_dataset(grid)).outcome is OPEN

    def turned(settings, name):
        slip = settings["projection.length"] == 1
        return slip * {"tile_unit": 0.4, "minus_tile": -0.4}.get(name, 0.0)

    assert answer("sign-slip", fake_dataset(grid, 10, turned)).outcome is FAILS


def test_equivalence_needs_a_narrow_interval_and_no_difference():
    equal = fake_dataset(LENGTHS, 10, level, noise=0.01)
    assert answer("haar-length", equal).outcome is HOLDS
    unequal = fake_dataset(LENGTHS, 10, rising, noise=0.01)
    assert answer("haar-length", unequal).outcome is FAILS
    # "not significant" is not "equal"
    noisy = fake_dataset(LENGTHS, 4, level, noise=0.3)
    assert answer("haar-length", noisy).outcome is OPEN


def test_raw_qr_and_fixed_bases_are_no_evidence_on_true_haar(pattern):
    claim = answer("haar-length", pattern)
    # two tasks, three lengths; on random maps these agents are as good as blind
    assert len(claim.findings) == 6
    assert claim.outcome is OPEN
    assert "do not use their observation (6 comparisons)" in claim.numbers
    assert claim.sentence.startswith("The data cannot tell whether with Haar")


def test_fixed_bases_carry_over_or_not(pattern):
    assert answer("fixed-bases", pattern).outcome is HOLDS
    carrying = fake_dataset(LENGTHS, 10, level, redraw_every=0)
    assert answer("fixed-bases", carrying).outcome is FAILS


def test_chance_without_reward_is_asked_of_card_tasks_without_reward(pattern):
    assert answer("chance-without-reward", pattern).outcome is HOLDS
    assert (
        answer("chance-without-reward", fake_dataset(LENGTHS, 10, level)).outcome
        is FAILS
    )
    others = fake_dataset(LENGTHS, 3, level, previous_reward=True)
    assert answer("chance-without-reward", others).missing
    assert answer("chance-without-reward", fake_dataset(LENGTHS, 3, **CARTPOLE)).missing


@pytest.mark.parametrize(
    ("trial_return", "outcome"), [(rising, HOLDS), (falling, FAILS), (level, OPEN)]
)
def test_storage_is_asked_of_the_same_fixed_matrices(trial_return, outcome):
    same = {"redraw_every": 0, "projection.n_generators": 4, **CARTPOLE}
    assert answer(
        "storage", fake_dataset(LENGTHS, 10, trial_return, **same)
    ).outcome is (outcome)
    words_fixed = fake_dataset(LENGTHS, 3, trial_return, redraw_every=0)
    assert "n_generators" in answer("storage", words_fixed).missing


@pytest.mark.parametrize(
    ("trial_return", "outcome"), [(rising, HOLDS), (falling, FAILS)]
)
def test_free_against_plain_follows_the_data(trial_return, outcome):
    claim = answer("frp-beats-rp", fake_dataset(LENGTHS, 10, trial_return))
    assert claim.outcome is outcome
    assert claim.pooled.p < 0.05
    assert claim.findings[0].seeds == 10


def test_agents_that_do_not_look_get_no_verdict():
    def unseeing(settings, name):
        return 0.1 * settings["projection.length"]

    data = fake_dataset(LENGTHS, 10, unseeing)
    claim = answer("frp-beats-rp", data)
    assert claim.outcome is OPEN
    assert all("do not use their observation" in f.basis for f in claim.findings)
    assert answer("best-length", data).outcome is OPEN


def test_the_best_length_is_tested_on_other_seeds():
    assert answer("best-length", fake_dataset(LENGTHS, 10, rising)).outcome is HOLDS
    worse = answer("best-length", fake_dataset(LENGTHS, 10, falling))
    assert worse.outcome is not HOLDS
    assert worse.findings[0].value < 0
    assert sum(finding.seeds for finding in worse.findings) == 10
    assert answer("best-length", fake_dataset(LENGTHS, 2, rising)).outcome is OPEN


def test_held_out_tasks_have_a_claim_of_their_own():
    data = fake_dataset(LENGTHS, 10, rising, **{"evaluation.task": "RepeatFirst"})
    assert answer("held-out-task", data).outcome is HOLDS
    assert answer("frp-beats-rp", data).missing


def test_every_question_says_what_is_missing_instead_of_failing():
    one_run = fake_dataset(n_seeds=1, **{"evaluation.maps": ("tile",)}, maps=("tile",))
    answers = ask_runs(one_run)
    assert answers.keys() == {
        n for n in CLAIMS if isinstance(CLAIMS.resolve(n), Question)
    }
    assert all(each.status == "missing" for each in answers.values())
    assert all(each.outcome is OPEN for each in answers.values())


def test_claim_cards_equal_table_cells():
    data = fake_dataset({**LENGTHS, "memory": ("gru", "s5")}, 10, rising)
    claims = ask_runs(data)
    gru, s5 = claims["frp-beats-rp"], claims["frp-beats-rp-s5"]
    rows = json.loads(format_table("table-results", data, "json"))
    cells = [row for row in rows if row["projection.length"] > 1]
    findings = [*gru.findings, *s5.findings]
    assert len(cells) == len(findings) == 4
    for row, finding in zip(cells, findings, strict=True):
        assert f"ℓ = {row['projection.length']}" in finding.about
        assert row["memory"].upper() in finding.about
        assert row["difference"] == pytest.approx(finding.value)
        ends = row["difference_low"], row["difference_high"]
        assert ends == pytest.approx(finding.interval[:2])
        assert row["verdict"] == finding.outcome


TILES = ("tile_unit", "minus_tile", "minus_tile_unit", "random", "zero")


def slip(settings, name):
    """Uncorrected QR goes wrong with GRU; the norm of the projection does nothing."""
    wrong = settings["projection.family"] == "qr" and settings["projection.length"] == 1
    turn = {"tile_unit": -0.3, "minus_tile": 0.3, "minus_tile_unit": 0.3}
    chance = -0.49 * (settings["task"] == "RepeatPrevious")
    return chance + wrong * (settings["memory"] == "gru") * turn.get(name, 0.0)


def test_memories_are_judged_and_named_apart():
    grid = {
        "task": ("HigherLower", "RepeatPrevious"),
        "memory": ("gru", "s5"),
        "projection.family": ("qr", "haar"),
        "redraw_every": (1, 0),
        "projection.length": (1, 4),
    }
    maps = {"maps": TILES, "evaluation.maps": TILES[:4]}
    answers = ask_runs(fake_dataset(grid, 6, slip, **maps))
    gru, s5 = answers["sign-slip"], answers["sign-slip-s5"]
    assert (gru.outcome, s5.outcome) == (HOLDS, OPEN)
    assert (gru.opens, s5.opens) == (True, False)
    assert gru.headline.endswith("(GRU, 6 seeds, 0.02 M steps; S5: cannot tell).")
    assert "(S5)" in s5.statement
    for answer_, memory in ((gru, "GRU"), (s5, "S5")):
        assert all(memory in finding.about for finding in answer_.findings)
    assert "the paper: -0.73" in gru.details
    assert "the paper: -0.71" in s5.details


@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_sign_and_norm_of_the_test_projection_are_told_apart(scale):
    def trial_return(settings, name):
        norm = 0.3 * scale * (name == "minus_tile")
        return slip(settings, name) + norm

    grid = {"projection.family": ("qr", "haar"), "projection.length": (1, 4)}
    maps = {"maps": TILES, "evaluation.maps": TILES[:4]}
    data = fake_dataset(grid, 6, trial_return, **maps)
    sign, norm = answer("sign-alone", data), answer("norm-alone", data)
    assert sign.outcome is HOLDS
    assert len(sign.findings) == len(norm.findings) == 1
    assert norm.outcome is (FAILS if scale else HOLDS)
    assert answer("norm-alone", why_table_1(3)).missing


def test_the_dimension_is_asked_of_ordinary_agents_and_of_the_frame():
    def trial_return(settings, name):
        d = {2: 0.75, 4: 0.9, 16: 0.4}[settings["projection.dim"]]
        return (0.9 if settings["encoder"] == "frame" else d) * (name != "zero")

    grid = {
        "task": ("StatelessCartPole", "FlashCards"),
        "encoder": ("none", "frame"),
        "projection.dim": (2, 4, 16),
    }
    data = fake_dataset(grid, 6, trial_return, noise=0.01, maps=("random", "zero"))
    ordinary, frame = answer("dimension", data), answer("dimension-frame", data)
    assert (ordinary.outcome, frame.outcome) == (FAILS, HOLDS)
    assert len(ordinary.findings) == len(frame.findings) == 4
    assert "CartPole 0.75/0.90/0.40 at d = 2/4/16" in ordinary.headline
    assert answer("ordinary-below-frame", data).status == "answered"
    assert answer("dimension", data.where({"projection.dim": 4})).missing


def test_an_open_question_says_how_many_seeds_would_decide_it():
    noisy = fake_dataset(LENGTHS, 6, level, noise=0.1)
    claim = answer("haar-length", noisy)
    assert claim.outcome is OPEN
    few, many = map(int, claim.needed.split("–"))
    assert 6 < few < many
    assert f"about {few} seeds per configuration are needed" in claim.sentence
    assert claim.headline.endswith(f"; {few}–{many} seeds needed).")
    assert answer("frp-beats-rp", noisy).power.endswith("10 % of the headroom.")
    decided = answer("haar-length", fake_dataset(LENGTHS, 10, level, noise=0.01))
    assert not decided.power


def test_the_studies_of_dimension_and_sign_answer_their_questions():
    def trial_return(settings, name):
        wrong = settings["projection.family"] == "qr"
        turn = -0.3 if name.startswith("tile") else 0.3 * name.startswith("minus")
        return 0.3 * (name != "zero") + wrong * turn * (name != "zero")

    for study, asked in (
        ("sign-or-scale", {"sign-alone": HOLDS, "norm-alone": HOLDS}),
        ("dimension", {"dimension": HOLDS, "dimension-frame": HOLDS}),
    ):
        data = shipped(study, 4, trial_return, noise=0.01)
        for name, outcome in asked.items():
            assert CLAIMS.resolve(name).study == study
            found = answer(name, data)
            assert found.outcome is outcome, found.sentence
            assert found.short
