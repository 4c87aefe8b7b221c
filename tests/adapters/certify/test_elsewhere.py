"""Policies and environments of others: Gymnasium, Stable-Baselines3, torch."""

import warnings

import numpy as np
import pytest

import freeproj as fp
from freeproj.adapters.certify.players import ALGORITHMS, load_model

gym = pytest.importorskip("gymnasium")
from gymnasium.envs.classic_control import CartPoleEnv  # noqa: E402


def balances(observation, state):
    """Push to where the pole falls."""
    return int(observation[2] + observation[3] > 0)


def test_a_controller_of_plain_cartpole_has_memorised_it():
    found = fp.certify(balances, "CartPole-v1", n_episodes=16, n_trials=1)
    assert found.verdict == "memorised"
    assert found["plain"].value.mean > 100
    assert found["minus"].value.mean < 15


@pytest.mark.parametrize("kind", ["object", "maker", "without an id"])
def test_environments_are_taken_in_any_form(kind):
    env = {
        "object": lambda: gym.make("CartPole-v1"),
        "maker": lambda: lambda: gym.make("CartPole-v1"),
        # One copy, which plays episode after episode.
        "without an id": lambda: gym.wrappers.TimeLimit(CartPoleEnv(), 500),
    }[kind]()
    tilted = fp.certify(lambda x, s: int(x[2] > 0), env, n_episodes=8, n_trials=2)
    by_name = fp.certify(
        lambda x, s: int(x[2] > 0), "CartPole-v1", n_episodes=8, n_trials=2
    )
    assert tilted["plain"].value == by_name["plain"].value
    assert tilted["random"].value == by_name["random"].value


def test_continuous_actions_are_mirrored():
    seen = []

    class Mirror(gym.Env):
        observation_space = gym.spaces.Box(-1, 1, (2,))
        action_space = gym.spaces.Box(np.float32(0), np.float32(4), (1, 1))

        def reset(self, *, seed=None, options=None):
            return np.ones(2, np.float32), {}

        def step(self, action):
            seen.append(action)
            return np.ones(2, np.float32), float(action[0, 0]), True, False, {}

    found = fp.certify(lambda x, s: np.array([1.0]), Mirror, n_episodes=8)
    assert found["plain"].value.mean == 1
    assert found["relabelled"].value.mean == 3
    assert seen[0].shape == (1, 1)


def test_a_torch_module_is_asked_with_its_state():
    torch = pytest.importorskip("torch")

    class Plain(torch.nn.Module):
        def forward(self, x):
            return torch.stack([-x[:, 2] - x[:, 3], x[:, 2] + x[:, 3]], 1)

    class Recurrent(Plain):
        def forward(self, x, state=None):
            return super().forward(x), 1 + (0 if state is None else state)

    settings = {"n_episodes": 8, "n_trials": 1}
    own = fp.certify(balances, "CartPole-v1", **settings)
    for module in (Plain(), Recurrent()):
        found = fp.certify(module, "CartPole-v1", **settings)
        assert found["plain"].value == own["plain"].value
    sampled = fp.certify(Plain(), "CartPole-v1", deterministic=False, **settings)
    assert sampled["plain"].value.mean < own["plain"].value.mean


def model_of(name, env="CartPole-v1"):
    stable = pytest.importorskip("stable_baselines3")
    contrib = pytest.importorskip("sb3_contrib")
    home = {"stable_baselines3": stable, "sb3_contrib": contrib}[ALGORITHMS[name]]
    policy = "MlpLstmPolicy" if name == "RecurrentPPO" else "MlpPolicy"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(home, name)(policy, env, seed=0, device="cpu")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_algorithm_of_a_model_is_read_from_its_file(name, tmp_path):
    env = "Pendulum-v1" if name in ("CrossQ", "DDPG", "SAC", "TD3", "TQC") else None
    if name == "ARS":
        pytest.skip("ARS has policies of its own")
    model_of(name, *([env] if env else [])).save(tmp_path / "model")
    loaded = load_model(tmp_path / "model.zip")
    assert type(loaded).__name__ in {name, {"DDPG": "TD3"}.get(name)}


@pytest.mark.parametrize("name", ["PPO", "RecurrentPPO"])
def test_models_are_certified_as_functions_are(name):
    model = model_of(name)
    settings = {"n_episodes": 8, "n_trials": 2}
    found = fp.certify(model, "CartPole-v1", **settings)
    assert found.agent == name
    assert found.input_dim == 4

    def act(observation, state):
        first = np.array([state is None])
        action, state = model.predict(
            observation[None],
            state,
            first,
            deterministic=True,
        )
        return action[0], (state if state is not None else ())

    own = fp.certify(act, "CartPole-v1", **settings)
    assert own["plain"].value == found["plain"].value


def test_a_model_of_other_actions_is_refused():
    model = model_of("PPO")
    for task in ("Pendulum-v1", "Acrobot-v1"):
        with pytest.raises(ValueError, match=f"not those of {task}"):
            fp.certify(model, task)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "model.zip").write_text("not a model")
    with pytest.raises(ValueError, match="not a model of Stable-Baselines3"):
        load_model(tmp_path / "model.zip")
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_model(tmp_path / "none.zip")
