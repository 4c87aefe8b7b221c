"""Laws of many environments at once: as one by one, in every autoreset mode."""

import gymnasium as gym
import jax
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from freeproj.adapters.gymnasium import (
    MetaTaskEnv,
    MetaTaskVectorEnv,
    TaskEnv,
    TaskVectorEnv,
)
from freeproj.envs import HigherLower

META = {"n_words": 4, "length": 2, "dim": 16, "n_trials": 2}
MODES = list(AutoresetMode)


def pair(kind, mode, n=3):
    """Returns our vector environment and Gymnasium's loop over single ones."""
    if kind == "task":
        ours = TaskVectorEnv("Minesweeper", n, autoreset_mode=mode)
        singles = [lambda: TaskEnv("Minesweeper")] * n
    else:
        ours = MetaTaskVectorEnv("Minesweeper", n, autoreset_mode=mode, **META)
        singles = [lambda: MetaTaskEnv("Minesweeper", **META)] * n
    return ours, SyncVectorEnv(singles, autoreset_mode=mode)


def assert_infos_equal(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        if name == "final_info":
            masked_equal(value, theirs[name])
        elif name == "final_obs":
            for a, b in zip(value, theirs[name], strict=True):
                assert (a is None) == (b is None)
                assert a is None or np.allclose(a, b, atol=1e-6)
        else:
            np.testing.assert_array_equal(value, theirs[name])


def masked_equal(ours, theirs):
    for name in theirs:
        mask = theirs[name if name.startswith("_") else f"_{name}"]
        np.testing.assert_array_equal(ours[name][mask], theirs[name][mask])


@pytest.mark.parametrize("kind", ["task", "meta"])
@pytest.mark.parametrize("mode", MODES)
def test_many_at_once_play_what_single_ones_play(kind, mode):
    ours, theirs = pair(kind, mode)
    for envs in (ours, theirs):
        envs.action_space.seed(0)
    got, expected = ours.reset(seed=10), theirs.reset(seed=10)
    np.testing.assert_allclose(got[0], expected[0], atol=1e-6)
    n_ends = 0
    for _ in range(40):
        actions = ours.action_space.sample()
        left, right = ours.step(actions), theirs.step(actions)
        for a, b in zip(left[:4], right[:4], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6)
            assert a.dtype == b.dtype
        assert_infos_equal(left[4], right[4])
        over = left[2] | left[3]
        n_ends += over.sum()
        if mode is AutoresetMode.DISABLED and over.any():
            again = [e.reset(options={"reset_mask": over}) for e in (ours, theirs)]
            np.testing.assert_allclose(again[0][0], again[1][0], atol=1e-6)
    assert n_ends > 2


def test_ended_environments_must_be_reset_when_nobody_else_does():
    ours, _ = pair("task", AutoresetMode.DISABLED)
    ours.reset(seed=0)
    over = np.zeros(3, bool)
    while not over.any():
        _, _, terminated, truncated, _ = ours.step(np.zeros(3, int))
        over = terminated | truncated
    with pytest.raises(ValueError, match="reset_mask"):
        ours.step(np.zeros(3, int))


def test_make_vec_finds_the_fast_version():
    envs = gym.make_vec("freeproj/HigherLower-v0", num_envs=5)
    assert isinstance(envs.unwrapped, TaskVectorEnv)
    obs, _ = envs.reset(seed=0)
    assert obs.shape == (5, 13)
    assert envs.observation_space.contains(obs)
    assert len({tuple(row) for row in obs}) > 1


def test_seeds_may_be_a_list_and_a_part_may_be_seeded_anew():
    ours, theirs = pair("task", AutoresetMode.NEXT_STEP)
    for envs in (ours, theirs):
        envs.reset(seed=[7, 8, 9])
    actions = np.array([3, 4, 5])
    mask = np.array([True, False, False])
    for envs in (ours, theirs):
        envs.step(actions)
        envs.reset(seed=[1, 2, 3], options={"reset_mask": mask})
    for _ in range(3):
        left, right = ours.step(actions), theirs.step(actions)
        np.testing.assert_array_equal(left[0], right[0])
    with pytest.raises(ValueError, match="3 of them"):
        ours.reset(seed=[1, 2])


def test_new_bases_reach_every_sub_environment():
    envs = MetaTaskVectorEnv("RepeatFirst", 3, **META)
    before, _ = envs.reset(seed=0)
    envs.redraw_bases(seed=1)
    after, _ = envs.reset(seed=0)
    assert (np.abs(before - after).max(axis=1) > 0.01).all()


def test_a_way_of_drawing_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="render_mode"):
        TaskVectorEnv("HigherLower", 2, render_mode="human")


def test_text_is_drawn_for_each():
    envs = TaskVectorEnv("HigherLower", 2, render_mode="ansi")
    envs.reset(seed=0)
    assert len(envs.render()) == 2
    assert "of 52" in envs.render()[0]


def test_actions_out_of_range_are_refused_and_not_clamped():
    envs = TaskVectorEnv("Minesweeper", 2)
    envs.reset(seed=0)
    for wrong in ([0, 16], [0, -1], [0], [0.0, 1.0]):
        with pytest.raises(ValueError, match=r"0\.\.15, of shape \(2,\)"):
            envs.step(np.array(wrong))


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("kind", ["vector", "vector of trials", "single", "own"])
def test_nothing_is_compiled_after_the_first_reset(kind, mode, caplog):
    board, settings = "Minesweeper(side=5, n_mines=4)", META | {"dim": 17}
    env = {
        "vector": lambda: TaskVectorEnv(board, 7, mode),
        "vector of trials": lambda: MetaTaskVectorEnv(
            "StatelessPendulum(time_limit=9)", 7, autoreset_mode=mode, **settings
        ),
        "single": lambda: MetaTaskEnv(board, **settings),
        "own": lambda: TaskEnv(Odd()),
    }[kind]()
    env.reset(seed=0)
    n_ends = 0
    with jax.log_compiles():
        for _ in range(60):
            _, _, *ends, _ = env.step(env.action_space.sample())
            n_ends += (ended := np.any(ends))
            if ended and kind in ("single", "own"):
                env.reset()
    assert n_ends > 0
    assert not [each for each in caplog.messages if "compil" in each]


class Odd(HigherLower):
    """A task without a plain step."""
