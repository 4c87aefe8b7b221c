"""The Ray engine on a real cluster of two nodes: what dies is done again, once."""

import json
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("ray")

import ray
from ray._private import ray_constants
from ray.cluster_utils import Cluster
from ray.exceptions import AuthenticationError, RayError

import freeproj
from freeproj.experiments.engines import ray as ray_engine
from freeproj.experiments.engines.local import run_local
from freeproj.experiments.engines.ray import run_ray
from freeproj.experiments.run import open_run
from freeproj.experiments.settings import read_config, run_name
from freeproj.experiments.study import read_study

# Ray forks and at once becomes another program, which JAX cannot know.
pytestmark = pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")

SETTINGS = {"task": "HigherLower", "n_updates": 150, "evaluation.every": 50}
CONFIGS = [read_config("smoke", SETTINGS | {"seed": seed}) for seed in range(4)]


@pytest.fixture
def cluster(monkeypatch):
    """Two nodes of one CPU each; the head is the first."""
    # Where the package is not installed, workers find it as this process does.
    monkeypatch.setenv("PYTHONPATH", str(Path(freeproj.__file__).parents[1]))
    both = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    both.add_node(num_cpus=1)
    ray.init(address=both.address, log_to_driver=False)
    yield both
    ray.shutdown()
    both.shutdown()


def test_an_address_without_a_cluster_is_refused_at_once(tmp_path):
    with pytest.raises(ValueError, match=r"No Ray cluster at .*'127\.0\.0\.1:1'"):
        run_ray(CONFIGS, tmp_path, address="127.0.0.1:1")


def test_without_an_address_ray_starts_here_for_this_machine_only(monkeypatch):
    calls = []

    def init(**options):
        calls.append((options["address"], ray_constants.ENABLE_RAY_CLUSTER))

    monkeypatch.setattr(ray, "init", init)
    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_engine._connect(None)
    ray_engine._connect("auto")
    # Without clusters Ray binds to 127.0.0.1; "local" never joins another's cluster.
    assert calls == [("local", False), ("auto", before)]
    assert before == ray_constants.ENABLE_RAY_CLUSTER


@pytest.mark.parametrize("error", [RuntimeError, OSError, AuthenticationError])
def test_a_ray_that_does_not_start_is_one_line(monkeypatch, error):
    def init(**_options):
        raise error("two\nlines")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(ValueError, match="Ray did not start on this machine: two"):
        ray_engine._connect(None)
    with pytest.raises(ValueError, match=r"give its token in RAY_AUTH_TOKEN"):
        ray_engine._connect("auto")


def test_the_token_stays_on():
    code = "import os, freeproj.experiments.engines.ray; "
    code += "print(os.environ.get('RAY_AUTH_MODE'))"
    env = {key: value for key, value in os.environ.items() if key != "RAY_AUTH_MODE"}
    env["PYTHONPATH"] = str(Path(freeproj.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env
    )
    assert run.stdout.strip() == "None", run.stderr


def test_nobody_else_can_read_the_token(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ray").mkdir(mode=0o755)
    ray_engine._keep_token_private()
    assert stat.S_IMODE((tmp_path / ".ray").stat().st_mode) == 0o700


class ScriptedRay:
    """Stands in for Ray: each task ends with the next of the scripted results."""

    def __init__(self, script):
        self.script = script

    def remote(self, **_options):
        return lambda _function: SimpleNamespace(remote=lambda *_arguments: object())

    def wait(self, references, timeout):
        return references[:1], references[1:]

    def get(self, _reference):
        result = self.script.pop(0)
        if isinstance(result, RayError):
            raise result
        return result


@pytest.mark.parametrize(
    ("progress", "kinds"),
    [
        ([0, 5, 9], ["retry", "retry", "retry", "done"]),
        ([0, 0], ["retry", "failed"]),
        ([3, 7, 7], ["retry", "retry", "failed"]),
    ],
)
def test_failures_count_since_the_last_progress(progress, kinds, monkeypatch, tmp_path):
    script = [RayError("lost") for _ in progress]
    done = [{"kind": "done", "row": {"update": 10}}]
    script += [done] if kinds[-1] == "done" else []
    monkeypatch.setattr(ray_engine, "ray", ScriptedRay(script))
    monkeypatch.setattr(
        ray_engine._Tasks, "_rows", lambda _self, _config: [{}] * progress.pop(0)
    )
    events = []
    task = ray_engine.ray.remote()(None)
    tasks = ray_engine._Tasks(task, CONFIGS[:1], str(tmp_path), events.append)
    (outcome,) = tasks.carry_out(seeds_together=1)
    assert [event.kind for event in events] == kinds
    assert bool(outcome.error) == (kinds[-1] == "failed")


@pytest.mark.slow
def test_a_killed_driver_loses_nothing(tmp_path):
    """Kill the driver of a Ray of its own; its workers end, and a sweep goes on."""
    study, out = tmp_path / "study.toml", tmp_path / "ray"
    study.write_text(
        'base = "smoke"\nsettings = { n_updates = 150, evaluation.every = 50 }\n'
        '[grid]\ntasks = ["HigherLower"]\nseeds = 1\n'
    )
    (config,) = read_study(study).runs()
    command = [sys.executable, "-m", "freeproj", "sweep", str(study), "--quiet"]
    env = os.environ | {"PYTHONPATH": str(Path(freeproj.__file__).parents[1])}
    driver = subprocess.Popen(
        [*command, "--engine", "ray", "--out", str(out)], env=env, process_group=0
    )
    log = out / run_name(config) / "log.jsonl"
    while not (log.exists() and log.stat().st_size):
        assert driver.poll() is None, "Ray did not start"
        time.sleep(0.1)
    driver.kill()
    driver.wait()
    assert not (log.parent / "final.json").exists()
    run_local([config], out)  # waits for the lock that the last worker may still hold
    run_local([config], tmp_path / "local")
    undisturbed = tmp_path / "local" / run_name(config) / "log.jsonl"
    assert log.read_bytes() == undisturbed.read_bytes()


@pytest.mark.slow
def test_a_killed_node_loses_nothing_and_counts_nothing_twice(cluster, tmp_path):
    out, outcomes, counts = tmp_path / "ray", [], {}
    under_way = threading.Event()

    def watch(event):
        if event.kind == "row":
            counts[event.config] = event.row["update"]
        if sum(0 < count < SETTINGS["n_updates"] for count in counts.values()) >= 2:
            under_way.set()

    def sweep():
        outcomes.extend(run_ray(CONFIGS, out, report=watch))

    # A daemon, so that a failure here leaves no thread behind that keeps pytest alive.
    work = threading.Thread(target=sweep, daemon=True)
    work.start()
    while not under_way.wait(timeout=1):
        assert work.is_alive()
    at_the_kill = list(counts.values())
    (second,) = cluster.worker_nodes
    cluster.remove_node(second, allow_graceful=False)  # kill -9
    work.join()  # however long it takes: pytest has a limit of its own
    # The node had one CPU, and so one run, which cannot have been at its end.
    assert sum(0 < count < SETTINGS["n_updates"] for count in at_the_kill) >= 2

    assert [outcome.config for outcome in outcomes] == CONFIGS
    assert not any(outcome.error for outcome in outcomes)
    expected = list(range(1, SETTINGS["n_updates"] + 1))
    for outcome in outcomes:
        run = open_run(out, outcome.config)
        assert run.is_finished
        assert [row["update"] for row in run.log()] == expected
        assert json.dumps(outcome.row) == json.dumps(run.log()[-1])

    undisturbed = tmp_path / "local"
    run_local(CONFIGS, undisturbed)
    for config in CONFIGS:
        name = f"{run_name(config)}/log.jsonl"
        assert (out / name).read_bytes() == (undisturbed / name).read_bytes()
