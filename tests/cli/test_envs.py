"""`freeproj envs`."""

import json

import pytest
from click.testing import CliRunner

from freeproj.cli import main
from freeproj.cli.tasks import envs
from freeproj.envs import REGISTRY, make


def lines_of(*arguments):
    result = CliRunner().invoke(envs, arguments)
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def test_the_table_has_a_row_for_each_family_and_level():
    rows = {line.split()[0]: line.split()[1:] for line in lines_of() if line.strip()}
    names = {f.make(level).name for f in REGISTRY.values() for level in f.levels}
    assert len(names) == 16 * 3  # the cards of the demo have no levels
    assert names <= set(rows)
    assert rows["StatelessCartPole"][:4] == ["2", "2", "200", "0.111"]
    assert rows["StatelessCartPole"][-2:] == ["1.000", "16.00"]
    assert rows["HigherLower"][:3] == ["13", "2", "51"]
    assert rows["BattleshipHard"][:3] == ["2", "144", "144"]
    assert rows["RepeatPrevious"][5] == "0.979"


def test_the_table_fits_a_terminal():
    assert max(map(len, lines_of())) <= 79


def test_the_table_is_there_as_json():
    tasks = {task["name"]: task for task in json.loads("\n".join(lines_of("--json")))}
    assert len(tasks) == 16 * 3 + 1
    assert tasks["Minesweeper"]["popgym"] == "popgym-MineSweeperEasy-v0"
    assert tasks["Minesweeper"]["n_actions"] == 16
    assert tasks["RepeatFirst"]["limit_16_trials"] == 16
    assert json.loads("\n".join(lines_of("Minesweeper", "--json")))["max_steps"] == 14


def test_a_task_without_stored_numbers_shows_a_dash(monkeypatch):
    monkeypatch.setattr("freeproj.envs.baselines.baselines", lambda name: None)
    row = next(line for line in lines_of() if line.startswith("Autoencode"))
    assert row.split() == ["Autoencode", "6", "4", "103", "–", "–", "–", "–"]
    assert "not been measured" in lines_of("Autoencode")[-1]
    assert json.loads("\n".join(lines_of("Autoencode", "--json")))["chance"] is None


@pytest.mark.parametrize("family", REGISTRY)
def test_one_task_is_described_in_full(family):
    name = family + ("Hard" if REGISTRY[family].levels else "")
    text = "\n".join(lines_of(name))
    assert text.startswith(f"{name}: {REGISTRY[family].summary}")
    assert f"at most {make(name).max_steps} steps" in text
    if REGISTRY[family].popgym_name:
        assert f"popgym-{REGISTRY[family].popgym_name}Hard-v0" in text
    if "not been measured" not in text:
        assert "uniform" in text
        assert "±" in text
        assert "Best: " in text


def test_the_first_trial_is_told_where_it_differs():
    text = " ".join("\n".join(lines_of("HigherLower")).split())
    assert "best, first trial 0.5276" in text
    assert "reward only, turn 5.4" in text
    assert "first trial" not in "\n".join(lines_of("RepeatFirst"))


def test_an_unknown_task_ends_with_one_line_and_code_two(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["envs", "Chess"])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("freeproj: No task 'Chess'. Known: ")
    assert error.count("\n") == 1
