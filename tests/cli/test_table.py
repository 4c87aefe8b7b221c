"""`freeproj table`: our cells beside the paper's, from runs and from CSV files."""

import json

import pytest

from freeproj.experiments.run import open_run
from freeproj.experiments.settings import read_config
from freeproj.stats import Row, write_csv

ROW = {
    "update": 1,
    "train/episode_return": 0.5,
    "train/n_finished": 8,
    "train/n_unfinished": 8,
    "test/window/episode_return": 1.25,
    "test/window/n_finished": 16,
    "test/window/n_unfinished": 8,
    "test/episodes/episode_return": 1.75,
    "test/episodes/n_finished": 8,
    "test/episodes/n_unfinished": 0,
}


@pytest.fixture
def runs(tmp_path):
    """Two seeds of two lengths, without any training."""
    out = tmp_path / "runs"
    for length in (1, 4):
        for seed in (0, 1):
            settings = {"task": "HigherLower", "n_trials": 16, "seed": seed}
            config = read_config("smoke", settings | {"projection.length": length})
            run = open_run(out, config)
            (run.folder / "log.jsonl").write_text(json.dumps(ROW) + "\n")
            (run.folder / "final.json").write_text("{}")
    return out


def line(text, *starts):
    (found,) = [
        each for each in text.splitlines() if each.split()[: len(starts)] == [*starts]
    ]
    return found


def test_our_cells_stand_beside_the_papers(freeproj, runs):
    ended = freeproj("table", "table-results", "--runs", runs)
    assert ended.code == 0
    task = ended.out.split("HigherLower\n")[1].split("Minesweeper")[0]
    assert "1.25 ± 0.00" in line(task, "FRP(GRU)", "ℓ=4", "ours")
    assert "2.13 ± 1.12" in line(task, "FRP(GRU)", "ℓ=8", "paper")
    assert "counting by window" in ended.out
    assert "4 runs, 4 of them finished." in ended.err


def test_luck_blind_policies_and_ceilings_stand_below_every_task(freeproj, runs):
    text = freeproj("table", "table-results", "--runs", runs).out
    assert text.count("uniform policy") >= 10
    assert text.count("best blind:") == 5
    assert "3.00" in line(text, "best", "blind:", "left", "and", "right")
    assert text.count("  ceiling") == 5


def test_counting_and_format_are_the_users(freeproj, runs, tmp_path):
    options = ("--runs", runs, "--counting", "episodes")
    text = freeproj("table", "table-results", *options).out
    assert "1.75 ± 0.00" in text
    assert "counting by episodes" in text
    file = tmp_path / "table.tex"
    ended = freeproj(
        "table", "table-lengths", *options, "--format", "latex", "--out", file
    )
    assert ended.out == f"{file}\n"
    assert r"\toprule" in file.read_text()


def test_results_of_other_codebases_stand_in_the_same_table(freeproj, runs, tmp_path):
    theirs = [
        Row("RepeatFirst", "gru", 256, 1, seed, 5, "projection", "test", "window",
            -7.5, 64, 0)
        for seed in range(3)
    ]  # fmt: skip
    file = write_csv(theirs, tmp_path / "theirs.csv")
    both = freeproj("table", "table-results", "--runs", runs, "--csv", file).out
    assert "-7.50 ± 0.00" in both
    assert "1.25 ± 0.00" in both
    assert "-7.50 ± 0.00" in freeproj("table", "table-results", "--csv", file).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch", "--runs", "."], "No table 'nosuch'. Known: table-results, table-"),
        (["table-results"], "--runs FOLDER, --csv FILE, or both"),
        (["table-results", "--runs", "nosuch"], "No folder nosuch with runs"),
        (["table-results", "--csv", "nosuch.csv"], "No file nosuch.csv"),
        (["table-lengths", "--runs", ".", "--by", "train-raw"], "table-results"),
    ],
)
def test_bad_input_ends_with_one_line_and_code_2(freeproj, arguments, message):
    ended = freeproj("table", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_other_numbers_of_trials_are_told(freeproj, tmp_path):
    run = open_run(tmp_path, read_config("smoke"))
    (run.folder / "log.jsonl").write_text(json.dumps(ROW) + "\n")
    ended = freeproj("table", "table-results", "--runs", tmp_path)
    assert "StatelessCartPole do not have the paper's 16 trials" in ended.err


@pytest.mark.parametrize("shown", [True, False])
def test_agents_that_see_their_reward_are_told_apart(freeproj, tmp_path, shown):
    run = open_run(tmp_path, read_config("smoke", {"previous_reward": shown}))
    (run.folder / "log.jsonl").write_text(json.dumps(ROW) + "\n")
    ended = freeproj("table", "table-results", "--runs", tmp_path)
    assert ended.code == 0
    assert ("see their previous reward" in ended.err) == shown
