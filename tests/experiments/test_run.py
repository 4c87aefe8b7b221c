"""A run on disk: nothing lost, nothing overwritten, nothing trusted."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.experiments.agents import load_agent
from freeproj.experiments.arrays import load_tree, save_tree
from freeproj.experiments.log import read_lines
from freeproj.experiments.run import open_run, read_run, run_training
from freeproj.experiments.settings import read_config, run_name

CONFIG = read_config("smoke")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that was never interrupted."""
    return run_training(CONFIG, tmp_path_factory.mktemp("runs"))


def files_of(run):
    return {
        name: (run.folder / name).read_bytes()
        for name in ("log.jsonl", "final.json", "agent.npz", "config.toml")
    }


class BrokenError(Exception):
    """Stops a run from the inside."""


def interrupted(out, after):
    def stop(row):
        if row["update"] == after:
            raise BrokenError

    with pytest.raises(BrokenError):
        run_training(CONFIG, out, report=stop)
    return open_run(out, CONFIG)


def test_a_finished_run_is_not_run_again(finished):
    before = files_of(finished)

    def never(row):
        raise AssertionError("the run was run again")

    again = run_training(CONFIG, finished.folder.parent, report=never)
    assert again.is_finished
    assert files_of(again) == before


def test_an_interrupted_run_ends_as_the_unbroken_one_bit_for_bit(tmp_path, finished):
    run = interrupted(tmp_path, after=2)
    assert not run.is_finished
    assert len(run.log()) == 2
    assert files_of(run_training(CONFIG, tmp_path)) == files_of(finished)


@pytest.mark.parametrize("harm", ["torn line", "line without checkpoint", "half file"])
def test_a_crash_at_any_moment_loses_nothing(tmp_path, finished, harm):
    run = interrupted(tmp_path, after=2)
    log = run.folder / "log.jsonl"
    if harm == "torn line":
        log.write_text(log.read_text() + '{"update": 3, "ste')
    elif harm == "line without checkpoint":
        log.write_text(log.read_text() + json.dumps({"update": 3}) + "\n")
    else:  # a temporary file that was never moved into place
        (run.folder / "checkpoint" / ".state.npz.x1").write_bytes(b"PK half")
    assert files_of(run_training(CONFIG, tmp_path)) == files_of(finished)


def test_a_damaged_checkpoint_is_named_and_left_alone(tmp_path):
    run = interrupted(tmp_path, after=1)
    checkpoint = run.folder / "checkpoint" / "state.npz"
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"state\.npz cannot be read"):
        run_training(CONFIG, tmp_path)
    assert checkpoint.stat().st_size == 1000


def test_a_folder_with_other_settings_is_never_overwritten(tmp_path):
    run = interrupted(tmp_path, after=1)
    stored = run.folder / "config.toml"
    stored.write_text(stored.read_text().replace("n_trials = 4", "n_trials = 5"))
    before = stored.read_bytes()
    with pytest.raises(ValueError, match="other settings"):
        run_training(CONFIG, tmp_path)
    assert stored.read_bytes() == before


def test_two_processes_cannot_write_one_run(tmp_path):
    run = open_run(tmp_path, CONFIG)
    with run.lock(), pytest.raises(ValueError, match="another process"):
        run_training(CONFIG, tmp_path)


def test_the_log_has_null_and_never_nan(finished):
    text = (finished.folder / "log.jsonl").read_text()
    assert "NaN" not in text
    rows = finished.log()
    assert [row["update"] for row in rows] == [1, 2, 3, 4]
    assert json.loads((finished.folder / "final.json").read_text())["update"] == 4


def test_a_loaded_agent_is_the_trained_one(finished):
    loaded = load_agent(finished.folder)
    assert loaded.config == CONFIG
    inputs, state = loaded.env.reset(
        jax.random.key(0), loaded.env.draw_params(jax.random.key(1))
    )
    memory = loaded.agent.initial_state(1)
    policy, value, _ = loaded.agent.step(inputs[None], memory, jnp.array([True]))
    assert np.isfinite(value).all()
    assert policy.log_prob(jnp.array([0])).shape == (1,)
    assert state.trial == 0


def test_arrays_of_another_shape_are_refused(tmp_path):
    save_tree(tmp_path / "t.npz", {"a": jnp.zeros(3), "key": jax.random.key(0)})
    back = load_tree(tmp_path / "t.npz", {"a": jnp.ones(3), "key": jax.random.key(1)})
    assert back["a"].tolist() == [0, 0, 0]
    assert jnp.array_equal(
        jax.random.key_data(back["key"]), jax.random.key_data(jax.random.key(0))
    )
    with pytest.raises(ValueError, match="do not fit"):
        load_tree(tmp_path / "t.npz", {"a": jnp.zeros(4), "key": jax.random.key(0)})


def test_pickles_are_never_loaded(tmp_path):
    np.savez(tmp_path / "evil.npz", **{"00000": np.array([{}], dtype=object)})
    with pytest.raises(ValueError, match="cannot be read"):
        load_tree(tmp_path / "evil.npz", [jnp.zeros(1)])


def test_what_is_not_a_run_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no config\.toml"):
        read_run(tmp_path)
    run = open_run(tmp_path, CONFIG)
    with pytest.raises(ValueError, match="no agent yet"):
        load_agent(run.folder)


def test_a_killed_process_resumes_to_the_same_end(tmp_path, finished):
    command = [
        sys.executable,
        "-m",
        "freeproj",
        "train",
        "smoke",
        "--out",
        str(tmp_path),
    ]
    process = subprocess.Popen(
        command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    run, patience = open_run(tmp_path / "probe", CONFIG), time.monotonic() + 240
    shutil.rmtree(run.folder)
    log = tmp_path / run_name(CONFIG) / "log.jsonl"
    while not (log.exists() and log.read_text().count("\n") >= 1):
        assert process.poll() is None or log.exists()
        assert time.monotonic() < patience
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert files_of(run_training(CONFIG, tmp_path)) == files_of(finished)


def test_times_are_those_of_the_updates(finished):
    times = [row["time"] for row in read_lines(finished.folder / "timing.jsonl")]
    assert len(times) == CONFIG.n_updates
    assert times == sorted(times)
