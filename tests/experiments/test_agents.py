"""Agents to keep: they act as they were trained, and files give them back."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.experiments import agents
from freeproj.experiments.agents import LoadedAgent, export_agent, load_agent
from freeproj.experiments.settings import read_config
from freeproj.learning.rollout import first_steps
from freeproj.learning.train import start

SETTINGS = {
    "task": "freeproj.envs.flash_cards:FlashCards",
    "n_trials": 2,
    "previous_reward": True,
    "normalize_observations": True,
    "projection.dim": 8,
    "projection.input_dim": 8,
}


@pytest.fixture(scope="module")
def loaded():
    config = read_config("smoke", SETTINGS)
    agent = start(jax.random.key(0), config).agent
    # A new policy is almost uniform; this one has opinions.
    weight = 50 * agent.actor[-1].weight
    return LoadedAgent(
        eqx.tree_at(lambda each: each.actor[-1].weight, agent, weight), config
    )


def test_acting_on_plain_observations_is_acting_in_the_meta_environment(loaded):
    env = loaded.config.evaluation_env("", "tile")
    params = env.draw_params(jax.random.key(1))
    inputs, state = jax.jit(env.reset)(jax.random.key(2), params)
    memory = loaded.agent.initial_state(1)
    advance, step = jax.jit(env.advance), jax.jit(type(loaded.agent).step)
    loaded.reset("tile")
    shown, reward, ended, actions = state.initial_observation, 0.0, False, []
    for number in range(env.max_steps):
        rows = inputs[None]
        policy, _, memory = step(loaded.agent, rows, memory, first_steps(env, rows))
        action = loaded.act(shown, reward, ended, greedy=True)
        assert action == int(policy.mode()[0])
        actions.append(action)
        key = jax.random.key(number)
        inputs, state, earned, over, _, info = advance(
            key, state, jnp.asarray(action), params
        )
        reward, ended = float(earned), bool(info["trial_ended"])
        shown = state.initial_observation if ended else info["final_observation"]
    assert over
    assert len(set(actions)) > 1


def test_an_exported_agent_comes_back(loaded, tmp_path):
    path = export_agent(loaded, tmp_path / "kept.npz", {"task": "flash cards"})
    assert path.stat().st_size < 300_000
    back = load_agent(path)
    assert back.config == loaded.config
    assert back.card.keys() == {"task", "sha256"}
    pairs = zip(jax.tree.leaves(back.agent), jax.tree.leaves(loaded.agent), strict=True)
    assert all(np.array_equal(one, other) for one, other in pairs)
    assert "FlashCards" in repr(back)


def test_acting_remembers_and_reset_forgets(loaded):
    shown = np.eye(4)[[0, 1, 2, 3, 0, 1]]
    loaded.reset(seed=3)
    first = [loaded.act(each) for each in shown]
    loaded.reset(seed=3)
    assert [loaded.act(each) for each in shown] == first
    assert all(0 <= action < 4 for action in first)


def test_bad_input_is_refused(loaded, tmp_path):
    with pytest.raises(ValueError, match=r"must have shape \(4,\)"):
        loaded.act(np.zeros(3))
    with pytest.raises(FileNotFoundError, match="not a shipped agent"):
        load_agent("no-such-agent")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match="is not an exported agent"):
        load_agent(tmp_path / "other.npz")
    with pytest.raises(ValueError, match=r"must end in \.npz"):
        export_agent(loaded, tmp_path / "kept.zip", {})


@pytest.mark.parametrize("name", agents.PRETRAINED)
def test_shipped_agents_are_small_and_have_a_card(name):
    card = load_agent(name).card
    assert {"task", "returns", "command", "does_not", "sha256"} <= card.keys()
    assert (agents._FOLDER / f"{name}.npz").stat().st_size < 300_000
    assert load_agent(name).act(np.zeros(load_agent(name).env.observation_size)) >= 0
