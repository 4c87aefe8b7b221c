"""Laws of action maps around Gymnasium's environments."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from freeproj.adapters.gymnasium import ActionsByUse, MapAction


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


def test_no_relabelling_changes_what_an_agent_earns_by_use():
    """An agent that keeps to one action learns which one it is only by luck."""

    def episodes(relabelled):
        env = gym.make("CartPole-v1")
        env = MapAction(env, seed=3) if relabelled else env
        env, taken = ActionsByUse(env, seed=0), []
        for _ in range(400):
            env.reset()
            taken.append(
                int(env.env.action(env.action(0)) if relabelled else env.action(0))
            )
        return np.mean(taken)

    # Four standard errors of 400 fair coins.
    assert abs(episodes(False) - 0.5) < 0.1
    assert abs(episodes(True) - 0.5) < 0.1


def test_the_mask_allows_what_was_used_and_one_new_action():
    env = ActionsByUse(gym.make("Acrobot-v1"), 5, seed=0)
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [True, False, False, False, False]
    used = []
    for place, allowed in ((0, 2), (0, 2), (1, 3), (2, 3)):
        info = env.step(place)[4]
        used.append(env.action(place))
        assert info["action_mask"].tolist() == [True] * allowed + [False] * (
            5 - allowed
        )
    assert used[0] == used[1]
    assert sorted(used[1:]) == [0, 1, 2]
    _, info = env.reset()
    assert info["action_mask"].tolist() == [True] + [False] * 4


def test_the_order_of_use_lasts_for_the_trials_of_a_word():
    env = ActionsByUse(gym.make("Acrobot-v1"), seed=0, n_trials=2)
    env.reset(seed=0)
    first = [env.action(place) for place in range(3)]
    _, info = env.reset()
    assert info["action_mask"].all()
    assert [env.action(place) for place in range(3)] == first
    assert env.reset()[1]["action_mask"].sum() == 1


def test_continuous_actions_have_no_use():
    with pytest.raises(ValueError, match="Discrete"):
        ActionsByUse(gym.make("Pendulum-v1"))
