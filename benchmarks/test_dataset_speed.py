"""A folder of 2,000 runs: opened, reported; and what it takes to sync an update.

python -m pytest benchmarks/test_dataset_speed.py -n 0 -s
"""

import json
import math
import subprocess
import sys
import time

import numpy as np
import pytest
from timing import best, run, say

from freeproj.experiments.dataset import read_dataset
from freeproj.experiments.run import open_run
from freeproj.experiments.settings import read_config

N_RUNS, N_UPDATES = 2000, 60
_OPEN = """
import sys, time  # of this process alone: other work on the machine does not count
from freeproj.experiments.dataset import read_dataset
dataset = read_dataset(sys.argv[1])
assert len(dataset) == int(sys.argv[2]) and dataset.axes == ("ppo.discount",)
print(time.process_time())
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder of runs that were never trained."""
    folder = tmp_path_factory.mktemp("runs")
    columns = [
        f"test/tile/episodes/{name}" for name in ("episode_return", "n_finished")
    ]
    columns += [f"loss/{name}" for name in "abcdefgh"]
    lines = [
        json.dumps({"update": u, **dict.fromkeys(columns, u + 0.5)})
        for u in range(1, N_UPDATES + 1)
    ]
    text = "\n".join(lines) + "\n"
    for index in range(N_RUNS):
        settings = {"ppo.discount": (index % 20) / 20, "seed": index // 20}
        settings["n_updates"] = N_UPDATES
        run = open_run(folder, read_config("smoke", settings))
        (run.folder / "log.jsonl").write_text(text)
        (run.folder / "final.json").write_text(lines[-1])
    return folder


def test_2000_runs_open_in_about_a_second(runs):
    began = time.perf_counter()
    assert len(read_dataset(runs)) == N_RUNS
    first = time.perf_counter() - began
    command = [sys.executable, "-c", _OPEN, str(runs), str(N_RUNS)]
    seconds = [
        float(
            subprocess.run(command, capture_output=True, text=True, check=True).stdout
        )
        for _ in range(3)
    ]
    say(f"{N_RUNS} runs read for the first time", first, " s")
    say(f"{N_RUNS} runs from their cache, of one core", min(seconds), " s", at_most=2)


def test_a_report_of_2000_runs(runs, tmp_path):
    report = ("-m", "freeproj", "report", "--quiet", "--out", tmp_path)
    run(*report, "--published")  # analyses and published figures do not count
    _, took = run(*report, runs)
    say(f"a report of {N_RUNS} runs", took, " s", at_most=10)


def test_syncing(tmp_path):
    """What a synced update costs, in updates of `laptop` (half a second)."""
    stored = open_run(tmp_path, read_config("laptop"))
    state = {"weights": np.zeros(200_000, np.float32)}
    row = {"update": 1, "loss": 0.5}

    def record():
        stored._synced = -math.inf
        stored.record(state, row)

    say("a synced update", 1e3 * best(record), " ms", at_most=50)
