"""Studies: a first one beside the next, processes beside threads, seeds together.

Steps per second are of whole updates of `laptop`, after compilation, in turns:

    python -m pytest benchmarks/test_sweep_speed.py -n 0 -s
"""

import dataclasses
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import jax
import pytest
from timing import in_turns, run, say

from freeproj.experiments.engines.worker import WorkerProcess
from freeproj.experiments.settings import read_config, to_toml
from freeproj.learning.many_seeds import train_seeds
from freeproj.learning.train import train
from freeproj.storage.threads import SINGLE_THREAD, n_cores

N_UPDATES, N_TURNS, TARGET = 8, 2, 1.1


@pytest.mark.parametrize("memory", ["gru", "s5"])
def test_one_process_per_core(memory, tmp_path):
    rates = {"one": [], "many": []}
    for turn in range(N_TURNS):
        rates["one"].append(rate(memory, 1, {}, tmp_path / f"one{turn}"))
        many = rate(memory, n_cores(), SINGLE_THREAD, tmp_path / f"many{turn}")
        rates["many"].append(many)
    one, many = (max(rates[name]) for name in ("one", "many"))
    print(f"\n{memory}: {many:,.0f} steps/s against {one:,.0f}", end="")
    what = f"{memory}, one process per core over one with all threads"
    say(what, many / one, "x", at_least=TARGET)


def test_a_first_study_beside_the_second(tmp_path):
    cache = str(tmp_path / "cache")
    first, second = (
        freeproj("sweep", "quick", "--quiet", "--out", tmp_path / name, cache=cache)
        for name in ("one", "two")
    )
    print(f"\nquick: {first:.1f} s, then {second:.1f} s", end="")
    say("first `sweep quick` over the second", first / second, "x", at_most=2.5)


def test_a_first_reproduction(tmp_path):
    took = freeproj("reproduce", "--quiet", "--out", tmp_path, cache=tmp_path / "cache")
    say("first `reproduce`", took, " s", at_most=90)


def test_a_dry_run(tmp_path):
    seconds = [
        freeproj("sweep", "paper", "--dry-run", "--out", tmp_path, cache="off")
        for _ in range(3)
    ]
    say("`sweep paper --dry-run`", min(seconds), " s", at_most=3)


def test_seeds_together():
    config, n_seeds = read_config("laptop", {"network.hidden_size": 32}), 4
    keys = [jax.random.key(seed) for seed in range(n_seeds)]
    config = dataclasses.replace(config, n_steps=128, n_updates=3)

    def alone():
        return [train(key, config)[0] for key in keys]

    def together():
        return train_seeds(keys, config)

    took = in_turns({"alone": alone, "together": together}, repeats=2)
    gain = took["alone"] / took["together"]
    say(f"{n_seeds} seeds together over one after the other, here", gain, "x")


def freeproj(*arguments, cache):
    """Returns the seconds of a command with a cache of compiled programs."""
    return run("-m", "freeproj", *arguments, FREEPROJ_CACHE=str(cache))[1]


def rate(memory, n_processes, env, out):
    """Returns the steps per second of all processes, from a common start."""
    settings = {"memory": memory, "n_updates": N_UPDATES, "evaluation.every": 0}
    config = read_config("laptop", settings)
    ready = threading.Barrier(n_processes)
    with ThreadPoolExecutor(n_processes) as pool:
        arguments = [(config, number, env, out, ready) for number in range(n_processes)]
        times = list(pool.map(train_twice, *zip(*arguments, strict=True)))
    seconds = max(end for _, end in times) - min(began for began, _ in times)
    return n_processes * N_UPDATES * config.n_envs * config.n_steps / seconds


def train_twice(config, number, env, out, ready):
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
