"""Seeds trained together: the runs that they would be alone, each in its own folder."""

import dataclasses
import json
import math
import tomllib
from typing import ClassVar

import numpy as np
import pytest

from freeproj.experiments.engines import local
from freeproj.experiments.engines.worker import WorkerProcess, train_runs
from freeproj.experiments.run import open_run, run_training
from freeproj.experiments.run_seeds import run_seeds
from freeproj.experiments.settings import read_config, to_toml
from freeproj.learning import many_seeds
from freeproj.learning.train import DivergedError

SETTINGS = {"task": "HigherLower", "n_updates": 4, "evaluation.every": 2}
CONFIGS = [read_config("smoke", SETTINGS | {"seed": seed}) for seed in range(3)]
# Sums are ordered otherwise; where terms cancel, losses are as good as 0.
CLOSE = {"rtol": 1e-3, "atol": 1e-5}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Each seed by itself."""
    out = tmp_path_factory.mktemp("alone")
    return [run_training(config, out) for config in CONFIGS]


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """All seeds at once, undisturbed."""
    out = tmp_path_factory.mktemp("together")
    return run_seeds(CONFIGS, out)


def assert_same_log(found, wanted):
    assert len(found) == len(wanted)
    for row, other in zip(found, wanted, strict=True):
        assert row.keys() == other.keys()
        for name, value in row.items():
            np.testing.assert_allclose(value, other[name], **CLOSE, err_msg=name)


def weights(run):
    with np.load(run.folder / "agent.npz") as file:
        return [file[name] for name in file.files]


def test_seeds_trained_together_are_the_seeds_trained_alone(alone, together):
    for single, run in zip(alone, together, strict=True):
        assert run.health == "finished"
        assert_same_log(run.log(), single.log())
        for found, wanted in zip(weights(run), weights(single), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-4)
    first, second = (run.log()[-1]["loss/value"] for run in together[:2])
    assert not math.isclose(first, second, rel_tol=1e-2), "seeds differ"


class Killed(BaseException):
    """Stands for the end of the process."""


def test_seeds_that_stand_at_different_updates_go_on_together(together, tmp_path):
    def kill_between_two_seeds(config, row):
        if config.seed == 1 and row["update"] == 2:
            raise Killed

    with pytest.raises(Killed):
        run_seeds(CONFIGS, tmp_path, report=kill_between_two_seeds)
    lengths = [len(open_run(tmp_path, config).log()) for config in CONFIGS]
    assert lengths == [2, 2, 1]

    rows = []
    ends = run_seeds(
        CONFIGS, tmp_path, report=lambda config, row: rows.append((config, row))
    )
    assert [row["update"] for _, row in rows] == [2, 3, 3, 3, 4, 4, 4]
    for run, undisturbed in zip(ends, together, strict=True):
        # The same program, so the same bits, whoever had to wait; as texts, where nan
        # equals nan.
        assert json.dumps(run.log()) == json.dumps(undisturbed.log())


def test_a_locked_and_a_damaged_seed_hold_up_no_other(together, tmp_path):
    locked, damaged = (dataclasses.replace(CONFIGS[0], seed=seed) for seed in (7, 8))
    checkpoint = open_run(tmp_path, damaged).folder / "checkpoint"
    checkpoint.mkdir()
    (checkpoint / "state.npz").write_text("not an archive")
    rows = []

    def report(**answer):
        rows.append((answer["run"], answer["row"]["update"]))

    settings = [to_toml(config) for config in (damaged, *CONFIGS, locked)]
    with open_run(tmp_path, locked).lock():
        ends = train_runs(settings, str(tmp_path), report)
    kinds = ["failed", "done", "done", "done", "locked"]
    assert [end["kind"] for end in ends] == kinds
    assert "state.npz cannot be read" in ends[0]["text"]
    assert rows == [(run, update) for update in (1, 2, 3, 4) for run in (1, 2, 3)]
    for end, run in zip(ends[1:4], together, strict=True):
        assert json.dumps(end["row"]) == json.dumps(run.log()[-1])


def test_a_seed_that_diverges_is_marked_and_the_others_go_on(
    alone, tmp_path, monkeypatch
):
    check = many_seeds.check_finite

    def check_finite(number, metrics):
        if number == 2 and math.isclose(metrics["loss/value"], bad, rel_tol=1e-3):
            metrics["finite"] = np.array([True, False, True, True])
        check(number, metrics)

    bad = alone[1].log()[1]["loss/value"]
    monkeypatch.setattr(many_seeds, "check_finite", check_finite)
    ends = run_seeds(CONFIGS, tmp_path)
    assert str(ends[1]) == str(DivergedError(2, "loss"))
    run = open_run(tmp_path, CONFIGS[1])
    assert run.health == "diverged"
    assert [row["update"] for row in run.log()] == [1], "its last good update stays"
    for place in (0, 2):
        assert_same_log(ends[place].log(), alone[place].log())
    again = run_seeds(CONFIGS, tmp_path)
    assert isinstance(again[1], DivergedError), "known, not tried again"


def test_only_seeds_are_trained_together(tmp_path):
    other = read_config("smoke", SETTINGS | {"n_trials": 3})
    with pytest.raises(ValueError, match="must differ in `seed` only"):
        run_seeds([CONFIGS[0], other], tmp_path)


def test_one_seed_is_the_single_run_bit_for_bit(alone, tmp_path):
    (run,) = run_seeds(CONFIGS[:1], tmp_path)
    name = "log.jsonl"
    assert (run.folder / name).read_bytes() == (alone[0].folder / name).read_bytes()


class ScriptedWorker(WorkerProcess):
    """Stands in for a worker process: notes its orders, gives the scripted answers."""

    orders: ClassVar[list[list[int]]] = []
    script: ClassVar[list[list[dict]]] = []

    def __init__(self):
        """Start no process."""

    def ask(self, **order):
        read = [tomllib.loads(text) for text in order["configs"]]
        self.orders.append([settings.get("seed", 0) for settings in read])
        yield from self.script.pop(0)

    def kill(self):
        """Nothing to stop."""

    end = kill


def done(run):
    return {"kind": "done", "run": run, "row": {"update": 4}}


def test_the_local_engine_gives_a_worker_the_seeds_of_one_cell(monkeypatch, tmp_path):
    other = read_config("smoke", SETTINGS | {"n_trials": 3, "seed": 9})
    diverged = {"kind": "diverged", "run": 1, "text": "Diverged."}
    died = {"kind": "died", "text": "killed"}  # names no run: all that are left
    ScriptedWorker.script = [[done(0), diverged], [died], [done(0)], [done(0)]]
    monkeypatch.setattr(local, "WorkerProcess", ScriptedWorker)
    configs = [CONFIGS[0], other, *CONFIGS[1:]]
    events = []
    outcomes = local.run_local(
        configs, tmp_path, jobs=1, seeds_together=2, report=events.append
    )
    assert ScriptedWorker.orders == [[0, 1], [2], [2], [9]]
    assert [outcome.config for outcome in outcomes] == configs
    assert [outcome.error for outcome in outcomes] == ["", "", "Diverged.", ""]
    assert [event.config.seed for event in events if event.kind == "retry"] == [2]


def test_at_least_one_seed_is_trained_at_a_time(tmp_path):
    with pytest.raises(ValueError, match="`seeds_together` must be at least 1, got 0"):
        local.run_local(CONFIGS, tmp_path, seeds_together=0)
