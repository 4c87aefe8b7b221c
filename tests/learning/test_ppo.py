"""The formulas of PPO: advantages against a plain loop, losses by their identities."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.learning import ppo

TIMES, BATCH = 31, 4


@pytest.fixture
def rollout(getkey):
    rewards, values = jax.random.normal(getkey(), (2, TIMES, BATCH))
    last_value = jax.random.normal(getkey(), (BATCH,))
    dones = jax.random.bernoulli(getkey(), 0.15, (TIMES, BATCH))
    return rewards, values, last_value, dones


def loop(rewards, values, last_value, dones, discount, gae_lambda):
    """The recursion of the paper's appendix, one environment at a time."""
    estimates = np.zeros((TIMES, BATCH))
    for env in range(BATCH):
        advantage, following = 0.0, float(last_value[env])
        for t in reversed(range(TIMES)):
            alive = 0.0 if dones[t, env] else 1.0
            value = float(values[t, env])
            delta = float(rewards[t, env]) + discount * following * alive - value
            advantage = delta + discount * gae_lambda * alive * advantage
            estimates[t, env], following = advantage, value
    return estimates


@pytest.mark.fast
@pytest.mark.parametrize("gae_lambda", [0.0, 0.95, 1.0])
def test_advantages_are_those_of_a_plain_loop(rollout, gae_lambda):
    estimates = ppo.advantages(*rollout, 0.9, gae_lambda)
    np.testing.assert_allclose(estimates, loop(*rollout, 0.9, gae_lambda), atol=1e-5)


@pytest.mark.fast
def test_with_lambda_one_targets_are_discounted_returns(rollout):
    rewards, values, last_value, dones = rollout
    targets = ppo.advantages(*rollout, 0.9, 1.0) + values
    expected, following = np.zeros((TIMES, BATCH)), np.asarray(last_value)
    for t in reversed(range(TIMES)):
        following = np.asarray(rewards[t]) + 0.9 * np.where(dones[t], 0, following)
        expected[t] = following
    np.testing.assert_allclose(targets, expected, atol=1e-5)


@pytest.mark.fast
def test_nothing_after_an_episode_counts(rollout):
    rewards, values, last_value, _ = rollout
    dones = jnp.zeros((TIMES, BATCH), bool).at[10].set(True)
    one = ppo.advantages(rewards, values, last_value, dones, 0.9, 0.95)
    two = ppo.advantages(
        rewards.at[11:].add(5.0), values.at[11:].add(-3.0), last_value, dones, 0.9, 0.95
    )
    np.testing.assert_array_equal(one[:11], two[:11])
    assert (one[11:] != two[11:]).all()


@pytest.mark.fast
def test_value_at_the_end_of_a_collection_counts(rollout):
    rewards, values, last_value, _ = rollout
    never = jnp.zeros((TIMES, BATCH), bool)
    low, high = (
        ppo.advantages(rewards, values, end, never, 0.9, 1.0)
        for end in (last_value, last_value + 1)
    )
    expected = 0.9 ** np.arange(TIMES, 0, -1)[:, None]
    np.testing.assert_allclose(high - low, np.tile(expected, BATCH), atol=1e-5)


def test_normalized_advantages_have_mean_zero_and_variance_one(getkey):
    normal = ppo.normalize(7 + 3 * jax.random.normal(getkey(), (50, 8)))
    np.testing.assert_allclose(normal.mean(), 0, atol=1e-5)
    np.testing.assert_allclose(normal.std(), 1, rtol=1e-5)
    np.testing.assert_array_equal(ppo.normalize(jnp.full((3, 2), 4.0)), 0)


def test_policy_loss_at_ratio_one_is_minus_the_mean_advantage(getkey):
    log_prob, advantages = jax.random.normal(getkey(), (2, TIMES, BATCH))
    loss = ppo.policy_loss(log_prob, log_prob, advantages, 0.2)
    np.testing.assert_allclose(loss, -advantages.mean(), rtol=1e-6)


def test_gradient_at_ratio_one_is_that_of_the_policy_gradient(getkey):
    log_prob, advantages = jax.random.normal(getkey(), (2, TIMES, BATCH))
    gradient = jax.grad(ppo.policy_loss)(log_prob, log_prob, advantages, 0.2)
    np.testing.assert_allclose(gradient, -advantages / advantages.size, rtol=1e-5)


@pytest.mark.fast
@pytest.mark.parametrize(
    ("ratio", "advantage", "moves"),
    [
        (1.5, 1.0, False),  # good and already likelier: no further
        (1.5, -1.0, True),
        (0.5, 1.0, True),
        (0.5, -1.0, False),  # bad and already rarer
        (1.1, 1.0, True),
    ],
)
def test_clipping_stops_only_what_has_gone_far_enough(ratio, advantage, moves):
    gradient = jax.grad(ppo.policy_loss)(
        jnp.log(jnp.array([ratio])), jnp.zeros(1), jnp.array([advantage]), 0.2
    )
    assert (gradient[0] != 0) == moves


def test_value_loss_at_unchanged_values_is_half_the_squared_error(getkey):
    values, targets = jax.random.normal(getkey(), (2, TIMES, BATCH))
    loss = ppo.value_loss(values, values, targets, 0.2)
    np.testing.assert_allclose(loss, 0.5 * ((values - targets) ** 2).mean(), rtol=1e-6)


@pytest.mark.fast
def test_value_loss_takes_the_larger_error():
    old, targets = jnp.zeros(1), jnp.array([1.0])
    # Moved 0.5 towards the target, but only 0.2 of it counts ...
    near = ppo.value_loss(jnp.array([0.5]), old, targets, 0.2)
    np.testing.assert_allclose(near, 0.5 * 0.8**2, rtol=1e-6)
    # ... while a move away counts in full.
    far = ppo.value_loss(jnp.array([-0.5]), old, targets, 0.2)
    np.testing.assert_allclose(far, 0.5 * 1.5**2, rtol=1e-6)


def test_kl_estimate_is_zero_at_ratio_one_and_positive_elsewhere(getkey):
    log_prob = jax.random.normal(getkey(), (TIMES, BATCH))
    assert ppo.approximate_kl(log_prob, log_prob) == 0
    moved = log_prob + 0.1 * jax.random.normal(getkey(), log_prob.shape)
    assert ppo.approximate_kl(moved, log_prob) > 0


def test_kl_estimate_has_the_right_mean(getkey):
    old, new = jnp.log(jnp.array([0.5, 0.3, 0.2])), jnp.log(jnp.array([0.4, 0.4, 0.2]))
    actions = jax.random.categorical(getkey(), old, shape=(100_000,))
    estimate = ppo.approximate_kl(new[actions], old[actions])
    exact = jnp.sum(jnp.exp(old) * (old - new))
    np.testing.assert_allclose(estimate, exact, rtol=0.05)


def test_clip_fraction_counts_ratios_outside_the_range():
    log_ratio = jnp.log(jnp.array([1.0, 1.19, 1.21, 0.79]))
    assert ppo.clip_fraction(log_ratio, jnp.zeros(4), 0.2) == 0.5


def test_explained_variance_is_one_for_perfect_values_and_zero_for_the_mean(getkey):
    targets = jax.random.normal(getkey(), (TIMES, BATCH))
    np.testing.assert_allclose(ppo.explained_variance(targets, targets), 1)
    mean = jnp.full_like(targets, targets.mean())
    np.testing.assert_allclose(ppo.explained_variance(mean, targets), 0, atol=1e-6)
    assert jnp.isnan(ppo.explained_variance(targets, jnp.ones_like(targets)))
