"""Laws of the projection around Gymnasium's environments."""

import copy
import pickle
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from freeproj import FreeProjection
from freeproj.adapters.gymnasium import (
    ProjectObservation,
    ProjectVectorObservation,
)
from freeproj.adapters.numpy_core import matrix

LAW = FreeProjection(3, 3, dim=32, input_dim=12)


class Counter(gym.Env):
    """Shows [episode, step]; an episode has as many steps as its number says."""

    observation_space = gym.spaces.Box(0.0, 100.0, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, first=2):
        self.first = first
        self.episode = first - 1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.episode = self.first - 1
        self.episode, self.now = self.episode + 1, 0
        return self.show(), {}

    def step(self, action):
        self.now += 1
        return self.show(), 1.0, self.now >= self.episode, False, {}

    def show(self):
        return np.array([self.episode, self.now], np.float32)


class Show(gym.Env):
    """Shows samples of any space."""

    action_space = gym.spaces.Discrete(2)

    def __init__(self, space):
        self.observation_space = space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


def matrix_of(env, word, size=2):
    return matrix(env.words.projection, word, env.words.bases, size)


def test_an_episode_is_seen_under_one_word_and_the_next_under_another():
    env = ProjectObservation(Counter(first=4), LAW, seed=0)
    words = set()
    for episode in range(4, 12):
        obs, info = env.reset()
        word, step = info["word"], 0
        over = False
        while not over:
            raw = np.array([episode, step], np.float32)
            np.testing.assert_allclose(obs, matrix_of(env, word) @ raw, 1e-4, 1e-5)
            obs, _, over, _, info = env.step(0)
            np.testing.assert_array_equal(info["word"], word)
            step += 1
        last = matrix_of(env, word) @ np.array([episode, step], np.float32)
        np.testing.assert_allclose(obs, last, rtol=1e-5)
        words.add(tuple(word))
    assert len(words) > 4


def test_n_trials_episodes_share_a_word():
    env = ProjectObservation(Counter(), LAW, seed=0, n_trials=3)
    words = [tuple(env.reset()[1]["word"]) for _ in range(12)]
    groups = [set(words[i : i + 3]) for i in range(0, 12, 3)]
    assert all(len(group) == 1 for group in groups)
    assert len(set(words)) > 1


def test_new_bases_change_what_is_seen_from_the_next_word_on():
    env = ProjectObservation(Counter(first=9), LAW, seed=0)
    before, info = env.reset(seed=5)
    old = matrix_of(env, info["word"])
    env.redraw_bases()
    same_episode = env.step(0)[0]
    np.testing.assert_allclose(same_episode, old @ [9, 1], rtol=1e-5)
    after, _ = env.reset(seed=5)
    assert np.abs(after - before).max() > 0.1


def test_a_free_projection_gives_the_matrix_of_the_jax_path():
    law = FreeProjection(3, 3, dim=16)
    env = ProjectObservation(Counter(), law, seed=0)
    obs, info = env.reset(seed=0)
    expected = law.project(info["word"], env.words.bases, np.array([2.0, 0.0]))
    np.testing.assert_allclose(obs, expected, atol=1e-5)


def test_seeds_fix_bases_and_words():
    seen = [
        [ProjectObservation(Counter(), LAW, seed=a).reset(seed=b)[0] for _ in range(2)]
        for a, b in ((0, 0), (1, 0), (0, 1))
    ]
    for twice in seen:
        np.testing.assert_array_equal(*twice)
    assert np.abs(seen[0][0] - seen[1][0]).max() > 0.01
    assert np.abs(seen[0][0] - seen[2][0]).max() > 0.01


SPACES = st.deferred(lambda: st.one_of(LEAVES, st.builds(make_dict, LEAVES, LEAVES)))
LEAVES = st.one_of(
    st.integers(1, 4).map(lambda n: gym.spaces.Box(-2.0, 3.0, (n,), np.float32)),
    st.integers(1, 2).map(lambda n: gym.spaces.Box(0, 255, (n, 2), np.uint8)),
    st.integers(1, 2).map(lambda n: gym.spaces.Box(-1.0, 1.0, (n, 2), np.float64)),
    st.integers(1, 5).map(lambda n: gym.spaces.Discrete(n, start=n - 2)),
    st.lists(st.integers(1, 3), min_size=1, max_size=2).map(gym.spaces.MultiDiscrete),
    st.integers(1, 3).map(gym.spaces.MultiBinary),
)


def make_dict(left, right):
    return gym.spaces.Dict({"b": left, "a": gym.spaces.Tuple([right, left])})


@settings(max_examples=40, deadline=None)
@given(space=SPACES, seed=st.integers(0, 9))
def test_any_flat_space_is_projected_into_the_declared_one(space, seed):
    env = ProjectObservation(Show(space), LAW, seed=0)
    obs, info = env.reset(seed=seed)
    space.seed(seed)
    flat = gym.spaces.flatten(space, space.sample()).astype(np.float32)
    expected = matrix_of(env, info["word"], len(flat)) @ flat
    np.testing.assert_allclose(obs, expected, rtol=1e-4, atol=1e-4)
    assert obs.dtype == env.observation_space.dtype == np.float32
    for _ in range(3):
        assert env.observation_space.contains(env.step(0)[0])


@settings(max_examples=25, deadline=None)
@given(space=SPACES, seed=st.integers(0, 9))
def test_vectors_of_any_flat_space_are_projected_like_single_ones(space, seed):
    make = lambda: Show(copy.deepcopy(space))  # noqa: E731
    envs = ProjectVectorObservation(SyncVectorEnv([make] * 3), LAW, seed=4)
    singles = [ProjectObservation(make(), LAW, seed=4) for _ in range(3)]
    obs, info = envs.reset(seed=seed)
    assert envs.observation_space.contains(obs)
    for index, single in enumerate(singles):
        alone, told = single.reset(seed=seed + index)
        np.testing.assert_allclose(obs[index], alone, rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(info["word"][index], told["word"])


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_each_autoreset_mode_projects_with_the_word_of_the_episode(mode):
    makers = [lambda n=n: Counter(first=n) for n in (2, 3, 5)]
    envs = ProjectVectorObservation(
        SyncVectorEnv(makers, autoreset_mode=mode), LAW, seed=0
    )
    raw = SyncVectorEnv(makers, autoreset_mode=mode)
    obs, info = envs.reset(seed=0)
    shown, _ = raw.reset(seed=0)
    words, ended, n_words = info["word"], np.zeros(3, bool), {}
    for _ in range(30):
        for i in range(3):
            expected = matrix_of(envs, info["word"][i]) @ shown[i]
            np.testing.assert_allclose(obs[i], expected, rtol=1e-4, atol=1e-5)
            # One word for each number of an episode.
            n_words.setdefault((i, shown[i][0]), set()).add(tuple(info["word"][i]))
        if mode is AutoresetMode.DISABLED and ended.any():
            (obs, info), (shown, _) = (
                e.reset(options={"reset_mask": ended.copy()}) for e in (envs, raw)
            )
            ended = np.zeros(3, bool)
            continue
        words = info["word"]
        obs, _, ended, _, info = envs.step(np.zeros(3, int))
        shown, _, _, _, told = raw.step(np.zeros(3, int))
        for i in np.flatnonzero(ended) if mode is AutoresetMode.SAME_STEP else []:
            final = matrix_of(envs, words[i]) @ told["final_obs"][i]
            np.testing.assert_allclose(info["final_obs"][i], final, rtol=1e-4)
            np.testing.assert_array_equal(info["final_info"]["word"][i], words[i])
    assert all(len(group) == 1 for group in n_words.values())
    assert len(set().union(*n_words.values())) > 5


def test_a_vector_environment_must_declare_its_autoreset_mode():
    envs = SyncVectorEnv([Counter])
    envs.metadata = {}
    with pytest.raises(ValueError, match="autoreset_mode"):
        ProjectVectorObservation(envs, LAW)


@pytest.mark.parametrize("n_envs", [0, 2])
def test_what_is_told_is_new_in_each_step(n_envs):
    """Gymnasium's checker asks for it from 1.4 on."""
    if n_envs:
        made = gym.make_vec("CartPole-v1", n_envs, vectorization_mode="sync")
        env, action = ProjectVectorObservation(made, LAW, seed=0), [0] * n_envs
    else:
        env, action = ProjectObservation(gym.make("CartPole-v1"), LAW, seed=0), 0
    told = [env.reset(seed=0)[1], env.step(action)[4]]
    for name in told[0].keys() & {"word", "_word"}:
        assert not np.shares_memory(told[0][name], told[1][name])
    word = told[1]["word"].copy()
    told[1]["word"][:] = 0
    np.testing.assert_array_equal(env.step(action)[4]["word"], word)


def test_sizes_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"1 to 32 entries .* got 40"):
        ProjectObservation(Show(gym.spaces.Discrete(40)), LAW)
    text = gym.spaces.Sequence(gym.spaces.Discrete(2))
    with pytest.raises(ValueError, match="flatten"):
        ProjectObservation(Show(text), LAW)
    with pytest.raises(ValueError, match="n_trials"):
        ProjectObservation(Counter(), LAW, n_trials=0)


def test_infinite_bounds_stay_infinite():
    space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    env = ProjectObservation(Show(space), LAW)
    assert np.isinf(env.observation_space.high).all()


def test_the_checker_of_gymnasium_is_silent():
    env = ProjectObservation(gym.make("Acrobot-v1"), LAW, seed=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*different from the unwrapped.*")
        check_env(env, skip_render_check=True)  # drawing needs pygame


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]
)
def test_copies_go_on_in_the_same_way(duplicate):
    env = ProjectObservation(gym.make("CartPole-v1"), LAW, seed=0)
    env.reset(seed=0)
    twin = duplicate(env)
    for e in (env, twin):
        e.reset()
    np.testing.assert_array_equal(env.step(0)[0], twin.step(0)[0])


def test_the_spec_builds_the_same_wrapped_environment():
    env = ProjectObservation(gym.make("CartPole-v1"), LAW, seed=3)
    again = gym.make(env.spec)
    np.testing.assert_array_equal(env.reset(seed=1)[0], again.reset(seed=1)[0])
