"""The Ray engine on a real cluster of two nodes: what dies is done again, once."""

import json
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("ray")

import ray
from ray.cluster_utils import Cluster

import freeproj
from freeproj.experiments.engines.local import run_local
from freeproj.experiments.engines.ray import run_ray
from freeproj.experiments.run import open_run
from freeproj.experiments.settings import read_config, run_name

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


def n_updates(out, config):
    log = out / run_name(config) / "log.jsonl"
    return log.read_text().count("\n") if log.exists() else 0


def wait_for_two_under_way(out):
    patience = time.monotonic() + 120
    while sum(n_updates(out, config) >= 3 for config in CONFIGS) < 2:
        assert time.monotonic() < patience
        time.sleep(0.02)
    return [n_updates(out, config) for config in CONFIGS]


def test_a_killed_node_loses_nothing_and_counts_nothing_twice(cluster, tmp_path):
    out, outcomes = tmp_path / "ray", []
    work = threading.Thread(target=lambda: outcomes.extend(run_ray(CONFIGS, out)))
    work.start()
    at_the_kill = wait_for_two_under_way(out)
    (second,) = cluster.worker_nodes
    cluster.remove_node(second, allow_graceful=False)  # kill -9
    work.join(timeout=240)
    assert not work.is_alive()
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
