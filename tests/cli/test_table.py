"""`freeproj table`: every axis of the runs, beside the paper's, in 80 columns."""

import json

import pytest

from fake_dataset import fake_dataset
from fake_study import write_study


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three seeds of two lengths, without any training; one did not finish."""
    return write_study(
        tmp_path_factory.mktemp("table") / "runs",
        tasks=("HigherLower",),
        memories=("gru",),
        lengths=(1, 4),
        n_updates=12,
        unfinished=(1,),
    )


def test_our_cells_stand_beside_the_papers(freeproj, runs):
    ended = freeproj("table", "table-results", "--runs", runs)
    assert ended.code == 0
    for word in ("RP ℓ=1", "FRP ℓ=4", "chance", "ceiling", "paper FRP ℓ=8 GRU"):
        assert word in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    said = " ".join(ended.out.split())
    assert "6 runs: 5 finished, 1 running." in said or "1 running, 5 finished" in said
    assert "nan" not in ended.out


def test_form_and_file_are_the_users(freeproj, runs, tmp_path):
    file = tmp_path / "table.tex"
    ended = freeproj(
        "table", "table-lengths", "--runs", runs, "--format", "latex", "--out", file
    )
    assert ended.out == f"{file}\n"
    assert r"\toprule" in file.read_text()
    rows = json.loads(freeproj("table", "table-results", "--runs", runs, "--json").out)
    assert [row["projection.length"] for row in rows] == [1, 4]


def test_results_of_other_codebases_stand_in_the_same_table(freeproj, tmp_path):
    grid = {"projection.length": (1, 2)}
    ours = fake_dataset(grid, 2).save(tmp_path / "ours.npz")
    theirs = fake_dataset(grid, 2, task="RepeatFirst").save(tmp_path / "theirs.npz")
    ended = freeproj("table", "table-results", "--runs", ours, "--runs", theirs)
    assert ended.code == 0
    assert "Higher Lower" in ended.out
    assert "Repeat First" in ended.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table-result", "--runs", "."], "Did you mean `table-results`?"),
        (["table-results"], "Give --runs: a folder, a dataset file"),
        (["table-results", "--runs", "nosuch"], "nosuch"),
    ],
)
def test_bad_input_ends_with_one_line_and_code_2(freeproj, arguments, message):
    ended = freeproj("table", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_a_folder_without_runs_says_how_to_get_some(freeproj, tmp_path):
    ended = freeproj("table", "table-results", "--runs", tmp_path)
    assert ended.code == 2
    assert "freeproj sweep quick" in ended.err
