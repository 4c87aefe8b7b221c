"""`freeproj sweep`: what it prints, and with which code it ends."""

import json
from types import SimpleNamespace

import pytest

from freeproj.cli.sweep_view import SweepView
from freeproj.experiments.engines import Event, costs
from freeproj.experiments.engines.costs import Cost
from freeproj.experiments.run import open_run
from freeproj.experiments.settings import read_config, run_name, to_toml

STUDY = """
base = "smoke"
settings = { n_updates = 1 }
[grid]
tasks = ["HigherLower"]
seeds = 2
[stated]
question = "Which seed is best?"
margin = "none"
seeds = 2
looks = 1
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
    for name in ("log.jsonl", "final.json"):
        (run.folder / name).write_text(json.dumps({"update": 1}) + "\n")
    return run


def test_a_finished_study_is_skipped_whole(freeproj, study, tmp_path):
    out = tmp_path / "runs"
    finish(out, 0), finish(out, 1)
    ended = freeproj("sweep", study, "--out", out)
    assert (ended.code, ended.out) == (0, f"{out}\n")
    assert "2 runs" in ended.err
    assert "2 finished, 0 to do." in ended.err
    found = json.loads(freeproj("sweep", study, "--out", out, "--json").out)
    assert [run["state"] for run in found["runs"]] == ["finished", "finished"]


def test_a_failing_run_ends_with_code_1_and_its_last_lines(freeproj, study, tmp_path):
    out = tmp_path / "runs"
    finish(out, 0)
    settings = {"task": "HigherLower", "n_updates": 1, "seed": 1}
    bad = out / run_name(read_config("smoke", settings))
    (bad / "checkpoint").mkdir(parents=True)
    (bad / "checkpoint" / "state.npz").write_text("not an archive")
    ended = freeproj("sweep", study, "--out", out, "--quiet")
    assert ended.code == 1
    assert f"{bad} failed:" in ended.err
    assert "state.npz cannot be read" in ended.err
    assert "1 of 2 runs failed." in ended.err


def test_a_dry_run_lists_and_counts_and_measures_nothing(
    freeproj, study, tmp_path, monkeypatch
):
    monkeypatch.setattr(
        "freeproj.experiments.engines.local.measure_costs",
        lambda _: pytest.fail("measured"),
    )
    out = tmp_path / "runs"
    done = finish(out, 0)
    ended = freeproj("sweep", study, "--out", out, "--dry-run")
    assert ended.code == 0
    head, *stated = ended.out.splitlines()[:6]
    assert head == "Stated before the study ran:"
    assert stated[0] == "  question  Which seed is best?"
    assert stated[3:] == ["  looks     1", ""]
    first, second, *rest = ended.out.splitlines()[6:]
    assert "HigherLower gru ℓ=4 seed 0" in first
    assert "finished" in first
    assert done.folder.match(first.split()[-1])
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "to do" in second
    assert rest[0] == "2 runs of 1 configuration, 1 to do."
    assert "too few seeds for a verdict" in rest[1]
    assert [path.name for path in out.iterdir()] == [done.folder.name], "no folders"


def test_a_dry_run_names_every_setting_that_differs(freeproj, tmp_path):
    path = tmp_path / "study.toml"
    grid = "projection.family = ['haar', 'gaussian']\nppo.discount = [0.9, 0.99]"
    path.write_text(f"base = 'smoke'\n[grid]\n{grid}\nseeds = 1")
    ended = freeproj("sweep", path, "--out", tmp_path / "runs", "--dry-run")
    names = [line.split(" seed ")[0] for line in ended.out.splitlines()[:4]]
    assert len(set(names)) == 4
    assert "family=gaussian discount=0.9" in names[2]


def test_a_dry_run_leaves_out_settings_that_follow_from_others(freeproj, tmp_path):
    ended = freeproj("sweep", "quick", "--out", tmp_path / "runs", "--dry-run")
    names = {
        line.split(" seed ")[0] for line in ended.out.splitlines() if "to do" in line
    }
    assert "HigherLower gru ℓ=1 family=qr encoder=none" in names
    assert "StatelessCartPole gru ℓ=1 family=haar encoder=frame" in names
    assert len([name for name in names if "=" in name]) == 6


def test_an_estimate_says_what_the_runs_take(freeproj, study, tmp_path, monkeypatch):
    # A unit of work takes a millisecond: 8 x 64 x 7 for the update, 2 x 8 x 204 to
    # test, on the map and blind.
    cost = Cost(10.0, 1e-3, 0.0, 5e8, 0.0)
    monkeypatch.setattr(
        "freeproj.experiments.engines.local.measure_costs", lambda _: [cost]
    )
    finish(tmp_path / "runs", 0)
    ended = freeproj("sweep", study, "--out", tmp_path / "runs", "--estimate")
    told = " ".join(ended.out.split())
    assert "a run of 1 updates takes about 6.8 s, compiling its programs" in told
    assert "About 17 s in 1 process of one thread, 17 s of one core in all" in told
    assert "all, 0.5 GB each; measured on this machine" in told
    wanted = ("sweep", study, "--out", tmp_path / "runs", "--estimate", "--json")
    found = json.loads(freeproj(*wanted).out)
    assert [run["state"] for run in found["runs"]] == ["finished", "to do"]
    assert found["estimate"]["seconds"] == pytest.approx(16.8, abs=0.1)
    assert found["stated"]["looks"] == 1


def test_an_estimate_shrugs_off_two_disturbed_measurements_of_five(monkeypatch):
    ticks = iter([0.0, 9.0, 10.0, 11.0, 20.0, 21.0, 30.0, 38.0, 40.0, 41.0])
    clock = SimpleNamespace(perf_counter=lambda: next(ticks))  # 9, 1, 1, 8, 1 s
    monkeypatch.setattr(costs, "time", clock)
    assert costs._median_seconds(lambda: 0) == 1


def test_an_estimate_counts_every_draw_of_the_matrices():
    cost = Cost(0.0, 0.0, 2.0, 0.0, 0.0)
    for every, n_draws in [(1, 10), (4, 3), (0, 1)]:
        config = read_config("smoke", {"n_updates": 10, "redraw_every": every})
        assert costs.run_seconds(config, cost) == 2 * n_draws


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], "nosuch: no such file, and not a shipped study"),
        (["quik"], "Did you mean `quick`?"),
        (["quick", "--set", "ppo.clop=1"], "No setting `ppo.clop`"),
        (["quick", "--engine", "spark"], "spark"),
        (["quick", "--address", "auto"], "--engine ray"),
        (["quick", "--engine", "ray", "--jobs", "2"], "--engine local"),
        (["quick", "--jobs", "0"], "--jobs"),
        (["quick", "--seeds-together", "0"], "--seeds-together"),
        (
            ["quick", "--seeds-together", "2", "--engine", "a:b"],
            "local or ray or slurm",
        ),
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
    assert "holds other settings" in ended.err


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


def test_the_live_line_counts_the_runs_and_says_how_long_they_take(capsys, monkeypatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "120")
    configs = [read_config("smoke", {"n_updates": 4, "seed": n}) for n in (0, 1)]
    with SweepView(configs) as view:
        view.show(Event(configs[0], "done", {"update": 4}))
        view.show(Event(configs[1], "started"))
        view.show(Event(configs[1], "row", {"update": 3, "train/episode_return": 2.0}))
    last = "[1/2] StatelessCartPole gru ℓ=4 seed 1 running 3/4 train 2.00 test –, "
    errors = capsys.readouterr().err
    assert last in errors
    assert " s left" in errors
