"""Training on other devices than one CPU: simulated ones, and a real accelerator."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import freeproj
from freeproj.experiments.settings import read_config
from freeproj.learning.train import train

SEVERAL = """
import sys
import jax, numpy as np
from freeproj.experiments.settings import read_config
from freeproj.learning import many_seeds
from freeproj.learning.train import train

assert jax.device_count() == 2
spread = []
stacked = many_seeds._spread

def note(tree):
    tree = stacked(tree)
    spread.append({len(leaf.sharding.device_set) for leaf in jax.tree.leaves(tree)})
    return tree

many_seeds._spread = note
config = read_config("smoke", {"n_updates": 1, "network.hidden_size": 8})
keys = [jax.random.key(0), jax.random.key(1)]
results = many_seeds.train_seeds(keys, config)
assert spread and all(each == {2} for each in spread), spread
for key, found in zip(keys, results):
    alone = train(key, config)
    pairs = zip(jax.tree.leaves(found.agent), jax.tree.leaves(alone.agent))
    for one, other in pairs:
        np.testing.assert_allclose(one, other, atol=1e-4)
"""


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_devices_share_the_seeds_and_give_their_runs():
    source = Path(freeproj.__file__).parents[1]
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    system = os.environ | flags | {"PYTHONPATH": str(source), "JAX_PLATFORMS": "cpu"}
    run = subprocess.run(
        [sys.executable, "-c", SEVERAL], env=system, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-2000:]


@pytest.mark.skipif(jax.default_backend() == "cpu", reason="no GPU or TPU is here")
def test_an_accelerator_trains_an_agent():
    result = train(jax.random.key(0), read_config("smoke", {}))
    leaves = jax.tree.leaves(result.agent)
    assert all(np.isfinite(leaf).all() for leaf in leaves)
    assert {each.platform for leaf in leaves for each in leaf.devices()} != {"cpu"}
