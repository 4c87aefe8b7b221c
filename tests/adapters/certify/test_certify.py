"""Certificates say of policies what is known of them."""

import json
import math

import numpy as np
import pytest

import cues
import freeproj as fp
from freeproj.adapters.certify.playing import CONDITIONS

TASK = cues.SameCue()


def certified(policy, **settings):
    return fp.certify(policy, TASK, **{"n_episodes": 24, "n_trials": 3} | settings)


@pytest.mark.parametrize("verdict", ["ignores", "memorised", "adapts", "invariant"])
def test_the_verdict_is_what_the_policy_does(verdict):
    found = certified(getattr(cues, verdict))
    assert found.verdict == verdict, found
    assert found.agent == verdict
    assert found["random"].value.low <= found["random"].value.mean


def test_an_invariant_policy_plays_equal_episodes():
    found = certified(cues.invariant, dim=7)
    for name in ("plain", "random", "minus"):
        assert found[name].equal == 1
        assert found[name].value == found["plain"].value
    assert found["random"].share == (1, 1, 1)
    assert found["blanked"].equal < 1
    assert found["plain"].value.mean == pytest.approx(cues.N_STEPS)
    assert found["relabelled"].value.mean == 2 - cues.N_STEPS  # the first one pays 1


def test_adapting_shows_in_the_slope_and_lasts_beyond_the_horizon():
    found = certified(cues.adapts)
    row = found["random"]
    assert row.slope.low > 0
    assert row.first < row.last == cues.N_STEPS
    assert found["beyond"].first == cues.N_STEPS
    assert "rises over trials" in found.sentence


def test_a_certificate_is_a_function_of_its_seed():
    one, same, other = (certified(cues.adapts, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one["random"] != other["random"]


def test_a_frame_makes_any_policy_invariant():
    assert certified(cues.memorised, frame=3)["random"].equal == 1


def test_trials_of_one_start_show_the_same_first_cue():
    firsts = []

    def note(observation, state):
        if state is None or state % cues.N_STEPS == 0:
            firsts.append(tuple(np.round(observation, 3)))
        return 0, (state or 0) + 1

    for same_start in (True, False):
        firsts.clear()
        fp.certify(note, TASK, n_episodes=8, n_trials=4, same_start=same_start)
        plain = np.array(firsts[: 8 * 4]).reshape(4, 8, 3)
        assert (plain == plain[:1]).all() == same_start


def test_cards_hold_the_sentence_and_every_condition(tmp_path):
    found = certified(cues.memorised, name="<mine>")
    paths = [found.save(tmp_path / f"card{end}") for end in (".md", ".html", ".json")]
    markdown, page, data = (path.read_text() for path in paths)
    played = [name for name in CONDITIONS if name != "trained"]
    for text in (markdown, page, data, str(found)):
        assert all(name in text for name in (*played, "beyond"))
    assert found.sentence in markdown
    assert "&lt;mine&gt;" in page
    assert "<mine>" not in page
    assert json.loads(data)["rows"][-1]["equal"] is None  # no nan
    assert page.count("<tr>") == 1 + len(found.rows)
    with pytest.raises(ValueError, match=r"\.md, \.html or \.json"):
        found.save(tmp_path / "card.txt")


def test_requirements_are_met_by_what_is_stronger():
    found = {name: certified(getattr(cues, name)) for name in ("memorised", "adapts")}
    assert found["adapts"].meets("uses")
    assert found["adapts"].meets("adapts")
    assert not found["adapts"].meets("invariant")
    assert found["memorised"].meets("uses")
    assert not found["memorised"].meets("adapts")
    with pytest.raises(ValueError, match="Did you mean `adapts`"):
        found["adapts"].meets("adapt")


@pytest.mark.parametrize("given", [{"dim": 2}, {"frame": 4}, {"scale": 2.0}])
def test_what_an_agent_of_this_package_sees_is_its_own(given):
    with pytest.raises(ValueError, match="for policies trained elsewhere"):
        fp.certify(fp.load_agent("cartpole"), **given)


def test_one_trial_has_no_slope():
    found = certified(cues.invariant, n_trials=1)
    assert math.isnan(found["random"].slope.mean)
    assert "–" in str(found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"env": None}, "must name the task"),
        ({"env": "NoSuchTask-v7"}, "No task or environment 'NoSuchTask-v7'"),
        ({"policy": 3}, "must be an agent from `load_agent`"),
        ({"n_episodes": 2}, "must be at least 8"),
        ({"dim": 2}, "fewer than the 3"),
        ({"env": 3}, "`env` must be a task"),
        ({"n_trials": -1}, "`n_trials` must be at least 0, got -1"),
        ({"frame": -2}, "`frame` must be at least 0, got -2"),
        ({"policy": lambda x, s: 2}, r"one integer in 0\.\.1 .* got 2"),
        ({"policy": lambda x, s: 0.5}, r"one integer in 0\.\.1 .* got 0\.5"),
        ({"policy": lambda x, s: [1]}, r"one integer in 0\.\.1 .* got \[1\]"),
    ],
)
def test_bad_input_is_refused(settings, message):
    given = {"policy": cues.ignores, "env": TASK} | settings
    with pytest.raises((ValueError, TypeError), match=message):
        fp.certify(**given)
