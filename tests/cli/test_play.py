"""`freeproj play`."""

import builtins

import pytest
from click.testing import CliRunner

from freeproj.cli import main
from freeproj.cli.tasks import parse_action, play

SUITS = ("spades", "diamonds", "clubs", "hearts")


def run(*arguments, typed=""):
    return CliRunner().invoke(play, arguments, input=typed)


@pytest.mark.parametrize(
    ("text", "action"), [("clubs", 2), ("C", 2), (" 2 ", 2), ("sp", 0), ("hearts", 3)]
)
def test_actions_are_understood_by_number_name_or_beginning(text, action):
    assert parse_action(text, SUITS) == action


@pytest.mark.parametrize("text", ["", "x", "4", "-1", "1.0"])
def test_what_is_no_action_is_refused_with_the_choices(text):
    with pytest.raises(ValueError, match="is not an action; choose spades, diamonds"):
        parse_action(text, SUITS)


def test_a_beginning_that_fits_several_names_is_refused():
    with pytest.raises(ValueError, match="'a' is not an action"):
        parse_action("a", ("a1", "a2", "b1"))
    assert parse_action("a1", ("a1", "a11")) == 0


def test_a_whole_trial_of_the_right_suit_earns_one():
    first = run("RepeatFirst", "--seed", "5").output.split("[")[1][:3].strip()
    suit = SUITS["♠♦♣♥".index(first[-1])]
    result = run("RepeatFirst", "--seed", "5", typed=f"{suit}\n" * 51)
    assert result.exit_code == 0
    assert result.output.count("reward +0.020") == 51
    assert "Return of each trial: +1.000" in result.output
    assert "By chance" in result.output.splitlines()[-1]


def test_bad_input_asks_again():
    result = run("HigherLower", "--seed", "1", typed="sideways\n\n0\nq\n")
    assert (
        "'sideways' is not an action; choose higher, lower (or 0 … 1)." in result.output
    )
    assert result.output.count("reward") == 1
    assert result.exit_code == 0


def test_further_trials_have_the_same_deck():
    result = run("HigherLower", "--seed", "2", "--trials", "2", typed="h\n" * 102)
    assert result.exit_code == 0
    cards = [
        line.split("]")[0] for line in result.output.splitlines() if "card" in line
    ]
    trials = [line for line in cards if line.startswith("[")]
    assert len(trials) == 104
    assert trials[:52] == trials[52:]


def test_seeds_give_different_decks_and_are_told():
    assert run("HigherLower", "--seed", "1").output != run("HigherLower").output
    assert "Seed 1." in run("HigherLower", "--seed", "1").output


def test_the_end_of_input_ends_the_game_quietly():
    result = run("Minesweeper", "--seed", "3", typed="a1\n")
    assert result.exit_code == 0
    assert "Stopped in trial 1." in result.output
    assert "Return of each trial: +0.071" in result.output


def test_an_interrupt_ends_with_code_130_and_no_traceback(monkeypatch):
    def interrupt(prompt):
        raise KeyboardInterrupt

    monkeypatch.setattr(builtins, "input", interrupt)
    result = run("Minesweeper", "--seed", "3")
    assert result.exit_code == 130
    assert "Stopped in trial 1." in result.output
    assert "Traceback" not in result.output


def test_continuous_tasks_are_refused_with_those_that_can_be_played(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["play", "StatelessPendulum"])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert "got StatelessPendulum, whose actions are real numbers" in error
    assert "`freeproj envs` lists the numbers of actions" in error
