"""`freeproj certify`: numbers, cards, exit codes."""

import json

import pytest

import cues

MINE = ("--task", "cues:SameCue", "--episodes", 12, "--trials", 2)


def test_a_shipped_agent_gets_a_certificate(freeproj, tmp_path):
    cards = [tmp_path / f"card{end}" for end in (".md", ".html")]
    options = [word for card in cards for word in ("--card", card)]
    shown = freeproj("certify", "flash-cards", "--episodes", 8, *options)
    assert shown.code == 0
    assert "Does it adapt? flash-cards on FlashCards" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80 or str(tmp_path) in shown.out
    assert all(card.is_file() and str(card) in shown.out for card in cards)


@pytest.mark.parametrize(
    ("policy", "required", "code"),
    [
        ("invariant", "invariant", 0),
        ("adapts", "adapts", 0),
        ("adapts", "invariant", 1),
        ("memorised", "adapts", 1),
        ("memorised", "uses", 0),
        ("ignores", "uses", 1),
    ],
)
def test_the_exit_code_says_whether_the_requirement_is_met(
    freeproj, policy, required, code
):
    ended = freeproj("certify", f"cues:{policy}", *MINE, "--require", required)
    assert ended.code == code
    assert ("required" in ended.err) == bool(code)


def test_json_has_the_verdict_and_every_row(freeproj):
    found = json.loads(freeproj("certify", "cues:invariant", *MINE, "--json").out)
    assert found["verdict"] == "invariant"
    rows = {row["name"]: row for row in found["rows"]}
    assert rows["plain"]["value"]["mean"] == cues.N_STEPS
    assert rows["random"]["share"] == {"mean": 1, "low": 1, "high": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cartpol"], "Did you mean `cartpole`?"),
        (["cues:ignores"], "must name the task"),
        (["cues:ignore", *MINE], "has no 'ignore'"),
        (["none.zip"], "none.zip: no such file"),
        (["cues:ignores", "--task", "CartPol-v1"], "Did you mean: `CartPole`"),
        (["cartpole", "--require", "all"], "'all' is not one of"),
    ],
)
def test_bad_input_ends_with_one_line_and_code_2(freeproj, arguments, message):
    ended = freeproj("certify", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1
