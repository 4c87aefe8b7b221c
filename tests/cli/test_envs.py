"""`freeproj envs`."""

import pytest
from click.testing import CliRunner

from freeproj.cli import main
from freeproj.cli.envs import envs
from freeproj.envs import REGISTRY, make


def lines_of(*arguments):
    result = CliRunner().invoke(envs, arguments)
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def test_the_table_has_a_row_for_each_family():
    rows = {line.split()[0]: line.split()[1:] for line in lines_of() if line.strip()}
    assert set(REGISTRY) <= set(rows)
    sizes = ["2", "2", "200", "0.111", "0.187", "1.000", "1.78", "3.00", "16.00"]
    assert rows["StatelessCartPole"] == sizes
    assert rows["HigherLower"][:3] == ["13", "2", "51"]
    assert rows["RepeatPrevious"][5] == "0.979"


def test_the_table_fits_a_terminal():
    assert max(map(len, lines_of())) <= 79


def test_all_levels_are_listed_on_request():
    names = [line.split()[0] for line in lines_of("--all") if line.strip()]
    assert {"MinesweeperHard", "NoisyStatelessPendulumMedium"} <= set(names)


@pytest.mark.parametrize("family", REGISTRY)
def test_one_task_is_described_in_full(family):
    text = "\n".join(lines_of(f"{family}Hard"))
    assert text.startswith(f"{family}Hard: {REGISTRY[family].summary}")
    assert f"at most {make(f'{family}Hard').max_steps} steps" in text
    assert f"popgym-{REGISTRY[family].popgym_name}Hard-v0" in text
    assert "uniform" in text
    assert "±" in text
    assert "Best: " in text


def test_the_first_trial_is_told_where_it_differs():
    assert "best, first trial         0.5276" in "\n".join(lines_of("HigherLower"))
    assert "first trial" not in "\n".join(lines_of("RepeatFirst"))


def test_an_unknown_task_ends_with_one_line_and_code_two(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["envs", "Chess"])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("freeproj: No environment 'Chess'. Known: ")
    assert error.count("\n") == 1
