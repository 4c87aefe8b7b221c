"""Lines to compare returns with."""

import math

import pytest

from freeproj.report.paper.baselines import episode_levels, table_baselines
from freeproj.report.paper.numbers import PAPER_TASKS


def test_an_episodes_levels_are_those_of_its_trials():
    one, sixteen = (episode_levels("HigherLower", n) for n in (1, 16))
    assert sixteen.chance == pytest.approx(16 * one.chance)
    assert sixteen.chance_std == pytest.approx(4 * one.chance_std)
    cartpole = episode_levels("StatelessCartPole", 16)
    assert cartpole.blind == pytest.approx(3.3, abs=0.03)
    assert cartpole.chance == pytest.approx(1.78, abs=0.05)
    # One hidden card apart, guesses of one card are independent: 48/51 of them count.
    assert one.chance_std == pytest.approx(math.sqrt(48) / 52, rel=0.02)


def test_tasks_that_were_never_measured_have_nan():
    found = table_baselines([], ["HigherLower+RepeatFirst", "Chess"])
    assert set(found) == {*PAPER_TASKS, "HigherLower+RepeatFirst", "Chess"}
    assert math.isnan(found["Chess"].chance)
    assert not math.isnan(found["RepeatFirst"].chance)
