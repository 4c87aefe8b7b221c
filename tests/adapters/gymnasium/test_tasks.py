"""Laws of tasks and meta-environment in Gymnasium's interface."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

import freeproj
from freeproj.adapters.gymnasium import (
    MetaTaskEnv,
    TaskEnv,
    register_all,
    task_ids,
)
from freeproj.envs import REGISTRY, HigherLower, make, register
from freeproj.projection.families import FAMILIES

SOURCE = Path(freeproj.__file__).parents[1]
META = {"n_words": 4, "length": 2, "dim": 16, "n_trials": 2}


class OddGame(HigherLower):
    """A game with a rule of its own."""

    def score(self, state, action):
        return jnp.float32(5.0)


def roll(env, n_steps, seed):
    """Plays at random; returns everything seen."""
    env.action_space.seed(seed)
    seen = [env.reset(seed=seed)[0]]
    for _ in range(n_steps):
        obs, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        seen += [obs, reward, terminated, truncated]
        if terminated or truncated:
            seen.append(env.reset()[0])
    return seen


def assert_same(left, right):
    for a, b in zip(left, right, strict=True):
        np.testing.assert_array_equal(a, b)


def test_every_name_of_the_registry_has_its_id():
    for name in ("Battleship", "BattleshipHard", "popgym-RepeatPreviousEasy"):
        assert f"freeproj/{name}-v0" in task_ids()
    # Families of other tests may have been added after registering.
    families = [each for each in REGISTRY.values() if each.popgym_name]
    assert len(families) == 16
    for family in families:
        for level in ("", *family.levels):
            spec = gym.spec(f"freeproj/{family.name}{level}-v0")
            assert make(spec.kwargs["task"]) == family.make(level)
            spec = gym.spec(f"freeproj/popgym-{family.popgym_name}{level}-v0")
            assert make(spec.kwargs["task"]) == family.make_popgym(level)


def test_a_task_of_ones_own_gets_its_id_when_asked():
    register("OddGame", OddGame)
    try:
        register_all()
        assert gym.make("freeproj/OddGame-v0").unwrapped.game == OddGame()
    finally:
        del REGISTRY["OddGame"], gym.registry["freeproj/OddGame-v0"]


@pytest.mark.parametrize("family", [*REGISTRY, "MetaEnv"])
def test_the_checker_of_gymnasium_is_silent(family):
    with warnings.catch_warnings():
        if family == "VelocityOnlyCartPole":  # without bounds, as in POPGym
            warnings.filterwarnings("ignore", ".*infinity.*")
        check_env(gym.make(f"freeproj/{family}-v0").unwrapped)


@pytest.mark.parametrize(
    ("tasks", "extra"),
    [
        (["RepeatFirst", "Minesweeper"], {"action_map": "random"}),
        ("StatelessPendulum", {"evaluation_map": "tile"}),
    ],
)
def test_the_checker_is_silent_for_other_meta_environments(tasks, extra):
    settings = META | {"tasks": tasks, "normalize_observations": True} | extra
    check_env(gym.make("freeproj/MetaEnv-v0", **settings).unwrapped)


@pytest.mark.parametrize("name", [*REGISTRY])
def test_whatever_is_seen_lies_in_the_space(name):
    env = TaskEnv(name)
    env.action_space.seed(0)
    env.reset(seed=0)
    for _ in range(60):
        obs, *_, over, late, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(obs)
        if over or late:
            env.reset()


@pytest.mark.parametrize("family", FAMILIES)
def test_whatever_is_seen_through_a_family_lies_in_the_space(family):
    """Isometries bound what is seen; Gaussian matrices bound nothing."""
    env = MetaTaskEnv("StatelessPendulum", family=family, **META)
    reach = env.observation_space.high[:16]
    assert np.isfinite(reach).all() == (family != "gaussian")
    for seed in range(20):
        seen = [each for each in roll(env, 5, seed) if np.shape(each)]
        assert len(seen) >= 6
        assert all(map(env.observation_space.contains, seen))


def test_a_trial_is_the_tasks_own():
    env, task = TaskEnv("HigherLower"), make("HigherLower")
    obs, _ = env.reset(seed=5)
    state = jax.tree.map(jnp.asarray, env.get_state()["_state"])
    np.testing.assert_array_equal(obs, task.observe(state))
    for step in range(1, 52):
        obs, reward, terminated, truncated, _ = env.step(0)
        expected, state, earned, *_ = task.step(jax.random.key(0), state, 0, None)
        np.testing.assert_array_equal(obs, expected)
        assert reward == pytest.approx(float(earned))
        assert (terminated, truncated) == (step == 51, False)


def test_a_task_object_of_ones_own_is_accepted():
    assert TaskEnv(HigherLower(n_decks=2)).game.n_cards == 104


@pytest.mark.parametrize(
    "make_env",
    [
        lambda: TaskEnv("NoisyStatelessPendulum"),
        lambda: MetaTaskEnv("Minesweeper", **META),
    ],
)
def test_a_seed_fixes_all_and_seeds_differ(make_env):
    first = roll(make_env(), 30, seed=3)
    assert_same(first, roll(make_env(), 30, seed=3))
    other = make_env().reset(seed=4)[0], make_env().reset(seed=3)[0]
    assert np.any(other[0] != other[1])


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_a_copy_goes_on_by_itself_in_the_same_way(duplicate):
    env = MetaTaskEnv("Minesweeper", **META)
    roll(env, 7, seed=1)
    twin = duplicate(env)
    for action in range(5):
        assert_same(env.step(action)[:4], twin.step(action)[:4])


def test_ends_of_the_action_range_are_ends_of_the_torque():
    env = TaskEnv("StatelessPendulum")
    for action, torque in ((1.0, 2.0), (-1.0, -2.0), (0.25, 0.5)):
        env.reset(seed=0)
        state = jax.tree.map(jnp.asarray, env.get_state()["_state"])
        obs, *_ = env.step(np.array([action], np.float32))
        expected, *_ = env.game.step(
            jax.random.key(0), state, np.array([torque]), env.game.default_params
        )
        np.testing.assert_allclose(obs, expected, atol=1e-6)


def test_actions_beyond_the_range_are_clipped_in_any_float_type():
    seen = []
    for action in (np.array([1.0], np.float32), np.array([7.5]), [1.0]):
        env = TaskEnv("StatelessPendulum")
        env.reset(seed=0)
        seen.append(env.step(action)[0])
    np.testing.assert_array_equal(seen[0], seen[1])
    np.testing.assert_array_equal(seen[0], seen[2])


def test_an_episode_tells_word_trial_and_mask():
    settings = META | {"tasks": ["RepeatFirst", "HigherLower"]}
    env = gym.make("freeproj/MetaEnv-v0", **settings)
    _, info = env.reset(seed=0)
    words, tasks = [info["word"]], {info["task"]}
    assert info["action_mask"].sum() == (4, 2)[info["task"]]
    trials = []
    for _ in range(102):
        *_, terminated, _, info = env.step(0)
        trials.append(info["trial"])
        words.append(info["word"])
    assert terminated
    assert trials == [0] * 50 + [1] * 51 + [2]
    assert all((word == words[0]).all() for word in words)
    tasks |= {env.reset()[1]["task"] for _ in range(20)}
    assert tasks == {0, 1}


def test_new_bases_show_from_the_next_episode_on():
    env = MetaTaskEnv("RepeatFirst", **META)
    before, _ = env.reset(seed=0)
    env.redraw_bases(seed=99)
    after, _ = env.reset(seed=0)
    assert np.abs(before - after).max() > 0.01
    again = MetaTaskEnv("RepeatFirst", bases_seed=99, **META).reset(seed=0)[0]
    np.testing.assert_array_equal(after, again)


def test_text_is_drawn_when_asked_for():
    env = gym.make("freeproj/HigherLower-v0", render_mode="ansi")
    env.reset(seed=0)
    assert "card 1 of 52" in env.render()
    meta = MetaTaskEnv("HigherLower", render_mode="ansi", **META)
    meta.reset(seed=0)
    assert meta.render().startswith("trial 1 of 2\n")


@pytest.mark.parametrize("name", [*REGISTRY])
def test_a_picture_is_drawn_when_asked_for(name):
    env = TaskEnv(name, render_mode="rgb_array")
    env.reset(seed=0)
    env.action_space.seed(0)
    pictures = [env.render()]
    for _ in range(6):
        env.step(env.action_space.sample())
        pictures.append(env.render())
    assert {picture.shape for picture in pictures} == {(240, 320, 3)}
    assert pictures[0].dtype == np.uint8
    assert any((pictures[0] != later).any() for later in pictures[1:])


def test_the_picture_of_an_episode_tells_the_trial():
    meta = MetaTaskEnv("HigherLower", render_mode="rgb_array", **META)
    meta.reset(seed=0)
    first = meta.render()
    for _ in range(51):
        meta.step(0)
    assert (first != meta.render()).any()


@pytest.mark.parametrize(
    ("env_id", "settings"),
    [
        ("MinesweeperHard", {"render_mode": "ansi"}),
        ("popgym-RepeatPreviousEasy", {}),
        ("MetaEnv", META | {"tasks": ["HigherLower", "RepeatFirst"]}),
    ],
)
def test_specs_survive_json(env_id, settings):
    env = gym.make(f"freeproj/{env_id}-v0", **settings)
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.spec == env.spec
    assert again.unwrapped.game == env.unwrapped.game
    np.testing.assert_array_equal(env.reset(seed=1)[0], again.reset(seed=1)[0])


@pytest.mark.parametrize(
    "make_env",
    [
        lambda: TaskEnv("Battleship"),
        lambda: TaskEnv("MultiarmedBandit"),
        lambda: TaskEnv(OddGame()),
        lambda: MetaTaskEnv("Minesweeper", **META),
    ],
)
def test_a_kept_state_is_gone_on_from_as_often_as_wanted(make_env):
    env, twin = make_env(), make_env()
    roll(env, 5, seed=2)
    kept = env.get_state()
    first = [env.step(0)[:4] for _ in range(3)]
    for other in (env, twin):
        other.reset(seed=9)
        other.set_state(kept)
        for before, after in zip(
            first, [other.step(0)[:4] for _ in range(3)], strict=True
        ):
            assert_same(before, after)
    with pytest.raises(ValueError, match="get_state"):
        env.set_state({})


def test_steps_past_the_end_are_those_of_the_task():
    env = TaskEnv("Minesweeper")
    env.reset(seed=0)
    while not any(env.step(env.np_random.integers(16))[2:4]):
        pass
    _, reward, *ends, _ = env.step(3)
    assert reward == 0
    assert any(ends)
    assert env.reset()[0].tolist() == [1, 0, 0]


def test_a_task_of_ones_own_is_stepped_by_its_own_rules():
    env = TaskEnv(OddGame())
    env.reset(seed=0)
    assert [env.step(0)[1] for _ in range(3)] == [5.0] * 3


def test_masks_are_those_of_the_actions_that_mean_something():
    assert TaskEnv("Minesweeper").action_masks().tolist() == [True] * 16
    meta = MetaTaskEnv(["HigherLower", "Minesweeper"], **META)
    _, info = meta.reset(seed=0)
    np.testing.assert_array_equal(meta.action_masks(), info["action_mask"])
    with pytest.raises(TypeError, match="discrete"):
        TaskEnv("StatelessPendulum").action_masks()


def test_an_id_with_its_module_needs_no_import():
    code = "import gymnasium as gym; "
    code += "env = gym.make('freeproj.gymnasium:freeproj/BattleshipHard-v0'); "
    code += "print(env.reset(seed=0)[0].shape)"
    assert printed_by(code) == "(2,)"


def test_nothing_is_registered_or_imported_before_it_is_asked_for():
    """The environment may still hold the start-up hook of an older version."""
    code = "import gymnasium as gym, sys; "
    code += "print(any(i.startswith('freeproj/') for i in gym.registry)); "
    code += "import freeproj.gymnasium; gym.register_envs(freeproj.gymnasium); "
    code += "print('freeproj/MetaEnv-v0' in gym.registry)"
    assert printed_by(code).split() == ["False", "True"]


def printed_by(code):
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )
    return run.stdout.strip()


def test_errors_say_what_to_do():
    with pytest.raises(RuntimeError, match="reset"):
        TaskEnv("HigherLower").step(0)
    with pytest.raises(ValueError, match="render_mode"):
        TaskEnv("HigherLower", render_mode="human")
    env = TaskEnv("HigherLower")
    env.reset(seed=0)
    for wrong in (2, -1, 0.5, [0]):
        with pytest.raises(ValueError, match=r"integers in 0\.\.1"):
            env.step(wrong)
    swing = TaskEnv("StatelessPendulum")
    swing.reset(seed=0)
    for wrong in (0.5, [0.1, 0.2], [np.nan]):
        with pytest.raises(ValueError, match=r"shape \(1,\)"):
            swing.step(wrong)
