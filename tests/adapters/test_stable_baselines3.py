"""Laws of the projection around Stable-Baselines3's vector environments."""

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import DummyVecEnv

from freeproj import FreeProjection
from freeproj.adapters.gymnasium import FrameObservation, ProjectObservation
from freeproj.adapters.stable_baselines3 import (
    RedrawBases,
    VecFrame,
    VecFreeProjection,
)

LAW = FreeProjection(3, 3, dim=16, input_dim=12)


class Counter(gym.Env):
    """Shows [episode, step] as a vector or a dict; episode n has n steps."""

    action_space = gym.spaces.Discrete(2)

    def __init__(self, first=2, as_dict=False):
        self.episode, self.as_dict = first - 1, as_dict
        box = gym.spaces.Box(0.0, 100.0, (2,), np.float32)
        parts = {"shown": box, "phase": gym.spaces.Discrete(3)}
        self.observation_space = gym.spaces.Dict(parts) if as_dict else box

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episode, self.now = self.episode + 1, 0
        return self.show(), {}

    def step(self, action):
        self.now += 1
        return self.show(), 1.0, self.now >= self.episode, False, {}

    def show(self):
        shown = np.array([self.episode, self.now], np.float32)
        return {"shown": shown, "phase": self.now % 3} if self.as_dict else shown


def counters(as_dict=False, n=3):
    return DummyVecEnv([lambda i=i: Counter(i + 2, as_dict) for i in range(n)])


def flat(env, observation):
    return gym.spaces.flatten(env.venv.observation_space, observation)


@pytest.mark.parametrize("as_dict", [False, True])
def test_every_observation_and_the_last_one_have_the_word_of_their_episode(as_dict):
    env = VecFreeProjection(counters(as_dict), LAW, seed=0)
    raw = counters(as_dict)
    size = 5 if as_dict else 2
    obs, shown = env.reset(), raw.reset()
    assert env.observation_space.contains(obs[0])
    n_ends = 0
    for _ in range(20):
        words = env.words.words.copy()
        for i in range(3):
            one = {k: v[i] for k, v in shown.items()} if as_dict else shown[i]
            matrix = LAW.matrix(words[i], env.words.bases, size)
            np.testing.assert_allclose(obs[i], matrix @ flat(env, one), 1e-4, 1e-5)
        obs, _, dones, infos = env.step([0] * 3)
        shown, _, _, told = raw.step([0] * 3)
        for i in np.flatnonzero(dones):
            matrix = LAW.matrix(words[i], env.words.bases, size)
            last = matrix @ flat(env, told[i]["terminal_observation"])
            np.testing.assert_allclose(
                infos[i]["terminal_observation"], last, rtol=1e-4, atol=1e-6
            )
            np.testing.assert_array_equal(infos[i]["word"], words[i])
            n_ends += 1
    assert n_ends > 5


def test_saved_and_loaded_it_keeps_its_bases_and_draws_the_next_ones(tmp_path):
    env = VecFreeProjection(counters(), LAW, seed=0, n_trials=2)
    first = env.reset()
    for _ in range(7):
        env.step([0] * 3)
    env.save(tmp_path / "projection.npz")
    twin = VecFreeProjection.load(tmp_path / "projection.npz", counters())
    np.testing.assert_array_equal(twin.reset(), first)  # the words of its seed
    assert twin.words.n_trials == 2
    for each in (env, twin):
        each.redraw_bases()
    np.testing.assert_array_equal(env.words.bases, twin.words.bases)


def test_another_number_of_environments_keeps_the_bases(tmp_path):
    env = VecFreeProjection(counters(), LAW, seed=0)
    env.save(tmp_path / "projection.npz")
    more = VecFreeProjection.load(tmp_path / "projection.npz", counters(n=5))
    np.testing.assert_array_equal(env.words.bases, more.words.bases)
    assert more.reset().shape == (5, 12)


def test_seeding_repeats_the_words():
    env = VecFreeProjection(counters(), LAW, seed=0)
    words = []
    for _ in range(2):
        env.seed(4)
        env.reset()
        words.append(env.words.words.copy())
    np.testing.assert_array_equal(*words)


def test_a_model_learns_and_bases_are_redrawn_with_each_collection():
    env = VecFreeProjection(counters(n=2), LAW, seed=0)
    before = env.words.bases.copy()
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=16, n_epochs=1, seed=0)
    model.learn(48, callback=RedrawBases(env, every=2))
    assert env.words.n_draws == 2  # three collections: the first draw, and one more
    assert not np.array_equal(before, env.words.bases)
    action, _ = model.predict(env.reset())
    assert action.shape == (2,)


def test_model_and_projection_saved_together_act_the_same(tmp_path):
    env = VecFreeProjection(counters(n=2), LAW, seed=0)
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=16, n_epochs=1)
    model.learn(16)
    model.save(tmp_path / "model")
    env.save(tmp_path / "projection.npz")
    loaded = VecFreeProjection.load(tmp_path / "projection.npz", counters(n=2))
    again = PPO.load(tmp_path / "model", env=loaded)
    seen = [each.reset() for each in (env, loaded)]
    acts = [
        m.policy.get_distribution(torch.as_tensor(seen[0])).distribution.probs
        for m in (model, again)
    ]
    assert torch.equal(*acts)
    np.testing.assert_array_equal(env.words.bases, loaded.words.bases)


@pytest.mark.parametrize("env_id", ["CartPole-v1", "freeproj/HigherLower-v0"])
def test_the_checker_of_stable_baselines3_is_silent(env_id):
    env = gym.make(env_id)
    check_env(env, skip_render_check=True)
    check_env(ProjectObservation(env, LAW, seed=0), skip_render_check=True)


@pytest.mark.parametrize("n_trials", [1, 2])
def test_frames_show_what_the_single_wrapper_shows(n_trials):
    law = FreeProjection(3, 3, dim=16)
    env = VecFrame(VecFreeProjection(counters(n=2), law, seed=0, n_trials=n_trials))
    ones = [
        FrameObservation(
            ProjectObservation(Counter(i + 2), law, seed=9, n_trials=n_trials)
        )
        for i in range(2)
    ]
    seen, expected = env.reset(), [each.reset()[0] for each in ones]
    for _ in range(20):
        np.testing.assert_allclose(seen, np.stack(expected), atol=1e-5, rtol=1e-5)
        assert all(env.observation_space.contains(each) for each in seen)
        seen, _, dones, infos = env.step(np.zeros(2, int))
        for i, each in enumerate(ones):
            expected[i] = each.step(0)[0]
            if dones[i]:
                last = infos[i]["terminal_observation"]
                np.testing.assert_allclose(last, expected[i], atol=1e-4)
                expected[i] = each.reset()[0]


def test_a_seed_empties_the_frames():
    env = VecFrame(counters(n=2), n_trials=3)
    env.seed(0)
    env.reset()
    env.step(np.zeros(2, int))
    assert env.frames.frame.n_known.tolist() == [2, 2]
    env.seed(0)
    env.reset()
    assert env.frames.frame.n_known.tolist() == [1, 1]


def test_ppo_learns_behind_a_frame():
    env = VecFrame(VecFreeProjection(counters(n=2), LAW, seed=0))
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=16, n_epochs=1)
    assert model.learn(16).num_timesteps == 16


def test_wrong_settings_are_named():
    with pytest.raises(ValueError, match=r"1 to 1 entries .* got 2"):
        VecFreeProjection(counters(), FreeProjection(2, 2, dim=1))
    with pytest.raises(ValueError, match="every"):
        RedrawBases(VecFreeProjection(counters(), LAW), every=0)
