"""The stored chance levels and ceilings."""

import json
import re
from pathlib import Path
from typing import ClassVar

import jax
import pytest

from freeproj.envs import REGISTRY, HigherLower, make, register
from freeproj.envs import baselines as package_attribute
from freeproj.envs.baselines import (
    Baselines,
    Ceiling,
    baselines,
    find_ceilings,
    measure,
)
from freeproj.envs.blind import Estimate, blind_policies

FILE = package_attribute.__file__.replace(".py", ".json")
ALL = [family + level for family in REGISTRY for level in ("", "Medium", "Hard")]
STORED = json.loads(Path(FILE).read_text())
NAMES = [name for name in ALL if name in STORED]  # the newer families have none yet
FAMILIES = [name for name in REGISTRY if name in STORED]


@pytest.mark.parametrize("name", NAMES)
def test_every_task_has_its_numbers_from_enough_trials(name):
    stored = baselines(name)
    assert stored.task == name
    assert set(stored.blind) == {"uniform", *blind_policies(make(name))}
    for estimate in stored.blind.values():
        assert estimate.n_trials >= 10_000
        assert 0 < estimate.standard_error < 0.01
        assert estimate.mean <= stored.best.value
    assert stored.best.argument
    if stored.first_trial:
        assert stored.first_trial.value <= stored.best.value


def test_blind_alternation_of_cartpole_earns_three_of_sixteen():
    stored = baselines("StatelessCartPole")
    name, best = stored.best_blind
    assert name == "left and right in turn"
    assert 16 * best.mean == pytest.approx(3.0, abs=0.05)
    assert 16 * stored.chance.mean == pytest.approx(1.77, abs=0.04)


def test_the_ceilings_of_the_papers_tasks():
    best = {name: baselines(name).best.value for name in FAMILIES}
    assert best["StatelessCartPole"] == best["RepeatFirst"] == best["Minesweeper"] == 1
    assert best["HigherLower"] == pytest.approx(12 / 13)
    assert best["RepeatPrevious"] == pytest.approx(47 / 48)
    assert 0.9 < best["StatelessPendulum"] < 0.93
    kinds = {name: baselines(name).best.kind for name in FAMILIES}
    assert kinds["StatelessCartPole"] == "exact"
    assert kinds["StatelessPendulum"] == "estimate"
    assert kinds["NoisyStatelessCartPole"] == "bound"


def test_the_best_episode_starts_with_a_first_trial():
    stored = baselines("HigherLower")
    first = stored.first_trial.value
    assert stored.best_episode() == pytest.approx(first + 15 * 12 / 13)
    assert stored.best_episode(1) == pytest.approx(first)
    assert baselines("NoisyStatelessCartPole").best_episode() == 16, "a bound"


def test_the_luckiest_of_equal_policies_is_not_called_best():
    blind = {
        "uniform": Estimate(0.0, 0.01, 100),
        "always a": Estimate(0.03, 0.01, 100),
    }
    best = Ceiling(1.0, "exact", "why")
    assert Baselines("x", blind, best, None).best_blind[0] == "uniform"
    blind["always a"] = Estimate(0.05, 0.01, 100)
    assert Baselines("x", blind, best, None).best_blind[0] == "always a"


def test_other_names_lead_to_the_same_numbers():
    assert baselines("popgym-HigherLowerHard-v0") is baselines("HigherLowerHard")


def test_tasks_without_numbers_are_refused():
    register("Bigger", lambda: HigherLower(n_decks=5))
    try:
        with pytest.raises(ValueError, match="No baselines are stored for Higher"):
            baselines("Bigger")
    finally:
        del REGISTRY["Bigger"]
    with pytest.raises(ValueError, match="No environment 'Chess'"):
        baselines("Chess")


def test_the_file_names_the_command_that_made_it():
    with open(FILE, encoding="utf-8") as file:
        stored = json.load(file)
    assert re.match(
        r"python -m freeproj.envs.baselines --trials \d+ ", stored["command"]
    )


def test_measuring_again_agrees_with_the_file(getkey):
    found, stored = (
        measure(getkey(), make("RepeatFirst"), 2000),
        baselines("RepeatFirst"),
    )
    assert found.best == stored.best
    gap = abs(found.chance.mean - stored.chance.mean)
    assert gap < 4 * (found.chance.standard_error + stored.chance.standard_error)
    exact = found.blind["always clubs"]
    assert abs(exact.mean + 1 / 2) < 4 * exact.standard_error


def test_ceilings_are_found_for_tasks_of_the_package_only():
    with pytest.raises(ValueError, match="must be a task of this package"):
        find_ceilings(jax.random.key(0), Stranger(), 10)


class Stranger(HigherLower.__bases__[0]):
    """A card task that nobody knows."""

    levels: ClassVar = {"Easy": {"n_decks": 1}}
    observation_space = action_space = property(lambda self: None)

    def show(self, card): ...

    def score(self, state, action): ...
