"""Time of one step through `gym.make`, ours over POPGym's, in one run.

The steps run in a process of their own, without the tests' checks of types.

    python -m pytest benchmarks/test_gym_speed.py -n 0 -s
"""

import json
from pathlib import Path

import pytest
from timing import run, say

from freeproj.envs import REGISTRY

SCRIPT = Path(__file__).with_name("single_steps.py")
# POPGym has its labyrinths only where mazelib is installed.
FAMILIES = [
    name
    for name, family in REGISTRY.items()
    if family.popgym_name and "Labyrinth" not in name
]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_single_step_takes_at_most_half_as_long_again_as_popgyms(family):
    ids = f"freeproj/{family}-v0", f"popgym-{REGISTRY[family].popgym_name}Easy-v0"
    printed, _ = run(SCRIPT, *ids)
    ours, theirs = (1e6 * seconds for seconds in json.loads(printed).values())
    print(f"\n{family}: {ours:.1f} us a step, popgym {theirs:.1f} us", end="")
    say(f"{family} by gym.make, a step over popgym's", ours / theirs, "x", at_most=1.5)
