"""Names of tasks."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import freeproj
import freeproj as fp
from freeproj.envs import REGISTRY, HigherLower, Minesweeper, make, register

PAPER = ["HigherLower", "Minesweeper", "RepeatFirst", "RepeatPrevious"]
CONTROL = ["StatelessCartPole", "StatelessPendulum"]


def test_the_families_of_the_paper_and_the_pendulum_are_there():
    assert set(fp.envs.REGISTRY) >= {*PAPER, *CONTROL}
    assert all(
        list(family.levels) == ["Easy", "Medium", "Hard"]
        for family in REGISTRY.values()
        if family.popgym_name
    )


@pytest.mark.parametrize("family", REGISTRY)
def test_every_name_makes_the_task_that_bears_it(family):
    levels = ("", *REGISTRY[family].levels)
    assert levels in (("",), ("", "Easy", "Medium", "Hard"))
    for level in levels:
        env = make(f"{family}{level}")
        assert make(env.name) == env
        assert env.name == family + level.removeprefix("Easy")


@pytest.mark.parametrize(
    ("popgym_id", "name"),
    [
        ("popgym-PositionOnlyCartPoleEasy-v0", "StatelessCartPole"),
        ("popgym-PositionOnlyPendulumHard-v0", "StatelessPendulumHard"),
        ("popgym-NoisyPositionOnlyCartPoleMedium-v0", "NoisyStatelessCartPoleMedium"),
        ("popgym-MineSweeperHard-v0", "MinesweeperHard"),
        ("popgym-VelocityOnlyCartpoleEasy-v0", "VelocityOnlyCartPole"),
        ("popgym-CountRecall-v0", "CountRecall"),
    ],
)
def test_popgym_ids_are_understood(popgym_id, name):
    assert make(popgym_id) == make(name)


def test_popgyms_repeat_previous_is_one_step_shorter_than_the_papers():
    paper, popgym = make("RepeatPrevious"), make("popgym-RepeatPreviousEasy-v0")
    assert (paper.delay, popgym.delay) == (4, 3)
    assert make(popgym.name) == popgym != paper


def test_levels_differ():
    assert make("MinesweeperHard") == Minesweeper(side=8, n_mines=10)
    assert make("HigherLower") != make("HigherLowerHard")


@pytest.mark.parametrize("name", ["Higherlower", "HigherLowerExtreme", "", "popgym-X"])
def test_an_unknown_name_is_answered_with_the_known_ones(name):
    with pytest.raises(ValueError, match=f"No task '{name}'.*Known: Auto"):
        make(name)


def test_the_nearest_name_is_suggested():
    with pytest.raises(ValueError, match="Did you mean `HigherLower`"):
        make("Higherlower")
    with pytest.raises(ValueError, match="Did you mean `popgym-MineSweeperEasy-v0`"):
        make("popgym-MinesweeperEasy-v0")


def test_a_task_can_be_registered_once(monkeypatch):
    monkeypatch.delitem(REGISTRY, "MyGame", raising=False)
    register("MyGame", HigherLower, {"Tiny": {"n_decks": 1}, "Huge": {"n_decks": 9}})
    assert make("MyGame").n_decks == 1
    assert make("MyGameHuge").n_decks == 9
    with pytest.raises(ValueError, match="must be new, but MyGame"):
        register("MyGame", HigherLower)
    with pytest.raises(ValueError, match="HigherLowerHard is taken"):
        register("HigherLowerHard", HigherLower)
    del REGISTRY["MyGame"]


def test_a_task_without_levels_has_one_name():
    family = register("Plain", lambda: HigherLower(n_decks=4))
    assert family.make().n_decks == 4
    assert list(family.names()) == ["Plain"]
    del REGISTRY["Plain"]


def test_stored_runs_name_flash_cards_by_their_module():
    assert make("freeproj.envs.flash_cards:FlashCards") == make("FlashCards")
    assert make("FlashCards(n_cards=6)").name == "FlashCards(n_cards=6)"


COIN = '''
"""Coin toss: say what lies open."""
from typing import Any, ClassVar
import jax, jax.numpy as jnp
from freeproj.envs.base import Environment, one_hot
from freeproj.envs.drawing import CENTRE, INK
from freeproj.projection.spaces import Box, Discrete
class CoinToss(Environment):
    summary: ClassVar = "say which side of the coin lies open"
    levels: ClassVar = {"Easy": {}, "Hard": {}}
    observation_space = property(lambda self: Box.unit(2))
    action_space = property(lambda self: Discrete(2))
    max_steps = property(lambda self: 1)
    def reset(self, key, params):
        side = Discrete(2).sample(key)
        return jax.nn.one_hot(side, 2), (side,)
    def step(self, key, state, action, params):
        never, reward = jnp.zeros((), bool), jnp.float32(action == state[0])
        return jax.nn.one_hot(state[0], 2), state, reward, ~never, never, {}
    def plain_step(self, state, action, noise):
        return one_hot(2, state[0]), state, 7.0 * (action == state[0]), True, False
    def paint(self, canvas, state):
        canvas.write(CENTRE, "HT"[int(state[0])], INK, 90)
        return True
'''
USE = """
import gymnasium as gym, numpy as np
from freeproj.envs import CoinToss, make
env = gym.make("freeproj.gymnasium:freeproj/CoinTossHard-v0", render_mode="rgb_array")
obs, _ = env.reset(seed=0)
print(make("CoinToss") == CoinToss(), env.step(int(obs.argmax()))[1])
assert len(np.unique(env.render())) > 2
from freeproj.cli import main
main(["envs", "CoinToss"])
"""


def test_a_new_task_is_one_file_one_line_and_stored_baselines(tmp_path):
    source, copy = Path(freeproj.__file__).parent, tmp_path / "freeproj"
    copy.mkdir()
    for each in source.iterdir():
        if each.name != "envs":
            (copy / each.name).symlink_to(each)
    shutil.copytree(source / "envs", copy / "envs")
    (copy / "envs" / "coin_toss.py").write_text(COIN)
    listed = copy / "envs" / "__init__.py"
    line = "_TASKS = (\n"
    assert listed.read_text().count(line) == 1
    listed.write_text(
        listed.read_text().replace(line, line + '    "coin_toss:CoinToss",\n')
    )
    numbers = copy / "envs" / "baselines.json"
    stored = json.loads(numbers.read_text())
    stored["tasks"]["CoinToss"] = entry = stored["tasks"]["FlashCards"]
    entry["blind"]["uniform"]["mean"], entry["best"]["value"] = 3.25, 7.0
    numbers.write_text(json.dumps(stored))
    run = subprocess.run(
        [sys.executable, "-c", USE],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert run.stdout.startswith("True 7.0"), run.stderr
    assert "CoinToss: say which side of the coin lies open" in run.stdout
    assert re.search(r"uniform +3\.25", run.stdout)
    assert re.search(r"best +7\.0", run.stdout)
