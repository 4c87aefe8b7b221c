"""Laws of action maps around Gymnasium's environments."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from freeproj.adapters.gymnasium import MapAction


def test_every_own_action_hides_behind_exactly_one_common_one():
    env = MapAction(gym.make("Acrobot-v1"), 7, seed=0)
    seen = set()
    for _ in range(20):
        _, info = env.reset()
        mask = info["action_mask"]
        np.testing.assert_array_equal(mask, env.action_masks())
        assert sorted(env.action(c) for c in np.flatnonzero(mask)) == [0, 1, 2]
        assert {env.action(c) for c in np.flatnonzero(~mask)} == {0}
        seen.add(tuple(mask))
    assert len(seen) > 5
    assert env.action_space == gym.spaces.Discrete(7)


def test_the_map_stays_within_an_episode_and_within_trials():
    env = MapAction(gym.make("Acrobot-v1"), 7, seed=0, n_trials=2)
    masks = []
    for _ in range(10):
        _, info = env.reset()
        masks.append(info["action_mask"])
        np.testing.assert_array_equal(env.step(0)[4]["action_mask"], masks[-1])
    for first, second in zip(masks[::2], masks[1::2], strict=True):
        np.testing.assert_array_equal(first, second)
    assert any((masks[0] != mask).any() for mask in masks)


def test_continuous_actions_are_turned_and_clipped():
    env = MapAction(gym.make("Pendulum-v1"), 3, seed=0)
    env.reset(seed=0)
    assert env.action_space.shape == (3,)
    basis = np.stack([env.action(e) for e in 0.5 * np.eye(3, dtype=np.float32)])
    assert np.linalg.norm(basis) == pytest.approx(0.5, rel=1e-5)
    row = basis[:, 0] / 0.5
    np.testing.assert_allclose(env.action(10 * row), [2.0])


def test_a_seed_repeats_the_maps():
    maps = []
    for _ in range(2):
        env = MapAction(gym.make("Acrobot-v1"), 9, seed=1)
        env.reset(seed=5)
        maps.append([env.reset()[1]["action_mask"] for _ in range(4)])
    np.testing.assert_array_equal(*maps)


def test_too_few_common_actions_and_unbounded_ones_are_refused():
    with pytest.raises(ValueError, match=r"3 actions .* `n_common` = 2"):
        MapAction(gym.make("Acrobot-v1"), 2)


def test_the_checker_is_silent():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*different from the unwrapped.*")
        check_env(
            MapAction(gym.make("Acrobot-v1"), 5, seed=0), skip_render_check=True
        )  # drawing needs pygame
