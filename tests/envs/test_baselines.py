"""The stored numbers that returns are compared with."""

import json
import math
import re
from pathlib import Path

import pytest

from freeproj.envs import REGISTRY, HigherLower, register
from freeproj.envs import baselines as module
from freeproj.envs.baselines import (
    Baselines,
    Ceiling,
    Estimate,
    RewardOnly,
    baselines,
)

with open(module.__file__.replace(".py", ".json"), encoding="utf-8") as file:
    STORED = json.load(file)


@pytest.mark.parametrize("name", STORED["tasks"])
def test_stored_numbers_come_from_enough_trials_and_keep_their_order(name):
    stored = baselines(name)
    assert stored.task == name
    long = name.startswith("Labyrinth")
    for estimate in stored.blind.values():
        assert estimate.n_trials >= (2_500 if long else 10_000)
        assert 0 <= estimate.standard_error < (0.015 if long else 0.01)
        assert estimate.mean <= stored.best.value
    assert stored.best.argument
    if stored.first_trial:
        assert stored.first_trial.value <= stored.best.value
    assert stored.best_episode() >= stored.oracle() > 16 * stored.best_blind[1].mean
    for player in stored.reward_only.values():
        assert player.episode() <= stored.best_episode()
        assert player.argument


def test_every_task_and_level_has_numbers():
    names = {
        f.make(level).name for f in REGISTRY.values() for level in f.levels or ("",)
    }
    popgym = {
        f"popgym-RepeatPrevious{level}-v0" for level in ("Easy", "Medium", "Hard")
    }
    assert set(STORED["tasks"]) == names | popgym


def test_the_docs_show_the_stored_chance():
    text = (Path(__file__).parents[2] / "docs/tasks.md").read_text(encoding="utf-8")
    table = text.partition("| task | chance |")[2]
    shown = dict(re.findall(r"^\| `(\w+)` \| (-?0\.\d{3}) \|", table, re.MULTILINE))
    assert len(shown) >= 8
    for name, chance in shown.items():
        assert f"{baselines(name).chance.mean:.3f}" == chance, name


def test_every_task_of_the_paper_has_all_numbers():
    for name in (
        "StatelessCartPole",
        "HigherLower",
        "Minesweeper",
        "RepeatFirst",
        "RepeatPrevious",
    ):
        stored = baselines(name)
        assert stored.reward_only
        assert stored.random_map
        assert stored.first_trial


def test_the_best_blind_row_of_cartpole_earns_more_than_alternation():
    stored = baselines("StatelessCartPole")
    name, best = stored.best_blind
    assert name.startswith("left right right left")
    assert 16 * best.mean == pytest.approx(3.30, abs=0.03)
    turns = stored.blind["left and right in turn"]
    assert 16 * turns.mean == pytest.approx(3.0, abs=0.05)
    assert 16 * stored.chance.mean == pytest.approx(1.77, abs=0.04)
    assert stored.headroom() == pytest.approx(16 - 16 * best.mean)


def test_players_who_never_look_earn_what_the_study_says():
    assert baselines("RepeatFirst").best_reward_only[1].episode() == pytest.approx(
        16 - 1.5 * 2 / 51
    )
    turn = baselines("HigherLower").best_reward_only[1]
    assert turn.episode() == pytest.approx(5.43, abs=0.03)
    every = baselines("HigherLower").reward_only["remember every answer"]
    assert every.episode() == pytest.approx(turn.episode(1) + 15 * 12 / 13)
    assert baselines("RepeatPrevious").best_reward_only is None


def test_random_maps_have_the_spread_of_luck():
    assert baselines("HigherLower").random_map.std == pytest.approx(0.16, abs=0.005)
    first = baselines("RepeatFirst").random_map
    assert (first.mean, first.std) == (-0.5, pytest.approx(math.sqrt(3) / 4))


def test_the_ceilings_of_the_papers_tasks():
    best = {name: baselines(name).best.value for name in STORED["tasks"]}
    assert best["StatelessCartPole"] == best["RepeatFirst"] == best["Minesweeper"] == 1
    assert best["HigherLower"] == pytest.approx(12 / 13)
    assert best["RepeatPrevious"] == pytest.approx(47 / 48)
    assert 0.9 < best["StatelessPendulum"] < 0.93
    kinds = {name: baselines(name).best.kind for name in best}
    assert kinds["StatelessCartPole"] == "exact"
    assert kinds["StatelessPendulum"] == "estimate"
    assert kinds["NoisyStatelessCartPole"] == "bound"


def test_the_best_episode_starts_with_a_first_trial():
    stored = baselines("HigherLower")
    first = stored.first_trial.value
    assert stored.best_episode() == pytest.approx(first + 15 * 12 / 13)
    assert stored.best_episode(1) == pytest.approx(first)
    assert stored.best_episode(16, same_start=False) == pytest.approx(16 * first)
    assert stored.oracle() == stored.best_episode()
    noisy = baselines("NoisyStatelessCartPole")
    assert noisy.best_episode() == 16, "a bound"
    assert noisy.oracle() == pytest.approx(16 * noisy.first_trial.value)


def test_the_luckiest_of_equal_policies_is_not_called_best():
    blind = {
        "uniform": Estimate(0.0, 0.01, 100),
        "always a": Estimate(0.03, 0.01, 100),
    }
    best = Ceiling(1.0, "exact", "why")
    assert Baselines("x", blind, best, None).best_blind[0] == "uniform"
    blind["always a"] = Estimate(0.07, 0.01, 100)
    assert Baselines("x", blind, best, None).best_blind[0] == "always a"


def test_trials_of_one_start_share_what_the_start_decides():
    row = Estimate(0.0, 0.1, 100, start_std=1.0)  # a row of actions: all of it
    assert row.episode_std(16) == 16
    assert row.episode_std(16, same_start=False) == 4
    assert Estimate(0.0, 0.1, 100).episode_std(16) == 4


def test_a_reward_only_player_repeats_its_last_trial():
    player = RewardOnly((-1.0, 0.5), "little", "exact", "why")
    assert [player.episode(n) for n in (1, 2, 4)] == [-1.0, -0.5, 0.5]


def test_chance_in_repeat_first_is_that_of_constants_and_of_maps():
    found = baselines("RepeatFirst").chance_policies()
    mean, within, between = found["always clubs"]
    assert mean == pytest.approx(-8, abs=0.3)
    assert within == pytest.approx(16 * math.sqrt(3) / 2, rel=0.02)
    assert between == 0
    assert found["random lookup"] == pytest.approx((-8, 12, 4 * math.sqrt(3)))
    assert found["uniform"][1] == pytest.approx(0.485, abs=0.02)


def test_other_names_lead_to_the_same_numbers():
    assert baselines("popgym-HigherLowerHard-v0") is baselines("HigherLowerHard")
    assert baselines("HigherLowerEasy") is baselines("HigherLower")


def test_popgyms_repeat_previous_has_numbers_of_its_own():
    assert baselines("popgym-RepeatPreviousEasy-v0").best.value == 1
    assert baselines("RepeatPreviousEasy").best.value == pytest.approx(47 / 48)


def test_tasks_without_numbers_have_none():
    register("Bigger", lambda: HigherLower(n_decks=5))
    try:
        assert baselines("Bigger") is None
    finally:
        del REGISTRY["Bigger"]
    assert baselines("HigherLower+RepeatFirst") is None
    assert baselines("my_package:Task") is None


def test_the_file_names_the_command_that_made_it():
    assert STORED["command"].startswith("python tools/make_baselines.py --trials ")
