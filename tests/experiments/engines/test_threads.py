"""Workers have one thread, so a run of a study does not depend on the cores."""

import os
import subprocess
import sys

import pytest

from freeproj.experiments.engines.local import run_local
from freeproj.experiments.run import read_run
from freeproj.experiments.settings import read_config
from freeproj.storage.threads import SINGLE_THREAD, n_cores, n_threads

# Processor time per second, and the busiest thread's share of the processor time: a
# machine with other work gives two threads no more time than one.
PRODUCT = """
import glob, time
import jax

def by_thread():
    stats = (open(each).read() for each in glob.glob("/proc/self/task/*/stat"))
    fields = [each.rsplit(")", 1)[1].split() for each in stats]
    return [int(each[11]) + int(each[12]) for each in fields]

a = jax.random.normal(jax.random.key(0), (2048, 2048))
product = jax.jit(lambda a: a @ a)
product(a).block_until_ready()
before, began, used = by_thread(), time.perf_counter(), time.process_time()
for _ in range(8):
    product(a).block_until_ready()
used, took = time.process_time() - used, time.perf_counter() - began
spent = [after - first for after, first in zip(by_thread(), before)]
print(used / took, max(spent) / sum(spent))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="needs /proc")
def test_a_worker_computes_with_one_thread():
    run = subprocess.run(
        [sys.executable, "-c", PRODUCT],
        capture_output=True,
        text=True,
        env={**os.environ, **SINGLE_THREAD},
    )
    assert run.returncode == 0, run.stderr
    busy, share = map(float, run.stdout.split())
    assert busy <= 1.1
    assert share >= 0.9


@pytest.mark.skipif(n_cores() < 2, reason="needs two cores")
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs affinities")
def test_a_run_does_not_depend_on_the_number_of_cores(tmp_path, monkeypatch):
    # Large enough that two threads would share its products.
    settings = {"n_updates": 2, "n_steps": 256, "network.hidden_size": 128}
    config = read_config("smoke", settings)
    monkeypatch.setenv("FREEPROJ_CACHE", "off")  # each compiles for itself
    cores = os.sched_getaffinity(0)
    run_local([config], tmp_path / "all")
    try:
        os.sched_setaffinity(0, {min(cores)})
        run_local([config], tmp_path / "one")
    finally:
        os.sched_setaffinity(0, cores)
    for name in ("log.jsonl", "agent.npz"):
        (one,), (every,) = (
            [*(tmp_path / of).glob(f"*/{name}")] for of in ("one", "all")
        )
        assert one.read_bytes() == every.read_bytes()
    (folder,) = (path.parent for path in (tmp_path / "all").glob("*/config.toml"))
    assert read_run(folder).is_finished
    assert "threads = 1" in (folder / "config.toml").read_text()


def test_the_number_of_threads_is_known(monkeypatch):
    for name in SINGLE_THREAD:
        monkeypatch.delenv(name, raising=False)
    assert n_threads() == n_cores()
    for name, value in SINGLE_THREAD.items():
        monkeypatch.setenv(name, value)
    assert n_threads() == 1
