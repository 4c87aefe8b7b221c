"""`freeproj sweep`: what it prints, and with which code it ends."""

import json

import pytest

from freeproj.cli.sweep_view import SweepView, duration
from freeproj.experiments.engines import Event
from freeproj.experiments.engines.costs import Cost
from freeproj.experiments.run import open_run
from freeproj.experiments.settings import read_config, run_name, to_toml

STUDY = """
base = "smoke"
settings = { n_updates = 1 }
[grid]
tasks = ["HigherLower"]
seeds = 2
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def finish(out, seed):
    """Makes a finished run of the study, without any training."""
    settings = {"task": "HigherLower", "n_updates": 1, "seed": seed}
    run = open_run(out, read_config("smoke", settings))
    (run.folder / "log.jsonl").write_text(json.dumps({"update": 1}) + "\n")
    (run.folder / "final.json").write_text("{}")
    return run


def test_a_finished_study_is_skipped_whole(freeproj, study, tmp_path):
    out = tmp_path / "runs"
    finish(out, 0), finish(out, 1)
    ended = freeproj("sweep", study, "--out", out)
    assert (ended.code, ended.out) == (0, f"{out}\n")
    assert "2 runs" in ended.err
    assert "2 finished, 0 to do." in ended.err


def test_a_failing_run_ends_with_code_1_and_its_last_lines(freeproj, study, tmp_path):
    out = tmp_path / "runs"
    finish(out, 0)
    settings = {"task": "HigherLower", "n_updates": 1, "seed": 1}
    bad = out / run_name(read_config("smoke", settings))
    (bad / "checkpoint").mkdir(parents=True)
    (bad / "checkpoint" / "state.npz").write_text("not an archive")
    ended = freeproj("sweep", study, "--out", out, "--quiet")
    assert ended.code == 1
    assert f"{bad} failed twice:" in ended.err
    assert "state.npz cannot be read" in ended.err
    assert "1 of 2 runs failed." in ended.err


def test_a_dry_run_lists_the_runs_and_estimates_them(
    freeproj, study, tmp_path, monkeypatch
):
    # A unit of work takes a millisecond: 8 x 64 x 7 for the update, 8 x 204 to test.
    cost = Cost(10.0, 1e-3, 0.0, 5e8, 0.0)
    monkeypatch.setattr(
        "freeproj.experiments.engines.local.measure_costs", lambda _: [cost]
    )
    out = tmp_path / "runs"
    done = finish(out, 0)
    ended = freeproj("sweep", study, "--out", out, "--dry-run")
    assert ended.code == 0
    first, second, *rest = ended.out.splitlines()
    assert "HigherLower gru ℓ=4 seed 0" in first
    assert "finished" in first
    assert done.folder.name in first
    assert "to do" in second
    assert rest[0] == "2 runs, 1 to do."
    assert "a run of 1 updates takes about 5.2 s, getting its programs" in rest[1]
    assert rest[2].startswith("About 15 s in 1 process(es) of one thread, 0.5 GB each")
    assert [path.name for path in out.iterdir()] == [done.folder.name], "no folders"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], "No file nosuch, and no shipped study (laptop, paper, quick)."),
        (["quick", "--set", "ppo.clop=1"], "No setting `ppo.clop`"),
        (["quick", "--engine", "spark"], "spark"),
        (["quick", "--address", "auto"], "--engine ray"),
        (["quick", "--engine", "ray", "--jobs", "2"], "--engine local"),
        (["quick", "--jobs", "0"], "--jobs"),
    ],
)
def test_bad_input_ends_with_one_line_and_code_2(freeproj, arguments, message):
    ended = freeproj("sweep", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_a_folder_of_other_settings_is_refused(freeproj, study, tmp_path):
    out = tmp_path / "runs"
    folder = finish(out, 0).folder
    (folder / "config.toml").write_text(to_toml(read_config("smoke")))
    ended = freeproj("sweep", study, "--out", out)
    assert ended.code == 2
    assert "made with other settings" in ended.err


def test_the_view_counts_and_estimates(capsys):
    config = read_config("smoke", {"n_updates": 4})
    rows = [
        {"update": 1, "train/episode_return": 1.5},
        {"update": 2, "train/episode_return": float("nan")},
    ]
    with SweepView([config]) as view:
        view.show(Event(config, "started"))
        for row in rows:
            view.show(Event(config, "row", row))
        view.show(Event(config, "retry", text="why"))
        assert view.n_done == 0
        view.show(Event(config, "done", {"update": 4, "train/episode_return": 2.0}))
        assert view.n_done == 1
    errors = capsys.readouterr().err
    assert "failed, tried again:\nwhy" in errors
    assert "[1/1] StatelessCartPole gru ℓ=4 seed 0 done 4/4 train 2.00" in errors


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "0.2 s"),
        (42.0, "42 s"),
        (120.0, "2 min"),
        (3.0 * 3600, "3 h"),
        (864000.0, "10 days"),
    ],
)
def test_durations_are_written_for_people(seconds, text):
    assert duration(seconds) == text
