"""A run that diverges: stopped, named, counted, never retried."""

import json
import math
import pickle
from typing import ClassVar

import numpy as np
import pytest

from freeproj.cli import main
from freeproj.experiments.dataset import read_dataset
from freeproj.experiments.engines import Event
from freeproj.experiments.engines import local as local_engine
from freeproj.experiments.engines.local import run_local
from freeproj.experiments.engines.worker import WorkerProcess
from freeproj.experiments.run import open_run, run_training
from freeproj.experiments.settings import read_config
from freeproj.learning.train import DivergedError, log_row

SETTINGS = {"task": "broken_task:NAN", "n_updates": 2, "n_trials": 1}
CONFIG = read_config("smoke", SETTINGS)


def test_a_nan_reward_ends_the_run_with_one_line_and_code_1(tmp_path, capsys):
    settings = [
        x for key, value in SETTINGS.items() for x in ("--set", f"{key}={value}")
    ]
    command = ["train", "smoke", *settings, "--out", str(tmp_path), "--quiet"]
    for _ in range(2):  # the second time it is known, and nothing is trained
        with pytest.raises(SystemExit) as stop:
            main(command)
        assert stop.value.code == 1
        *_, line = capsys.readouterr().err.splitlines()
        assert line.startswith("freeproj: Diverged at update 1: the reward is not")
    (folder,) = tmp_path.iterdir()
    assert json.loads((folder / "diverged.json").read_text()) == {
        "update": 1,
        "quantity": "reward",
        "reason": "the reward is not finite at update 1",
    }
    assert not (folder / "final.json").exists()
    dataset = read_dataset(tmp_path)
    assert [each.health for each in dataset.set_aside] == ["diverged"]
    with pytest.raises(SystemExit) as stop:
        main(["table", "table-results", "--runs", str(tmp_path)])
    assert stop.value.code == 2
    assert "1 diverged" in capsys.readouterr().err


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_return_of_finished_episodes_must_be_finite(value):
    name = "test/tile/episodes"
    metrics = {
        f"{name}/episode_return": np.float32(value),
        f"{name}/n_finished": np.int32(0),
    }
    log_row(3, metrics, CONFIG)  # no episode ended: no data
    metrics[f"{name}/n_finished"] = np.int32(2)
    with pytest.raises(DivergedError, match=r"update 3: the return \(test/tile"):
        log_row(3, metrics, CONFIG)


def test_the_last_good_checkpoint_stays(tmp_path, monkeypatch):
    def train(key, config, *, state, report):
        report({"n_done": 1}, {"update": 1, "steps": 1})
        raise DivergedError(2, "loss")

    module = "freeproj.experiments.run"
    monkeypatch.setattr(f"{module}.training.train", train)
    monkeypatch.setattr(
        f"{module}.save_tree",
        lambda path, tree, sync: (
            path.parent.mkdir(),
            path.write_text(json.dumps(tree)),
        ),
    )
    with pytest.raises(DivergedError, match="update 2: the loss"):
        run_training(CONFIG, tmp_path)
    run = open_run(tmp_path, CONFIG)
    assert run.health == "diverged"
    assert run.has_checkpoint
    assert [row["update"] for row in run.log()] == [1]


def test_a_damaged_mark_is_named(tmp_path):
    run = open_run(tmp_path, CONFIG)
    (run.folder / "diverged.json").write_text("[" * 9)
    with pytest.raises(ValueError, match=r"diverged\.json is damaged"):
        run_training(CONFIG, tmp_path)


def test_the_error_survives_a_pickle():
    error = pickle.loads(pickle.dumps(DivergedError(7, "loss")))
    assert (error.update, error.quantity) == (7, "loss")
    assert str(error).startswith("Diverged at update 7: the loss is not finite.")


class ScriptedWorker(WorkerProcess):
    """Stands in for a worker process: gives the next of the scripted answers."""

    script: ClassVar[list[list[dict]]] = []

    def __init__(self):
        """Start no process."""

    def ask(self, **_order):
        yield from self.script.pop(0)

    def kill(self):
        """Nothing to stop."""

    end = kill


def outcomes_of(script, monkeypatch, tmp_path):
    ScriptedWorker.script = script
    monkeypatch.setattr(local_engine, "WorkerProcess", ScriptedWorker)
    events: list[Event] = []
    (outcome,) = run_local([CONFIG], tmp_path, jobs=1, report=events.append)
    return outcome, [event.kind for event in events]


ROW = {"kind": "row", "run": 0, "row": {"update": 1}}
DIED = {"kind": "died", "text": "killed"}


def test_a_diverged_run_is_given_up_at_once(monkeypatch, tmp_path):
    script = [[ROW, {"kind": "diverged", "text": "Diverged at update 2."}]]
    outcome, kinds = outcomes_of(script, monkeypatch, tmp_path)
    assert outcome.error == "Diverged at update 2."
    assert kinds == ["started", "row", "failed"]


def test_deaths_count_since_the_last_progress(monkeypatch, tmp_path):
    done = {"kind": "done", "row": {"update": 9}}
    script = [*[[ROW, DIED]] * 5, [ROW, done]]
    outcome, kinds = outcomes_of(script, monkeypatch, tmp_path)
    assert outcome.error == ""
    assert kinds.count("retry") == 5
    outcome, kinds = outcomes_of([[ROW, DIED], [DIED]], monkeypatch, tmp_path)
    assert outcome.error == "killed"
    assert kinds == ["started", "row", "retry", "started", "failed"]
