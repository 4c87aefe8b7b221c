"""Time of one step through `gym.make`, ours over POPGym's, in one run.

The steps run in a process of their own, without the tests' checks of types.

    python -m pytest benchmarks/test_gym_speed.py -n 0 -s
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from freeproj.envs import REGISTRY

TARGET = 1.5
SCRIPT = Path(__file__).with_name("single_steps.py")
# POPGym has its labyrinths only where mazelib is installed.
FAMILIES = [family for family in REGISTRY if "Labyrinth" not in family]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_single_step_takes_at_most_half_as_long_again_as_popgyms(family):
    ids = f"freeproj/{family}-v0", f"popgym-{REGISTRY[family].popgym_name}Easy-v0"
    run = subprocess.run(
        [sys.executable, SCRIPT, *ids], capture_output=True, text=True, check=True
    )
    ours, theirs = (1e6 * seconds for seconds in json.loads(run.stdout).values())
    verdict = "PASS" if ours <= TARGET * theirs else "ABOVE"
    print(
        f"\n{family}: {ours:.1f} us a step, popgym {theirs:.1f} us, ratio "
        f"{ours / theirs:.2f} (target {TARGET}: {verdict})"
    )
