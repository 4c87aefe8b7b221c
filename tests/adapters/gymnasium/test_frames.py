"""Frames around Gymnasium's environments: no projection changes what they show."""

import copy
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import freeproj.gymnasium  # noqa: F401
from freeproj import FreeProjection
from freeproj.adapters.gymnasium import (
    FrameObservation,
    FrameVectorObservation,
    MetaTaskEnv,
    ProjectObservation,
    ProjectVectorObservation,
    TrialsWrapper,
)

LAW = FreeProjection.with_words(256, 4, dim=32)


def play(env, n_steps=300, seed=0):
    """Random play, from one reset to the next; returns everything seen."""
    rng, seen = np.random.default_rng(seed), [env.reset(seed=seed)[0]]
    for _ in range(n_steps):
        observation, _, *ends, _ = env.step(int(rng.integers(env.action_space.n)))
        seen.append(observation)
        if any(ends):
            seen.append(env.reset()[0])
    return np.stack(seen)


def projected(seed, law=LAW, **settings):
    return ProjectObservation(gym.make("CartPole-v1"), law, seed=seed, **settings)


@pytest.mark.parametrize(
    "law",
    [
        LAW,
        FreeProjection(1, 1, 4),
        FreeProjection(4, 4, 128, family="qr"),
        FreeProjection(4, 4, 16, family="permutation"),
        FreeProjection(2, 2, 16, inverses=True),
    ],
)
def test_no_projection_changes_what_a_frame_shows(law):
    plain = play(FrameObservation(gym.make("CartPole-v1")))
    assert plain.shape[1] == 5
    for seed in range(2):
        seen = play(FrameObservation(projected(seed, law)))
        np.testing.assert_allclose(seen, law.scale * plain, atol=1e-5)


def test_a_wrapper_between_costs_no_more_than_rounding():
    def cut(seed):
        env = projected(seed)
        return gym.wrappers.TransformObservation(env, np.copy, env.observation_space)

    seen = [play(FrameObservation(cut(seed))) for seed in (0, 1)]
    np.testing.assert_allclose(*seen, atol=1e-4)
    assert seen[0].shape[1] == 5


def test_the_checker_of_gymnasium_is_silent():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*different from the unwrapped.*")
        for env in (
            ProjectObservation(gym.make("Acrobot-v1"), LAW),
            gym.make("freeproj/HigherLower-v0"),
        ):
            check_env(FrameObservation(env), skip_render_check=True)


def test_bounds_are_those_of_the_norm():
    plain = FrameObservation(gym.make("freeproj/RepeatFirst-v0"))
    assert plain.observation_space.high[0] == pytest.approx(2.0, rel=1e-4)
    tasks = gym.make("freeproj/RepeatFirst-v0")
    behind = FrameObservation(ProjectObservation(tasks, LAW))
    assert behind.observation_space.high[0] == pytest.approx(2 * LAW.scale, rel=1e-4)
    assert behind.observation_space.low[-1] == 0


def test_an_episode_starts_with_an_empty_frame_and_trials_share_one():
    env = FrameObservation(projected(0, n_trials=3))
    first = [env.reset(seed=3 if k == 0 else None)[0] for k in range(6)]
    # The first observation of an empty frame has one positive coordinate.
    alone = [bool(np.all(seen[1:4] == 0) and seen[0] > 0) for seen in first]
    assert alone == [True, False, False, True, False, False]
    every = FrameObservation(projected(0, n_trials=3), n_trials=1)
    assert all(every.reset()[0][1] == 0 for _ in range(3))


def test_trials_of_one_episode_share_its_frame():
    env = TrialsWrapper(gym.make("CartPole-v1"), 2)
    env = FrameObservation(ProjectObservation(env, LAW, seed=0))
    first = env.reset(seed=0)[0]
    ended = False
    while not ended:
        again, *_, info = env.step(0)
        ended = info["trial_ended"]
    np.testing.assert_allclose(again, first, atol=1e-6)
    assert env.frames.frame.n_known[0] > 1


def test_a_frame_must_not_outlast_its_word():
    with pytest.raises(ValueError, match="outlast"):
        FrameObservation(projected(0, n_trials=2), n_trials=3)


@pytest.mark.parametrize(
    ("wrong", "named"), [({"size": 0}, "size"), ({"threshold": -1.0}, "threshold")]
)
def test_wrong_settings_are_named(wrong, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        FrameObservation(gym.make("CartPole-v1"), **wrong)


def test_directions_below_the_threshold_are_left_over():
    env = FrameObservation(gym.make("CartPole-v1"), threshold=100.0)
    seen = play(env, 20)
    assert not seen[:, :4].any()
    assert (seen[:, 4] > 0).all()


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("n_trials", [1, 2])
def test_a_vector_shows_what_single_environments_show(mode, n_trials):
    def single():
        return FrameObservation(projected(5, n_trials=n_trials))

    envs = gym.make_vec(
        "CartPole-v1", 2, "sync", vector_kwargs={"autoreset_mode": mode}
    )
    envs = ProjectVectorObservation(envs, LAW, seed=5, n_trials=n_trials)
    envs = FrameVectorObservation(envs)
    seen, _ = envs.reset(seed=7)
    ones = [single() for _ in range(2)]
    expected = [env.reset(seed=7 + i)[0] for i, env in enumerate(ones)]
    rng, over = np.random.default_rng(0), [False, False]
    for _ in range(80):
        np.testing.assert_allclose(seen, np.stack(expected), atol=2e-5)
        if mode is AutoresetMode.DISABLED and any(over):
            seen, _ = envs.reset(options={"reset_mask": np.array(over)})
            expected = [
                env.reset()[0] if ended else last
                for env, ended, last in zip(ones, over, expected, strict=True)
            ]
            over = [False, False]
            continue
        actions = rng.integers(2, size=2)
        seen, *_, info = envs.step(actions)
        for i, env in enumerate(ones):
            if over[i] and mode is AutoresetMode.NEXT_STEP:
                expected[i], over[i] = env.reset()[0], False
                continue
            expected[i], _, *ends, _ = env.step(int(actions[i]))
            over[i] = any(ends)
            if over[i] and mode is AutoresetMode.SAME_STEP:
                last = info["final_obs"][i]
                np.testing.assert_allclose(last, expected[i], atol=2e-5)
                expected[i], over[i] = env.reset()[0], False


def test_a_copy_goes_its_own_way():
    env = FrameObservation(projected(0))
    env.reset(seed=0)
    other = copy.deepcopy(env)
    seen = [each.step(1)[0] for each in (env, other)]
    np.testing.assert_array_equal(*seen)
    env.step(0)
    assert env.frames.source is env.env.words
    assert other.frames.source is other.env.words


@pytest.mark.parametrize("settings", [{}, {"evaluation_map": "tile"}])
def test_the_meta_environment_takes_a_frame(settings):
    settings = {
        "tasks": ["RepeatFirst", "HigherLower"],
        "n_words": 4,
        "length": 2,
    } | settings
    settings |= {"dim": 16, "n_trials": 2, "encoder": "frame"}
    env = gym.make("freeproj/MetaEnv-v0", **settings).unwrapped
    assert isinstance(env, MetaTaskEnv)
    check_env(env, skip_render_check=True)
    env.action_space.seed(0)
    observation, _ = env.reset(seed=0)
    for _ in range(200):
        assert observation in env.observation_space
        observation, *_ = env.step(env.action_space.sample())


def test_the_meta_environments_frame_does_not_see_the_bases():
    def seen(bases_seed):
        settings = {"n_words": 4, "length": 2, "dim": 16, "encoder": "frame"}
        return play(MetaTaskEnv("RepeatFirst", bases_seed=bases_seed, **settings), 60)

    np.testing.assert_allclose(seen(0), seen(1), atol=1e-5)
