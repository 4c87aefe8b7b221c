"""Laws of the core that a slip of one character breaks; see `test_mutants.py`."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from freeproj import FreeProjection, evaluate
from freeproj.learning import learn
from freeproj.learning.config import (
    EvaluationConfig,
    NetworkConfig,
    PPOConfig,
    TrainConfig,
)
from freeproj.learning.evaluate import evaluation_inputs, run_evaluation
from freeproj.learning.learn import Batch, optimizer_of
from freeproj.learning.rollout import collect
from freeproj.learning.train import draw_params, start, update


def small(**settings) -> TrainConfig:
    """A run of seconds."""
    sizes = {"embedding_size": 8, "hidden_size": 8, "head_size": 8}
    chosen = {
        "task": "HigherLower",
        "projection": FreeProjection(2, 2, dim=16),
        "n_updates": 3,
        "n_envs": 4,
        "n_steps": 30,
        "n_trials": 1,
        "network": NetworkConfig(**sizes),
        "ppo": PPOConfig(n_epochs=2, n_minibatches=2, learning_rate=1e-9),
        "evaluation": EvaluationConfig(n_envs=4, n_steps=51),
    }
    return TrainConfig(**(chosen | settings))


@pytest.mark.fast
@pytest.mark.parametrize(("n_steps", "n_counted"), [(50, 0), (51, 4)])
def test_the_window_counts_what_ends_within_its_steps_and_nothing_later(
    n_steps, n_counted
):
    # An episode of one trial has exactly 51 steps.
    config = small(evaluation=EvaluationConfig(n_envs=4, n_steps=n_steps))
    agent = start(jax.random.key(0), config).agent
    found = evaluate(jax.random.key(1), agent, config, maps="tile")["tile"]
    assert found.window.n_finished == n_counted
    assert found.episodes.n_finished == 4


@pytest.mark.fast
def test_the_loss_sees_the_same_masks_as_the_player():
    """Before anything is learned the ratio is 1, with masked actions too."""
    config = small(task=("RepeatFirst", "HigherLower"), action_map="random")
    env, key = config.training_env(), jax.random.key(0)
    state, params = start(key, config), draw_params(key, config)

    @jax.jit
    def losses(state):
        _, rollout, _ = collect(key, env, params, state.agent, state.rollout, 20)
        batch = Batch(rollout, rollout.reward, state.rollout.memory)
        return rollout.mask, learn._loss(state.agent, batch, env, config)[1]

    mask, found = losses(state)
    assert not mask.all()
    assert abs(found["loss/approximate_kl"]) < 1e-6
    assert found["loss/clip_fraction"] == 0


def test_the_linear_schedule_ends_with_the_last_minibatch_of_the_last_update():
    rate, n_minibatches = 1e-3, 3 * 2 * 2
    plan = PPOConfig(
        n_epochs=2,
        n_minibatches=2,
        learning_rate=rate,
        learning_rate_schedule="linear",
        max_grad_norm=1e9,
        adam_epsilon=1e-12,
    )
    optimizer = optimizer_of(small(ppo=plan))
    weight = jnp.zeros(())
    state, steps = optimizer.init(weight), []
    for _ in range(n_minibatches + 1):
        change, state = optimizer.update(jnp.ones(()), state)
        steps.append(-float(change))
        weight = optax.apply_updates(weight, change)
    # Adam moves by the rate where the gradient never changes.
    expected = rate * (1 - np.arange(n_minibatches + 1) / n_minibatches)
    np.testing.assert_allclose(steps, expected, rtol=1e-3, atol=1e-9)


@pytest.mark.fast
@pytest.mark.parametrize("memory", ["gru", "lstm", "s5"])
def test_no_program_calls_lapack_which_can_wait_for_itself_for_ever(memory):
    config = small(memory=memory, encoder="frame")

    def run(key):
        state, params = start(key, config), draw_params(key, config)
        of, plan = config.evaluation_env(), config.evaluation
        data = evaluation_inputs(key, 1, config)
        tested = run_evaluation(state.agent, *data, env=of, plan=plan)
        return update(state, params, config), tested

    program = jax.jit(run).lower(jax.random.key(0)).as_text()
    assert "lapack" not in program
    assert "triangular_solve" not in program
