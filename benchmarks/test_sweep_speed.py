"""One process per core with one thread each, against one process with all threads.

Steps per second of whole updates of `laptop`, after compilation, in turns:

    python -m pytest benchmarks/test_sweep_speed.py -n 0 -s
"""

import threading
import time

import pytest

from freeproj.config import read_config, to_toml
from freeproj.engines.local import n_cores
from freeproj.engines.processes import WorkerProcess
from freeproj.engines.worker import SINGLE_THREAD

N_UPDATES, N_TURNS, TARGET = 10, 3, 1.1


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
    """Returns the steps per second of all processes while all of them are at work."""
    settings = {"memory": memory, "n_updates": N_UPDATES, "evaluation.every": 0}
    configs = [
        read_config("laptop", settings | {"seed": seed}) for seed in range(n_processes)
    ]
    times = [[] for _ in configs]
    pairs = zip(configs, times, strict=True)
    threads = [threading.Thread(target=train, args=(*p, env, out)) for p in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    began, ended = max(each[0] for each in times), min(each[-1] for each in times)
    if ended <= began:
        raise RuntimeError("The processes were not at work at the same time.")
    n_updates = sum(sum(began < t <= ended for t in each) for each in times)
    return n_updates * configs[0].n_envs * configs[0].n_steps / (ended - began)


def train(config, times, env, out):
    worker = WorkerProcess(env)
    try:
        for answer in worker.ask(order="train", config=to_toml(config), out=str(out)):
            assert answer["kind"] in ("row", "done"), answer
            times.append(time.perf_counter())
    finally:
        worker.end()
