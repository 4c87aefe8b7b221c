"""Claims select their runs by settings, when several studies lie in one folder."""

import functools

import numpy as np
import pytest

from fake_dataset import fake_dataset, shipped, together
from freeproj.experiments.dataset import Dataset
from freeproj.findings.asking import ask
from freeproj.findings.claims import CLAIMS, ask_runs
from freeproj.findings.selection import Kind, equal_storage, equal_words, of_kind
from freeproj.report.figures import find
from freeproj.report.tables import TABLES, make_table
from freeproj.stats import Outcome

STUDIES = ("why-table-1", "as-written", "storage", "in-context", "held-out-task")
# Studies have levels of their own, so that a foreign run cannot hide, and agents look.
# (Four fixed matrices and words of four letters: one agent is in two studies.)
LEVELS = dict(zip(STUDIES, (-0.4, 0.1, -0.4, 0.6, 0.8), strict=True))


@functools.cache
def study(name, n_seeds=3):
    def trial_return(settings, map_name):
        length = 0.02 * settings["projection.length"]
        return (LEVELS[name] + length) * (map_name != "zero")

    return shipped(name, n_seeds, trial_return)


@functools.cache
def everything():
    return together(*map(study, STUDIES))


@functools.cache
def judged(claim, *names):
    return answer(claim, together(*map(study, names)))


def answer(name, dataset):
    return ask(CLAIMS.resolve(name), dataset)


def numbers(claim):
    return sorted((f.value, f.seeds) for f in claim.findings if f.seeds)


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("sign-slip", "why-table-1"),
        ("fixed-bases", "why-table-1"),
        ("chance-without-reward", "why-table-1"),
        ("storage", "storage"),
        ("in-context", "in-context"),
        ("in-context-length", "in-context"),
        ("new-task", "held-out-task"),
        ("held-out-task", "held-out-task"),
    ],
)
def test_a_claim_rests_on_the_same_runs_whatever_lies_beside_them(claim, name):
    alone, beside = judged(claim, name), judged(claim, *STUDIES)
    assert not alone.missing
    assert numbers(alone)
    assert numbers(beside) == numbers(alone)
    assert beside.outcome is alone.outcome
    others = [each for each in STUDIES if each != name]
    assert judged(claim, *others).missing


def test_agents_tested_twice_count_once_and_with_all_their_seeds():
    lengths = {"projection.length": (1, 2, 4)}
    tested = {"evaluation.maps": ("tile", "random"), "evaluation.every": 8}
    few = fake_dataset(lengths, 3, lambda _, name: 0.3 * (name != "zero"))
    more = fake_dataset(lengths, 5, lambda _, name: 0.3 * (name != "zero"), **tested)
    claim = answer("haar-length", together(few, more))
    assert [finding.seeds for finding in claim.findings] == [5, 5]
    # Another budget is another agent.
    longer = fake_dataset(lengths, 3, n_updates=80)
    assert len(answer("haar-length", together(few, longer)).findings) == 4


def test_rewards_and_control_arms_are_in_no_comparison_without_reward():
    for claim in ("haar-length", "frp-beats-rp", "best-length"):
        mixed = judged(claim, *STUDIES)
        plain = judged(claim, "why-table-1", "as-written")
        assert numbers(mixed) == numbers(plain)
    runs = of_kind(everything(), Kind.NO_REWARD)
    assert runs.values("observation") == ("projected",)
    assert runs.values("previous_reward") == (False,)
    assert runs.values("projection.n_words") == (256,)


def test_lengths_are_compared_at_equal_words_or_at_equal_storage():
    fixed = everything().where(redraw_every=0, task="StatelessCartPole")
    fixed = fixed.where({"projection.family": "haar"})
    assert set(equal_storage(fixed).values("projection.n_generators")) == {4}
    assert equal_storage(fixed).values("projection.length") == (1, 2, 4, 8)
    assert set(equal_words(fixed).values("projection.n_words")) == {256}
    # Neither: one length is no comparison, and is nobody's to leave out.
    single = fake_dataset(n_seeds=2, redraw_every=0)
    assert len(equal_words(single)) == 2
    assert len(equal_storage(single)) == 0


@pytest.mark.parametrize("n_seeds", [1, 3])
def test_parts_of_studies_are_judged_as_far_as_they_go(n_seeds):
    few = together(*(study(name, n_seeds) for name in STUDIES))
    parts = [
        few,
        few.select(lambda run: run.settings["projection.length"] in (1, 4)),
        few.select(lambda run: run.settings["projection.length"] > 1),
        few.select(lambda run: "CartPole" in str(run.settings["task"])),
        few.select(lambda run: run.settings["projection.family"] == "qr"),
        few.select(lambda run: run.settings["observation"] != "projected"),
        Dataset(few.runs[::7]),
    ]
    for part in parts:
        for claim in ask_runs(part).values():
            assert "nan" not in claim.numbers
            assert claim.status in ("answered", "missing"), claim.error
            assert bool(claim.missing) == (not claim.findings)
            assert "nan" not in claim.sentence
            for finding in claim.findings:
                assert "nan" not in finding.basis + finding.remark
                if n_seeds < 3:
                    assert finding.outcome is Outcome.OPEN
        for table in TABLES:
            make_table(table, part)


@pytest.mark.parametrize(("figure", "name"), [("why-table-1",) * 2, ("storage",) * 2])
def test_a_figure_draws_its_own_study_from_all_of_them(figure, name):
    spec = find(figure)
    sources = (study(name), everything())
    alone, beside = (spec.load().compute(runs, **spec.options) for runs in sources)
    assert beside["maps"].tolist() == alone["maps"].tolist()
    rows = [
        sorted(zip(each["task"], each["length"], each["mean"][:, 0], strict=True))
        for each in (alone, beside)
    ]
    assert rows[0] == rows[1]


def test_card_tasks_on_fixed_bases_do_not_speak_for_cartpole():
    def trial_return(settings, map_name):
        carries = settings["task"] == "StatelessCartPole" and map_name != "zero"
        return 0.5 * carries

    grid = {"task": ("HigherLower", "StatelessCartPole"), "projection.length": (1, 4)}
    fixed = fake_dataset(grid, 10, trial_return, redraw_every=0)
    claim = answer("fixed-bases", fixed)
    assert claim.outcome is Outcome.FAILS
    assert claim.counts == {Outcome.HOLDS: 2, Outcome.FAILS: 2}


def test_raw_qr_with_reward_is_at_no_chance():
    with_reward = fake_dataset(n_seeds=3, previous_reward=True)
    assert answer("chance-without-reward", with_reward).missing
    raw = fake_dataset(n_seeds=3, previous_reward=True, **{"projection.family": "qr"})
    assert answer("chance-without-reward", raw).missing


IN_CONTEXT = {"previous_reward": True, "trials": "fresh_start"}


@pytest.mark.parametrize(
    ("gain", "outcome"),
    [(0.3, Outcome.HOLDS), (-0.3, Outcome.FAILS), (0.0, Outcome.OPEN)],
)
def test_adapting_is_measured_against_the_same_agents_blanked(gain, outcome):
    def trial_return(settings, map_name):
        return 0.2 + gain * (map_name == "random")

    seeing = fake_dataset({"projection.length": (1, 4)}, 10, trial_return, **IN_CONTEXT)
    blind = fake_dataset(None, 10, trial_return, observation="none", **IN_CONTEXT)
    found = answer("in-context", together(seeing, blind))
    assert found.outcome is outcome
    assert len(found.findings) == 2


@pytest.mark.parametrize(
    ("gain", "outcome"), [(0.3, Outcome.HOLDS), (-0.3, Outcome.FAILS)]
)
def test_new_tasks_are_measured_against_chance(gain, outcome):
    held_out = {"evaluation.task": "RepeatPrevious", "task": "HigherLower+RepeatFirst"}

    def trial_return(settings, map_name):
        return -0.49 + gain * (map_name == "random")

    data = fake_dataset({"projection.length": (1, 4)}, 10, trial_return, **held_out)
    claim = answer("new-task", data)
    assert claim.outcome is outcome


def test_studies_in_which_there_is_nothing_to_find_get_no_verdict():
    # One fixed map is luck: agents respond to it, each in its own way, at any length.
    # An audit of each arm by itself let 15 % of such studies get a verdict.
    rng = np.random.default_rng(0)
    grid = {
        "task": ("HigherLower", "RepeatPrevious", "Minesweeper"),
        "projection.length": (1, 2, 4),
    }
    n_studies, wrong = 60, 0
    for _ in range(n_studies):
        data = fake_dataset(
            grid,
            8,
            lambda _, name: 0.15 * rng.standard_normal() * (name != "zero"),
            noise=0.005,
            maps=("tile_unit", "random", "zero"),
        )
        claims = answer("frp-beats-rp", data), answer("best-length", data)
        wrong += any(claim.counts.keys() != {Outcome.OPEN} for claim in claims)
    assert wrong / n_studies <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_studies)
