"""The local engine: whatever is killed, the end is the same."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from typing import ClassVar

import pytest

import freeproj
from freeproj.experiments.dataset import read_dataset
from freeproj.experiments.engines import local, remote, split_finished
from freeproj.experiments.engines.costs import run_bytes, run_seconds, work
from freeproj.experiments.engines.local import measure_costs, run_local
from freeproj.experiments.run import open_run
from freeproj.experiments.settings import (
    config_from,
    read_config,
    run_name,
    to_toml,
)

SETTINGS = {"task": "HigherLower", "n_updates": 40, "evaluation.every": 10}
CONFIGS = [read_config("smoke", SETTINGS | {"seed": seed}) for seed in range(3)]
STUDY = """
base = "smoke"
settings = { n_updates = 40, evaluation.every = 10 }
[grid]
tasks = ["HigherLower"]
seeds = 3
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a sweep that nothing happened to."""
    out = tmp_path_factory.mktemp("undisturbed")
    outcomes = run_local(CONFIGS, out, jobs=2)
    assert not any(outcome.error for outcome in outcomes)
    return out


def tables(out):
    """Return all numbers as CSV, without the seconds that they took."""
    lines = read_dataset(out).to_csv(out / "all.csv").read_text().splitlines()
    assert lines[0].startswith("run,health,seconds,")
    return [[*line.split(",")[:2], *line.split(",")[3:]] for line in lines]


def n_updates(out, config):
    log = out / run_name(config) / "log.jsonl"
    return log.read_text().count("\n") if log.exists() else 0


def wait_until(condition, seconds=240):
    patience = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < patience
        time.sleep(0.01)


def sweep_process(tmp_path, out, jobs=2):
    """Starts `freeproj sweep` as a process of its own."""
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    command = [sys.executable, "-m", "freeproj", "sweep", str(study)]
    source = str(Path(freeproj.__file__).parents[1])
    return subprocess.Popen(
        [*command, "--out", str(out), "--jobs", str(jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )


def children(pid):
    """Returns the processes that a process has started, from /proc."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def is_running(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_outcomes_are_the_last_rows_in_order(undisturbed):
    again = run_local(CONFIGS, undisturbed)
    assert [outcome.config for outcome in again] == CONFIGS
    # As texts, where nan equals nan.
    assert [json.dumps(outcome.row) for outcome in again] == [
        json.dumps(open_run(undisturbed, config).log()[-1]) for config in CONFIGS
    ]


def test_finished_runs_are_known_without_any_worker(undisturbed, tmp_path):
    assert split_finished(CONFIGS, undisturbed) == ([], CONFIGS)
    assert split_finished(CONFIGS, tmp_path) == (CONFIGS, [])
    assert not any(tmp_path.iterdir()), "asking makes no folders"


def test_a_killed_worker_and_a_killed_driver_leave_the_same_tables(
    undisturbed, tmp_path
):
    out = tmp_path / "runs"
    first = sweep_process(tmp_path, out)
    wait_until(lambda: any(n_updates(out, config) > 2 for config in CONFIGS))
    victim, *_ = children(first.pid)
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: set(children(first.pid)) - {victim} and not is_running(victim))
    workers = children(first.pid)
    first.kill()
    first.communicate()
    wait_until(lambda: not any(map(is_running, workers)), seconds=20)
    assert not all(open_run(out, config).is_finished for config in CONFIGS)

    second = sweep_process(tmp_path, out)
    printed, errors = second.communicate(timeout=400)
    assert second.returncode == 0, errors
    assert printed.strip() == str(out)
    assert tables(out) == tables(undisturbed)
    for config in CONFIGS:
        name = f"{run_name(config)}/agent.npz"
        assert (out / name).read_bytes() == (undisturbed / name).read_bytes()


@pytest.mark.slow
def test_the_run_of_a_killed_worker_is_tried_once_more(undisturbed, tmp_path):
    out = tmp_path / "runs"
    sweep = sweep_process(tmp_path, out, jobs=1)
    wait_until(lambda: any(n_updates(out, config) > 2 for config in CONFIGS))
    (worker,) = children(sweep.pid)
    os.kill(worker, signal.SIGKILL)
    _, errors = sweep.communicate(timeout=400)
    assert sweep.returncode == 0, errors
    assert tables(out) == tables(undisturbed)


@pytest.mark.slow
def test_ctrl_c_stops_the_workers_and_says_how_to_go_on(tmp_path):
    out = tmp_path / "runs"
    sweep = sweep_process(tmp_path, out)
    wait_until(lambda: any(n_updates(out, config) > 1 for config in CONFIGS))
    workers = children(sweep.pid)
    assert workers
    sweep.send_signal(signal.SIGINT)
    _, errors = sweep.communicate(timeout=60)
    assert sweep.returncode == 130
    assert "Rerun the same command to resume." in errors
    assert "Traceback" not in errors
    wait_until(lambda: not any(map(is_running, workers)), seconds=20)


@pytest.mark.slow
def test_two_sweeps_at_once_share_the_work(undisturbed, tmp_path):
    both, kinds = [], []

    def sweep():
        both.append(run_local(CONFIGS, tmp_path, jobs=1, report=kinds.append))

    threads = [threading.Thread(target=sweep) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for outcomes in both:
        assert not any(outcome.error for outcome in outcomes)
    assert tables(tmp_path) == tables(undisturbed)
    rows = [event for event in kinds if event.kind == "row"]
    assert len(rows) == len(CONFIGS) * SETTINGS["n_updates"], "nothing is done twice"


@pytest.mark.slow
def test_a_run_that_fails_twice_is_reported_and_the_others_go_on(undisturbed, tmp_path):
    bad = tmp_path / run_name(CONFIGS[0])
    (bad / "checkpoint").mkdir(parents=True)
    (bad / "config.toml").write_text(to_toml(CONFIGS[0]))
    (bad / "checkpoint" / "state.npz").write_text("not an archive")
    events = []
    outcomes = run_local(CONFIGS[:2], tmp_path, jobs=1, report=events.append)
    assert "state.npz cannot be read" in outcomes[0].error
    assert outcomes[1].error == ""
    kinds = [event.kind for event in events if event.config == CONFIGS[0]]
    assert kinds == ["started", "retry", "started", "failed"]


def test_a_folder_of_other_settings_is_left_alone(tmp_path):
    folder = tmp_path / run_name(CONFIGS[0])
    folder.mkdir()
    (folder / "config.toml").write_text(to_toml(CONFIGS[1]))
    with pytest.raises(ValueError, match="holds other settings"):
        split_finished(CONFIGS, tmp_path)
    assert (folder / "config.toml").read_text() == to_toml(CONFIGS[1])


def test_programs_depend_on_everything_but_the_seed():
    assert len({config.program for config in CONFIGS}) == 1
    other = read_config("smoke", SETTINGS | {"n_steps": 32})
    assert other.program != CONFIGS[0].program


def test_an_update_is_worth_its_samples_and_epochs():
    # 8 environments x 64 steps x (1 + 3 · 2) and an evaluation of 8 x 4 · 51 steps,
    # on its map and blind.
    config = read_config("smoke", {"task": "HigherLower", "n_updates": 1})
    assert work(config) == 8 * 64 * 7 + 2 * 8 * 4 * 51
    twice = read_config("smoke", {"task": "HigherLower", "n_updates": 2})
    assert work(twice) == 2 * work(config)


@pytest.mark.slow
def test_a_cost_is_measured_and_scales_with_the_run():
    config = CONFIGS[0]
    (cost,) = measure_costs([config])
    assert cost.unit_seconds > 0
    assert cost.draw_seconds > 0
    assert cost.process_bytes > 1e8  # JAX itself
    longer = read_config("smoke", SETTINGS | {"n_steps": 128})
    assert run_bytes(longer, cost) > run_bytes(config, cost)
    assert run_seconds(longer, cost) > run_seconds(config, cost)


def test_jobs_must_be_positive(tmp_path):
    with pytest.raises(ValueError, match="`jobs` must be at least 1, got 0"):
        run_local(CONFIGS, tmp_path, jobs=0)
    assert run_local([], tmp_path) == []
    assert measure_costs([]) == []


class FakeWorker:
    """Answers without training, as it is told for each seed; remembers its orders."""

    script: ClassVar[dict[int, list[str]]] = {}
    begun: ClassVar[list["FakeWorker"]] = []

    def __init__(self):
        self.begun.append(self)

    def ask(self, order, configs, out):
        for number, text in enumerate(configs):
            seed = config_from(tomllib.loads(text)).seed
            kind = self.script[seed].pop(0)
            if kind == "died":
                yield {"kind": "died", "text": "gone"}
                return
            if kind == "done":
                yield {"kind": "row", "run": number, "row": {"update": 1}}
            yield {"kind": kind, "run": number, "row": {"update": 1}, "text": kind}

    def kill(self):
        """Do nothing."""

    end = kill


@pytest.mark.parametrize("seeds_together", [1, 3])
def test_each_answer_of_a_worker_has_its_end(seeds_together, tmp_path, monkeypatch):
    script = {0: ["died", "done"], 1: ["locked", "done"], 2: ["diverged"]}
    monkeypatch.setattr(FakeWorker, "script", script)
    monkeypatch.setattr(FakeWorker, "begun", [])
    monkeypatch.setattr(local, "WorkerProcess", FakeWorker)
    monkeypatch.setattr(remote, "_POLL", 0.01)
    events = []
    outcomes = run_local(
        CONFIGS, tmp_path, jobs=1, seeds_together=seeds_together, report=events.append
    )
    assert [outcome.error for outcome in outcomes] == ["", "", "diverged"]
    kinds = [[e.kind for e in events if e.config == each] for each in CONFIGS]
    assert kinds[0] == ["started", "retry", "started", "row", "done"]
    assert kinds[1][-3:] == ["elsewhere", "row", "done"]
    assert kinds[2][-1] == "failed"
    assert len(FakeWorker.begun) == 2, "a new process after one that died"


def test_a_run_that_gets_no_further_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(FakeWorker, "script", {0: ["failed"] * 2, 1: ["done"]})
    monkeypatch.setattr(local, "WorkerProcess", FakeWorker)
    events = []
    outcomes = run_local(CONFIGS[:2], tmp_path, jobs=1, report=events.append)
    assert [outcome.error for outcome in outcomes] == ["failed", ""]
    kinds = [event.kind for event in events if event.config == CONFIGS[0]]
    assert kinds == ["started", "retry", "started", "failed"]
