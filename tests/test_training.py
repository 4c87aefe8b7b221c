"""Laws of training: replay, separation of evaluation, probes with known answers."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj import FreeProjection, envs, evaluate, train
from freeproj.config import EvaluationConfig, NetworkConfig, PPOConfig, TrainConfig
from freeproj.rollout import collect, first_steps
from freeproj.training import TrainState, start, train_seeds, update
from probes import PROBES


@pytest.fixture(autouse=True)
def _probes(monkeypatch):
    """Lets `make` find the probes, in the tests of this file only."""
    for probe in PROBES:
        family = envs.registry.Family(probe.__name__, probe)
        monkeypatch.setitem(envs.REGISTRY, probe.__name__, family)


NETWORK = NetworkConfig(
    embedding_size=16, hidden_size=16, head_size=16, n_layers=2, state_size=16
)


def small(**settings) -> TrainConfig:
    """A run of seconds."""
    chosen = {
        "task": "HigherLower",
        "projection": FreeProjection(2, 3, dim=16),
        "n_updates": 2,
        "n_envs": 8,
        "n_steps": 40,
        "n_trials": 2,
        "network": NETWORK,
        "ppo": PPOConfig(n_epochs=2, n_minibatches=2, learning_rate=1e-3),
        "evaluation": EvaluationConfig(n_envs=4, n_steps=40),
    }
    return TrainConfig(**{**chosen, **settings})


@pytest.mark.parametrize("memory", ["gru", "s5"])
@pytest.mark.parametrize(
    "task",
    ["HigherLower", "StatelessPendulum", ("StatelessCartPole", "Minesweeper")],
    ids=["discrete", "continuous", "mixed"],
)
def test_replay_with_unchanged_weights_has_ratio_one_and_the_stored_values(
    memory, task
):
    config = small(task=task, memory=memory, n_trials=1)
    env = config.training_env()

    @jax.jit
    def replay(key):
        key_start, key_first, key_second = jax.random.split(key, 3)
        state = start(key_start, config)
        agent, params = state.agent, state.params
        play, _, _ = collect(key_first, env, params, agent, state.play, 170)
        memory = play.memory  # not empty: the rollout begins in the middle of episodes
        _, rollout, _ = collect(key_second, env, params, agent, play, 60)
        fresh = first_steps(env, rollout.inputs)
        policy, values, _ = agent.sequence(rollout.inputs, memory, fresh, rollout.mask)
        return rollout, policy.log_prob(rollout.action), values, fresh

    rollout, log_prob, values, fresh = replay(jax.random.key(3))
    assert fresh.any()
    np.testing.assert_allclose(jnp.exp(log_prob - rollout.log_prob), 1, atol=1e-5)
    np.testing.assert_allclose(values, rollout.value, atol=1e-5)


def test_masked_actions_are_never_taken():
    config = small(task=("StatelessCartPole", "Minesweeper"), action_map="random")
    env = config.training_env()
    state = jax.jit(start, static_argnums=1)(jax.random.key(0), config)
    run = jax.jit(
        lambda s: collect(jax.random.key(1), env, s.params, s.agent, s.play, 80)
    )
    _, rollout, _ = run(state)
    assert rollout.mask is not None
    assert not rollout.mask.all()
    allowed = jnp.take_along_axis(rollout.mask, rollout.action[..., None], -1)
    assert allowed.all()


def test_the_same_key_gives_the_same_run_and_another_does_not():
    first, second = (train(jax.random.key(1), small()) for _ in range(2))
    assert repr(first.log) == repr(second.log)  # nan equals nan as text
    for a, b in zip(*map(jax.tree.leaves, (first.agent, second.agent)), strict=True):
        np.testing.assert_array_equal(a, b)
    other = train(jax.random.key(2), small())
    assert repr(other.log) != repr(first.log)


def test_evaluation_leaves_training_untouched():
    often = train(jax.random.key(1), small())
    never = small(evaluation=EvaluationConfig(every=0))
    rare = train(jax.random.key(1), never)
    for a, b in zip(*map(jax.tree.leaves, (often.agent, rare.agent)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not any("test" in name for name in rare.log[0])


def test_a_run_that_goes_on_from_a_state_is_the_unbroken_run():
    config = small(n_updates=3)
    whole = train(jax.random.key(1), config)
    kept: list[TrainState] = []
    train(
        jax.random.key(1),
        dataclasses.replace(config, n_updates=1),
        # A copy: the next update may reuse the state's memory.
        report=lambda state, _row: kept.append(jax.tree.map(jnp.copy, state)),
    )
    rest = train(jax.random.key(1), config, state=kept[0])
    assert repr(rest.log) == repr(whole.log[1:])
    for a, b in zip(*map(jax.tree.leaves, (rest.agent, whole.agent)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("every", "changes"), [(0, []), (1, [1, 2, 3]), (2, [3])])
def test_bases_are_redrawn_as_often_as_told_and_reach_the_agent(every, changes):
    config = small(redraw_every=every)
    step = jax.jit(update, static_argnums=1)
    state = jax.jit(start, static_argnums=1)(jax.random.key(0), config)
    for number in (1, 2, 3):
        following, _ = step(state, config)
        same = jnp.array_equal(following.params.bases, state.params.bases)
        assert bool(same) == (number not in changes)
        # A running episode is seen through the bases of its collection.
        episodes, env = following.play.state, config.training_env()
        matched = jax.vmap(env.rematch, in_axes=(0, None))(episodes, following.params)
        np.testing.assert_allclose(matched.matrix, episodes.matrix, atol=1e-6)
        state = following


def test_windows_without_an_end_are_nan_with_a_count():
    config = small(
        n_trials=16, evaluation=EvaluationConfig(n_envs=4, n_steps=10, episodes=False)
    )
    result = train(jax.random.key(0), dataclasses.replace(config, n_updates=1))
    row = result.log[0]
    assert np.isnan(row["test/window/episode_return"])
    assert row["test/window/n_finished"] == 0
    assert np.isnan(row["test/episodes/episode_return"])
    assert row["test/episodes/n_unfinished"] == 4
    assert np.isnan(row["train/episode_return"])
    assert row["train/n_finished"] == 0


def test_evaluation_counts_each_first_episode_once_and_trials_add_up():
    config = small(task="HigherLower", n_trials=3)
    agent = jax.jit(start, static_argnums=1)(jax.random.key(0), config).agent
    found = evaluate(jax.random.key(1), agent, config)
    # An episode has 3 · 51 steps: none ends within the window of 40.
    assert found.window.n_finished == 0
    assert found.episodes.n_finished == 4
    assert found.trial_counts.tolist() == [4, 4, 4]
    total = found.trial_returns.sum()
    np.testing.assert_allclose(total, found.episodes.mean_return, atol=1e-5)


def test_the_held_out_task_is_played_with_its_own_actions():
    config = small(
        task=("StatelessCartPole", "RepeatFirst"),
        evaluation=EvaluationConfig(task="Minesweeper", n_envs=4, n_steps=20),
    )
    assert config.training_env().action_space.n == 16
    assert config.protocol == "task"
    row = train(jax.random.key(0), dataclasses.replace(config, n_updates=1)).log[0]
    assert row["test/episodes/n_finished"] == 4


@pytest.mark.slow
def test_seeds_trained_together_are_the_seeds_trained_alone():
    config = small()
    keys = jax.random.split(jax.random.key(5), 2)
    agents, log = train_seeds(keys, config)
    alone = train(keys[1], config)
    name = "loss/value"
    np.testing.assert_allclose(
        log[name][:, 1], [row[name] for row in alone.log], rtol=1e-3
    )
    weights = zip(jax.tree.leaves(agents), jax.tree.leaves(alone.agent), strict=True)
    for together, single in weights:
        np.testing.assert_allclose(together[1], single, atol=2e-3)


def learner(task, **settings):
    """Enough training for a probe."""
    return small(
        task=task,
        **{
            # Under random words a sign could not be told from its opposite.
            "projection": FreeProjection(2, 3, dim=16, family="identity"),
            "n_envs": 64,
            "n_steps": 32,
            "n_updates": 30,
            "ppo": PPOConfig(
                n_epochs=4, n_minibatches=4, learning_rate=5e-3, gae_lambda=0.95
            ),
            "evaluation": EvaluationConfig(every=30, n_envs=256, n_steps=32, map="pad"),
            **settings,
        },
    )


def test_values_become_the_known_ones():
    config = learner("ProbeValue", n_trials=2, evaluation=EvaluationConfig(every=0))
    state = jax.jit(start, static_argnums=1)(jax.random.key(0), config)
    step = jax.jit(update, static_argnums=1)
    for _ in range(config.n_updates):
        state, _ = step(state, config)
    env = config.training_env()
    run = jax.jit(
        lambda s: collect(jax.random.key(1), env, s.params, s.agent, s.play, 16)
    )
    _, rollout, _ = run(state)
    first = np.asarray(first_steps(env, rollout.inputs))
    value = np.asarray(rollout.value)
    # Two trials of one step each that pays 1: a trial's end does not cut the return.
    assert value[first].mean() == pytest.approx(1.99, abs=0.15)
    assert value[~first].mean() == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("memory", ["gru", pytest.param("s5", marks=pytest.mark.slow)])
def test_memory_solves_what_only_memory_solves(memory):
    config = learner("ProbeMemory", memory=memory, n_trials=1, n_updates=40)
    row = train(jax.random.key(0), config).log[-1]
    # A guess earns 0.5.
    assert row["test/episodes/episode_return"] > 0.9


def test_later_trials_are_better_where_only_earlier_trials_can_tell():
    config = learner("ProbeArms", n_trials=8, previous_reward=True, n_updates=60)
    trials = train(jax.random.key(0), config).log[-1]["test/trial_returns"]
    assert abs(trials[0] - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 256)  # a guess
    assert min(trials[5:]) > 0.7
