"""One way from a dataset to a sentence: what `ask` says, and what it never says."""

import dataclasses

import numpy as np
import pytest

from fake_dataset import fake_dataset, together
from freeproj.findings.answers import HEADROOM, RETURN, said
from freeproj.findings.asking import ask
from freeproj.findings.claims import CLAIMS, ask_apart, ask_published, opening
from freeproj.findings.comparing import (
    compare,
    compare_along,
    compare_axes,
    compare_sources,
)
from freeproj.findings.questions import Contrast, Question
from freeproj.published import load, names
from freeproj.report.notebook import Study
from freeproj.stats import Outcome

HOLDS, FAILS, OPEN = Outcome.HOLDS, Outcome.FAILS, Outcome.OPEN
LENGTHS = {"projection.length": (1, 4)}
FOUR, ONE = {"projection.length": 4}, {"projection.length": 1}
ONE_ROW = {"projection.length": (1,)}


def better(settings, name):
    return 0.1 * settings["projection.length"] * (name != "zero")


def question(**changes):
    contrast = Contrast(what="4 minus 1", along="projection.length", reference=1)
    plain = Question(
        "own", "Longer is better.", "a test", lambda data: data, (contrast,)
    )
    return dataclasses.replace(plain, **changes)


def test_asking_never_raises_and_says_why():
    data = fake_dataset(LENGTHS, 4, better)
    assert ask(question(), data).status == "answered"
    lacking = ask(question(needs="two lengths"), data.where(ONE))
    assert (lacking.status, lacking.missing) == ("missing", "two lengths")

    def broken(dataset):
        raise KeyError("no such thing")

    failed = ask(question(select=broken), data)
    assert failed.status == "failed"
    assert "KeyError: 'no such thing'" in failed.sentence
    assert failed.outcome is OPEN


@pytest.mark.parametrize("outcome", list(Outcome))
def test_what_is_said_is_what_was_decided(outcome):
    text = said("RP is better.", outcome)
    assert {
        HOLDS: "RP is better.",
        FAILS: "It does not hold that RP is better.",
        OPEN: "The data cannot tell whether RP is better.",
    }[outcome] == text


def test_every_published_answer_says_what_its_outcome_allows():
    for name, answer in ask_published().items():
        assert answer.name == name
        # The answer of another memory has the memory added to its name.
        asked = CLAIMS.resolve(name if name in CLAIMS else name.rsplit("-", 1)[0])
        if answer.status == "missing":
            assert asked.study not in names(), answer.name
            continue
        assert answer.status == "answered", answer.error
        start = said(asked.statement, answer.outcome, asked.otherwise)
        assert answer.sentence.startswith(start.removesuffix("."))
        assert "nan" not in answer.sentence


def test_fixed_bases_are_refuted_by_cartpole_with_the_one_correction():
    answer = ask_published()["fixed-bases"]
    assert answer.outcome is FAILS
    assert answer.counts == {HOLDS: 16, FAILS: 8}
    assert answer.name in [each.name for each in opening()]


def test_looks_at_the_data_are_charged_and_told():
    answer = ask_published()["haar-length"]
    looks = load("as-written").meta["looks"]
    assert looks > 2
    assert f"judged {looks} times" in answer.selection
    assert f"5 % / {looks}" in answer.rule


def test_a_task_without_baselines_has_returns_and_never_a_headroom():
    data = fake_dataset(LENGTHS, 8, better, task="mine:Thing")
    answer = compare(data, FOUR, ONE)
    assert answer.unit == RETURN
    assert "headroom" not in str(answer)
    assert answer.pooled.mean == pytest.approx(0.3, abs=0.05)
    same = compare(data, FOUR, ONE, expects="same")
    assert same.status == "missing"
    assert "no headroom is stored" in same.missing
    assert compare(data, FOUR, ONE, expects="same", margin=1.0).outcome is HOLDS
    # Beside a task with a headroom nothing is a share of it either.
    both = together(data, fake_dataset(LENGTHS, 8, better))
    assert compare(both, FOUR, ONE).unit == RETURN
    assert compare(fake_dataset(LENGTHS, 8, better), FOUR, ONE).unit == HEADROOM


def test_comparing_refuses_to_pool_families_unless_told():
    data = fake_dataset({**LENGTHS, "projection.family": ("haar", "qr")}, 6, better)
    with pytest.raises(ValueError, match=r"would pool projection\.family haar, qr"):
        compare(data, FOUR, ONE)
    pooled = compare(data, FOUR, ONE, pool=("projection.family",))
    assert pooled.outcome is HOLDS
    assert "pooled over projection.family" in pooled.selection
    names_of = [answer.statement for answer in compare_axes(data)]
    assert sum("(Haar)" in name for name in names_of) == 1
    assert sum("(uncorrected QR)" in name for name in names_of) == 1


def test_comparing_names_the_axis_and_turns_round():
    data = fake_dataset({"ppo.discount": (0.9, 0.99)}, 6, lambda s, name: (
        0.4 * (s["ppo.discount"] > 0.95) * (name != "zero")
    ))  # fmt: skip
    up = compare_along(data, "ppo.discount")
    down = compare_along(data, "ppo.discount", 0.99)
    assert (up.outcome, down.outcome) == (HOLDS, FAILS)
    assert "discount = 0.99 earn more than runs with discount = 0.9 on" in up.statement
    with pytest.raises(ValueError, match="No setting"):
        compare_along(data, "ppo.discont")
    framed = fake_dataset({"encoder": ("frame", "none")}, 3)
    (answer,) = compare_axes(framed)
    assert answer.statement.startswith("Runs with encoder = frame earn more than")


def test_sources_are_judged_by_memory_and_family_unless_told_to_pool():
    grid = {"memory": ("gru", "s5"), "projection.family": ("haar", "qr")}
    lower = {"ppo.discount": 0.9}

    def helped(settings, name):
        return (0.3 + 0.2 * (settings["memory"] == "gru")) * (name != "zero")

    both = {
        "short": fake_dataset(grid, 6, lambda s, name: 0.3 * (name != "zero"), **lower),
        "long": fake_dataset(grid, 6, helped),
    }
    found = {answer.statement: answer for answer in compare_sources(both)}
    outcomes = {
        "GRU, Haar": HOLDS,
        "GRU, uncorrected QR": HOLDS,
        "S5, Haar": OPEN,
        "S5, uncorrected QR": OPEN,
    }
    told = "long earns more than short on random projections ({})."
    assert {text: each.outcome for text, each in found.items()} == {
        told.format(kind): outcome for kind, outcome in outcomes.items()
    }
    assert all("pooled" not in answer.selection for answer in found.values())
    (pooled,) = compare_sources(both, pool=("memory", "projection.family"))
    assert pooled.selection.endswith("pooled over memory, projection.family")
    with pytest.raises(ValueError, match="kinds of agents: memory"):
        compare_sources(both, pool=("memry",))
    # A kind that varies between the sources only is what they are compared in.
    apart = {name: both["long"].where(memory=name) for name in ("gru", "s5")}
    statements = [answer.statement for answer in compare_sources(apart)]
    assert [each.rsplit(" ", 1)[1] for each in statements] == ["(Haar).", "QR)."]


def test_tasks_are_not_compared_with_each_other():
    tasks = {"task": ("HigherLower", "StatelessCartPole")}
    data = fake_dataset({**tasks, **LENGTHS}, 6, better)
    (answer,) = compare_axes(data)
    assert answer.statement.startswith("Runs with ℓ = 4 earn more than runs with ℓ = 1")
    assert answer.selection.endswith("pooled over task")
    assert len(answer.findings) == 2
    assert compare_axes(data.where(FOUR)) == []
    with pytest.raises(ValueError, match="no common scale"):
        compare_axes(data, "task")


@pytest.mark.parametrize("name", names())
def test_every_published_study_can_be_compared(name):
    others = {"dimension": "projection.dim", "sign-or-scale": "projection.family"}
    others["lu-2023"] = "encoder"
    axis = others.get(name, "projection.length")
    study = Study.published(name).where(memory="gru", observation="projected")
    if "encoder" in study.axes and axis != "encoder":
        study = study.where(encoder="none")
    if "projection.family" in study.axes and axis != "projection.family":
        study = study.where({"projection.family": "haar"})
    first, *rest = study.dataset.values(axis)
    assert rest
    answer = study.compare({axis: rest}, {axis: first})
    assert answer.status == "answered", answer.sentence


@pytest.mark.parametrize(
    ("name", "question", "expects"),
    [
        ("as-written", "haar-length", "same"),
        ("as-written", "frp-beats-rp", "more"),
        ("in-context", "in-context-length", "same"),
        ("storage", "storage", "more"),
        ("held-out-task", "held-out-task", "more"),
    ],
)
def test_comparing_gives_the_verdict_of_the_page(name, question, expects):
    page = ask_published()[question]
    longer = {"projection.length": [n for n in (2, 4, 8) if n in lengths_of(name)]}
    on = "" if CLAIMS.resolve(question).on else "tile"
    own = Study.published(name).where(memory="gru")
    own = own.compare(longer, ONE, expects=expects, on=on)
    assert own.outcome is page.outcome
    assert own.numbers.split(":", 1)[1] == page.numbers.split(":", 1)[1]
    assert [f.interval for f in own.findings] == [f.interval for f in page.findings]


def lengths_of(name):
    return load(name).values("projection.length")


@pytest.mark.parametrize(
    "question", [q for q in CLAIMS if hasattr(CLAIMS.resolve(q), "on")]
)
def test_a_study_asked_in_a_notebook_answers_as_the_page_does(question):
    study = CLAIMS.resolve(question).study
    if study in names():
        asked, page = Study.published(study).ask(question), ask_published()[question]
        assert (asked.outcome, asked.sentence) == (page.outcome, page.sentence)


def test_memories_are_not_pooled_unless_told():
    data = fake_dataset({**LENGTHS, "memory": ("gru", "s5")}, 6, better)
    with pytest.raises(ValueError, match="would pool memory gru, s5"):
        compare(data, FOUR, ONE)
    assert compare(data, FOUR, ONE, pool=("memory",)).outcome is HOLDS
    along = [each.statement for each in compare_axes(data, "projection.length")]
    assert [each.rsplit(" ", 1)[1] for each in along] == ["(GRU).", "(S5)."]
    asked = Study(data).ask("frp-beats-rp")
    assert {f.run.settings["memory"] for f in asked.findings} == {"gru"}
    assert asked.headline.endswith("; S5: the same).")
    assert asked.sentence.endswith("S5: the same.")
    lone = together(
        data.where(memory="gru"), fake_dataset(ONE_ROW, 6, better, memory="s5")
    )
    answers = ask_apart("haar-length", CLAIMS.resolve("haar-length"), lone)
    assert [*answers] == ["haar-length"]  # S5 has one length: not asked, nor mixed in
    assert "at ℓ = 1, 4" in answers["haar-length"].details
    assert answers["haar-length"].basis.startswith("GRU, 6 seeds")


def test_nobody_is_sent_for_seeds_that_are_there():
    """Open although an effect of that size would have been found: it says so."""
    quiet = fake_dataset(LENGTHS, 10, lambda s, name: 0.3 * (name != "zero"))
    answer = compare(quiet, FOUR, ONE)
    assert (answer.outcome, answer.needed) == (OPEN, "")
    assert answer.power == (
        "With 10 seeds 10 % of the headroom more is found with 80 % power."
    )


ARMS = {
    "frame": {"encoder": "frame", "projection.length": 4},
    "one": {"encoder": "frame", "projection.n_generators": 1, "redraw_every": 0},
    "rp": {"encoder": "none"},
    "frp": {"encoder": "none", "projection.length": 4},
    "plain": {"encoder": "none", "observation": "plain"},
    "blind": {"encoder": "none", "observation": "none"},
}
MAPS = ("tile", "minus_tile", "random", "zero")


def invariant(levels, tasks=("StatelessCartPole", "Minesweeper"), n_seeds=8, **shift):
    """Return the arms of the study; `shift` changes a map's return for frames."""
    parts = []
    for arm, level in levels.items():

        def trial_return(settings, name, level=level, arm=arm):
            if name == "zero" and arm != "blind":
                return 0.1
            return level + (shift.get(name, 0.0) if arm in ("frame", "one") else 0.0)

        maps = {"plain": ("pad",), "blind": ("zero",)}.get(arm, MAPS)
        fixed = {**ARMS[arm], "evaluation.maps": maps[:3], "n_trials": 4}
        parts.append(
            fake_dataset({"task": tasks}, n_seeds, trial_return, maps=maps, **fixed)
        )
    return together(*parts)


GOOD = {"frame": 0.9, "one": 0.9, "rp": 0.4, "frp": 0.4, "plain": 0.92, "blind": 0.15}


@pytest.mark.parametrize(
    ("name", "levels", "shift", "outcome"),
    [
        ("frame-invariance", GOOD, {}, HOLDS),
        ("frame-invariance", GOOD, {"minus_tile": -0.5}, FAILS),
        ("frame-reaches-plain", GOOD, {}, HOLDS),
        ("frame-reaches-plain", GOOD | {"frame": 0.6}, {}, FAILS),
        ("frame-one-projection", GOOD, {}, HOLDS),
        ("frame-one-projection", GOOD | {"one": 0.5}, {}, FAILS),
        ("ordinary-below-frame", GOOD, {}, HOLDS),
        ("ordinary-below-frame", GOOD | {"frp": 1.0, "rp": 1.0}, {}, FAILS),
    ],
)
def test_frames_are_asked_about_by_their_arms(name, levels, shift, outcome):
    answer = ask(CLAIMS.resolve(name), invariant(levels, **shift))
    assert answer.status == "answered", answer.sentence
    assert answer.outcome is outcome, answer.sentence
    assert all(finding.seeds == 8 for finding in answer.findings)


def test_the_arms_of_frames_are_paired_by_task():
    share = ask(CLAIMS.resolve("frame-reaches-plain"), invariant(GOOD)).findings[0]
    assert share.value == pytest.approx((0.9 - 0.21) / (0.92 - 0.21), abs=0.02)
    assert share.thresholds == (0.9,)
    assert share.interval.low < share.value < share.interval.high
    answer = ask(CLAIMS.resolve("ordinary-below-frame"), invariant(GOOD))
    assert len(answer.findings) == 4  # two tasks, RP and FRP
    both = ask(CLAIMS.resolve("frame-invariance"), invariant(GOOD))
    assert len(both.findings) == 8  # two tasks, two arms, two fixed projections
    without = {arm: GOOD[arm] for arm in ("frame", "rp", "frp")}
    assert ask(CLAIMS.resolve("frame-reaches-plain"), invariant(without)).missing


@pytest.mark.slow
def test_questions_of_null_studies_are_answered_wrongly_in_at_most_five_per_cent():
    """RP = FRP in every task: nothing may be said, at the level of the page."""
    rng = np.random.default_rng(0)
    grid = {
        "task": ("HigherLower", "StatelessCartPole"),
        "projection.length": (1, 2, 4),
    }
    asked = ("haar-length", "frp-beats-rp", "best-length")
    n_studies, wrong = 100, dict.fromkeys(asked, 0)
    for _ in range(n_studies):
        data = fake_dataset(
            grid, 8, lambda s, name: 0.15 * rng.standard_normal() * (name != "zero")
        )
        for name in asked:
            answer = ask(CLAIMS.resolve(name), data)
            wrong[name] += bool({FAILS, HOLDS} & {answer.outcome, *answer.counts})
    limit = 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_studies)
    assert max(wrong.values()) / n_studies <= limit, wrong


@pytest.mark.slow
def test_an_effect_of_one_standard_deviation_is_found_with_twelve_seeds():
    rng = np.random.default_rng(1)
    found = [
        ask(
            CLAIMS.resolve("frp-beats-rp"),
            fake_dataset(
                {"task": ("HigherLower", "StatelessCartPole"), **LENGTHS},
                12,
                lambda s, name: (name != "zero") * (
                    0.3 + 0.2 * (s["projection.length"] > 1) + 0.14 * rng.normal()
                ),
            ),
        ).outcome
        for _ in range(40)
    ]  # fmt: skip
    assert np.mean([each is HOLDS for each in found]) > 0.8


def test_names_keep_their_letters_within_a_sentence():
    told = said("HigherLower-gru-n4 earns more than fast.", Outcome.OPEN)
    assert "whether HigherLower-gru-n4 earns" in told
    assert "whether words help" in said("Words help.", Outcome.OPEN)
