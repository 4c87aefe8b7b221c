"""Laws of episodes of trials around any environment."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from freeproj import FreeProjection
from freeproj.adapters.gymnasium import (
    ProjectObservation,
    TrialsWrapper,
)


def play(env, n_episodes, seed):
    """Returns, per episode, the first observations of its trials."""
    starts = []
    for episode in range(n_episodes):
        obs, info = env.reset(seed=seed if episode == 0 else None)
        starts.append([obs])
        over = False
        while not over:
            obs, _, over, truncated, info = env.step(0)
            assert not truncated
            if info["trial_ended"] and not over:
                starts[-1].append(obs)
        assert info["trial"] == env.get_wrapper_attr("n_trials")
    return starts


def test_trials_start_alike_within_an_episode_and_differ_between():
    starts = play(TrialsWrapper(gym.make("CartPole-v1"), 4), 3, seed=0)
    for trials in starts:
        assert len(trials) == 4
        assert all((start == trials[0]).all() for start in trials)
    assert not np.array_equal(starts[0][0], starts[1][0])
    again = play(TrialsWrapper(gym.make("CartPole-v1"), 4), 3, seed=0)
    np.testing.assert_array_equal(starts, again)


def test_the_last_observation_of_a_trial_is_kept():
    env, plain = TrialsWrapper(gym.make("CartPole-v1"), 2), gym.make("CartPole-v1")
    env.reset(seed=0)
    plain.reset(seed=0)
    ended = False
    while not ended:
        last, _, ended, _, _ = plain.step(1)
        _, _, over, _, info = env.step(1)
    assert not over
    np.testing.assert_array_equal(info["final_obs"], last)


def test_a_time_limit_ends_a_trial_and_not_the_episode():
    env = TrialsWrapper(gym.make("MountainCar-v0", max_episode_steps=3), 2)
    env.reset(seed=0)
    ends = [env.step(0)[2:4] for _ in range(6)]
    assert ends == [(False, False)] * 5 + [(True, False)]


def test_a_word_lasts_for_all_trials_of_an_episode():
    law = FreeProjection(4, 2, dim=8)
    env = ProjectObservation(TrialsWrapper(gym.make("CartPole-v1"), 3), law, seed=0)
    starts = play(env, 2, seed=0)
    for trials in starts:
        np.testing.assert_array_equal(trials, [trials[0]] * 3)


def test_the_checker_is_silent():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*different from the unwrapped.*")
        check_env(
            TrialsWrapper(gym.make("Acrobot-v1"), 2), skip_render_check=True
        )  # drawing needs pygame


def test_there_is_at_least_one_trial():
    with pytest.raises(ValueError, match="n_trials"):
        TrialsWrapper(gym.make("CartPole-v1"), 0)
