"""What syncing costs: the time that a run of `laptop` waits for its disk.

A stand-in for its updates: a state of 1.5 MB every 0.3 s, no training. Records with and
without syncing are made in turns; the fastest counts, as other work stretches some:

    python -m pytest benchmarks/test_sync_cost.py -n 0 -s
"""

import math
import time
from typing import NamedTuple

import numpy as np

from freeproj.experiments import run as run_module
from freeproj.experiments.run import Run
from freeproj.experiments.settings import read_config

N_UPDATES, UPDATE_SECONDS, N_BYTES, TARGET = 40, 0.3, 1_500_000, 2.0


class State(NamedTuple):
    """Stands in for the state of training."""

    weights: np.ndarray
    n_done: np.ndarray


def test_syncing_costs_little(tmp_path, monkeypatch):
    every = run_module.SYNC_SECONDS
    spent = {math.inf: [], 0.0: []}
    runs = {way: Run(tmp_path / str(way), read_config("laptop")) for way in spent}
    for run in runs.values():
        run.folder.mkdir()
    for number in range(1, N_UPDATES + 1):
        for way, run in runs.items():
            monkeypatch.setattr(run_module, "SYNC_SECONDS", way)
            spent[way].append(record(run, number))
        time.sleep(UPDATE_SECONDS)
    plain, synced = (min(times[1:]) for times in spent.values())
    extra = synced - plain
    share = 100 * extra / every
    verdict = "PASS" if share < TARGET else "ABOVE"
    print(
        f"\nA record takes {1000 * plain:.1f} ms, {1000 * synced:.1f} ms synced. "
        f"Synced every {every:.0f} s: {share:.1f} % of the time "
        f"(target {TARGET} %: {verdict}); "
        f"after every update: {100 * extra / UPDATE_SECONDS:.1f} %."
    )


def record(run, number):
    """Record one update; return the seconds that it took."""
    weights = np.full(N_BYTES // 4, number, np.float32)
    began = time.perf_counter()
    run.record(State(weights, np.asarray(number, np.int32)), {"update": number})
    return time.perf_counter() - began
