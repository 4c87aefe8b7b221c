"""One process per core with one thread each, against one process with all threads.

Steps per second of whole updates of `laptop`, after compilation, in turns:

    python -m pytest benchmarks/test_sweep_speed.py -n 0 -s
"""

import dataclasses
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from freeproj.experiments.engines.local import n_cores
from freeproj.experiments.engines.processes import WorkerProcess
from freeproj.experiments.engines.worker import SINGLE_THREAD
from freeproj.experiments.settings import read_config, to_toml

N_UPDATES, N_TURNS, TARGET = 8, 3, 1.1


@pytest.mark.parametrize("memory", ["gru", "s5"])
def test_one_process_per_core(memory, tmp_path):
    rates = {"one": [], "many": []}
    for turn in range(N_TURNS):
        rates["one"].append(rate(memory, 1, {}, tmp_path / f"one{turn}"))
        many = rate(memory, n_cores(), SINGLE_THREAD, tmp_path / f"many{turn}")
        rates["many"].append(many)
    one, many = (max(rates[name]) for name in ("one", "many"))
    verdict = "PASS" if many / one >= TARGET else "BELOW"
    print(
        f"\n{memory}: {n_cores()} processes of one thread {many:,.0f} steps/s, one "
        f"process of {n_cores()} threads {one:,.0f}: {many / one:.2f} x "
        f"(target {TARGET} x: {verdict})"
    )


def rate(memory, n_processes, env, out):
    """Returns the steps per second of all processes, from a common start."""
    settings = {"memory": memory, "n_updates": N_UPDATES, "evaluation.every": 0}
    config = read_config("laptop", settings)
    ready = threading.Barrier(n_processes)
    with ThreadPoolExecutor(n_processes) as pool:
        arguments = [(config, number, env, out, ready) for number in range(n_processes)]
        times = list(pool.map(train, *zip(*arguments, strict=True)))
    seconds = max(end for _, end in times) - min(began for began, _ in times)
    return n_processes * N_UPDATES * config.n_envs * config.n_steps / seconds


def train(config, number, env, out, ready):
    """Compiles in a first run; returns when the second one began and ended."""
    worker = WorkerProcess(env)
    try:
        finish(worker, dataclasses.replace(config, seed=2 * number), out)
        ready.wait()
        began = time.perf_counter()
        finish(worker, dataclasses.replace(config, seed=2 * number + 1), out)
        return began, time.perf_counter()
    finally:
        worker.end()


def finish(worker, config, out):
    *_, last = worker.ask(order="train", configs=[to_toml(config)], out=str(out))
    assert last["kind"] == "done", last
