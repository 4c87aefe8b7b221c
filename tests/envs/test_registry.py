"""Names of tasks."""

import pytest

import freeproj as fp
from freeproj.envs import REGISTRY, HigherLower, Minesweeper, make, register

PAPER = ["HigherLower", "Minesweeper", "RepeatFirst", "RepeatPrevious"]
CONTROL = ["StatelessCartPole", "StatelessPendulum"]


def test_the_families_of_the_paper_and_the_pendulum_are_there():
    assert set(fp.envs.REGISTRY) >= {*PAPER, *CONTROL}
    assert all(
        list(family.levels) == ["Easy", "Medium", "Hard"]
        for family in REGISTRY.values()
    )


@pytest.mark.parametrize("family", REGISTRY)
def test_every_name_makes_the_task_that_bears_it(family):
    assert make(family) == make(f"{family}Easy")
    for level in ("", "Easy", "Medium", "Hard"):
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
    with pytest.raises(ValueError, match=f"No environment '{name}'.*Known: Auto"):
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
