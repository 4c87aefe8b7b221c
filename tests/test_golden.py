"""A short run whose log is stored: a change of any number in training shows here.

Make it anew, when a change is wanted, with

    python tests/test_golden.py

On the kind of machine that wrote the file (same processor, cores and JAX) the log must
be the same bit for bit; elsewhere sums are ordered otherwise and it must agree closely.
"""

import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import jax
import jaxlib
import pytest

from freeproj import train
from freeproj.experiments.settings import read_config

FILE = Path(__file__).parent / "golden" / "short_run.json"
SETTINGS = {"n_updates": 3, "task": "RepeatFirst", "previous_reward": True}


def short_run(memory: str):
    config = read_config("smoke", {**SETTINGS, "memory": memory})
    rows = train(jax.random.key(0), config).log
    return json.loads(json.dumps(rows))


def machine() -> str:
    """Names what the bits depend on, as a hash."""
    described = Path("/proc/cpuinfo").read_text() if os.path.exists("/proc") else ""
    lines = {x for x in described.splitlines() if x.startswith(("model name", "flags"))}
    parts = [*sorted(lines), str(os.cpu_count()), jax.__version__, jaxlib.__version__]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@pytest.fixture(scope="module")
def runs():
    """The short runs by programs as users have them: the tests' own compile faster."""
    usual = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    command = [sys.executable, str(Path(__file__)), "--show"]
    return json.loads(subprocess.check_output(command, env=usual))


@pytest.mark.parametrize("memory", ["gru", "s5"])
def test_a_short_run_is_the_stored_one(memory, runs):
    golden = json.loads(FILE.read_text())
    found, stored = runs[memory], golden[memory]
    if golden["machine"] == machine():
        assert same(found, stored, tolerance=0.0)
    assert same(found, stored, tolerance=1e-3)


def test_a_changed_number_is_noticed():
    stored = json.loads(FILE.read_text())["gru"]
    changed = json.loads(json.dumps(stored))
    changed[1]["loss/entropy"] *= 1 + 1e-6
    assert not same(changed, stored, tolerance=0.0)
    changed[1]["loss/entropy"] *= 1.01
    assert not same(changed, stored, tolerance=1e-3)


def same(found, stored, tolerance: float) -> bool:
    """Compares two logs; nan is equal to nan."""
    if isinstance(stored, dict):
        keys = found.keys() == stored.keys()
        return keys and all(same(found[k], stored[k], tolerance) for k in stored)
    if isinstance(stored, list):
        pairs = zip(found, stored, strict=False)
        return len(found) == len(stored) and all(same(*p, tolerance) for p in pairs)
    if math.isnan(stored) or math.isnan(found):
        return math.isnan(stored) and math.isnan(found)
    # Losses are near 0 where terms cancel: an error of 1e-5 is as good as none there.
    return math.isclose(found, stored, rel_tol=tolerance, abs_tol=tolerance / 100)


if __name__ == "__main__":
    logs = {memory: short_run(memory) for memory in ("gru", "s5")}
    text = json.dumps({"machine": machine(), **logs}, indent=1) + "\n"
    if "--show" in sys.argv:
        print(text)
    else:
        FILE.write_text(text)
