"""A player of many episodes plays each as `LoadedAgent.act` does."""

import equinox as eqx
import jax
import numpy as np
import pytest

import freeproj as fp
from freeproj.experiments.agents import LoadedAgent
from freeproj.experiments.settings import read_config
from freeproj.learning.train import start

SETTINGS = {
    "task": "freeproj.envs.flash_cards:FlashCards",
    "n_trials": 2,
    "previous_reward": True,
    "normalize_observations": True,
    "projection.dim": 8,
    "projection.input_dim": 8,
}


def agent_of(opinions=1e6, **settings):
    """An untrained agent with strong opinions."""
    config = read_config("smoke", SETTINGS | settings)
    agent = start(jax.random.key(0), config).agent
    weight = opinions * agent.actor[-1].weight
    return LoadedAgent(
        eqx.tree_at(lambda each: each.actor[-1].weight, agent, weight), config
    )


@pytest.mark.parametrize("encoder", ["none", "frame"])
def test_episodes_at_once_are_episodes_one_by_one(encoder):
    loaded, rng = agent_of(encoder=encoder), np.random.default_rng(0)
    shown = np.eye(4)[rng.integers(4, size=(10, 3))]
    rewards, ended = rng.normal(size=(10, 3)), rng.random((10, 3)) < 0.3
    player = loaded.player()
    player.begin(3, np.stack([player.plain(4)] * 3), seed=0)
    together = [player.act(*now) for now in zip(shown, rewards, ended, strict=True)]
    alone = []
    for episode in range(3):
        loaded.reset("tile")
        alone.append(
            [
                loaded.act(*now, greedy=True)
                for now in zip(
                    shown[:, episode],
                    rewards[:, episode].tolist(),
                    ended[:, episode].tolist(),
                    strict=True,
                )
            ]
        )
    assert np.array(together).T.tolist() == alone
    assert len(set(np.ravel(alone))) > 1


def test_agents_that_see_a_frame_play_equal_episodes_under_every_projection():
    loaded = agent_of(opinions=50, encoder="frame")
    found = fp.certify(loaded, n_episodes=16)
    for name in ("trained", "random", "minus"):
        assert found[name].equal > 0.9, found
    assert found["blanked"].equal < 0.9
    assert found.task == "FlashCards"
    assert found.n_trials == 2


def test_other_agents_do_not():
    found = fp.certify(agent_of(opinions=50), n_episodes=16)
    assert found["random"].equal < 0.9


def test_another_task_must_fit():
    with pytest.raises(ValueError, match="Observations of 13 entries do not fit"):
        fp.certify(agent_of(), "HigherLower", n_episodes=8)
