"""The two laws of actions: normalised, exact under masks, with finite gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from freeproj.agents.policies import Categorical, Gaussian


def sample(policy, key):
    """One action from each distribution."""
    if isinstance(policy, Categorical):
        return policy.sample_with(jax.random.gumbel(key, policy.logits.shape))
    return policy.sample_with(jax.random.normal(key, policy.mean.shape))


def test_probabilities_sum_to_one(getkey):
    policy = Categorical(5 * jax.random.normal(getkey(), (7, 4)))
    actions = jnp.broadcast_to(jnp.arange(4)[:, None], (4, 7))
    total = jnp.exp(jax.vmap(policy.log_prob)(actions)).sum(axis=0)
    np.testing.assert_allclose(total, 1, rtol=1e-5)


def test_samples_follow_the_probabilities(getkey):
    logits = jnp.array([0.0, 1.0, -1.0, 2.0])
    policy = Categorical(jnp.broadcast_to(logits, (20_000, 4)))
    counts = np.bincount(sample(policy, getkey()), minlength=4)
    expected = 20_000 * jax.nn.softmax(logits)
    assert (np.abs(counts - expected) < 4 * np.sqrt(expected)).all()


def test_uniform_law_has_the_largest_entropy(getkey):
    np.testing.assert_allclose(
        Categorical(jnp.zeros(8)).entropy(), np.log(8), rtol=1e-6
    )
    other = Categorical(jax.random.normal(getkey(), (20, 8)))
    assert (other.entropy() < np.log(8)).all()


def test_entropy_is_the_mean_of_minus_log_probability(getkey):
    log_std = jnp.array([0.3, -0.5])
    for policy in (
        Categorical(jnp.broadcast_to(jnp.array([0.0, 1.0, -2.0]), (40_000, 3))),
        Gaussian(jnp.zeros((40_000, 2)), log_std),
    ):
        surprise = -policy.log_prob(sample(policy, getkey()))
        error = surprise.std() / 200
        assert abs(surprise.mean() - policy.entropy()[0]) < 4 * error


MASK = jnp.array([[True, False, True], [False, True, False], [True, True, True]])


@pytest.mark.fast
def test_masked_actions_have_probability_zero(getkey):
    policy = Categorical(jnp.array([0.0, 9.0, 1.0]) + jnp.zeros((3, 3))).masked(MASK)
    probabilities = jnp.exp(jax.nn.log_softmax(policy.logits))
    assert (probabilities[~MASK] == 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    keys = jax.random.split(getkey(), 2000)
    draws = jax.vmap(lambda key: sample(policy, key))(keys)
    assert jnp.take_along_axis(MASK[None], draws[..., None], axis=-1).all()


@pytest.mark.fast
def test_a_mask_conditions_the_law(getkey):
    logits = jax.random.normal(getkey(), (3,))
    masked = Categorical(logits).masked(jnp.array([True, False, True]))
    fewer = Categorical(logits[jnp.array([0, 2])])
    actions = jnp.array([0, 2])
    np.testing.assert_allclose(
        [masked.log_prob(a) for a in actions],
        [fewer.log_prob(a) for a in jnp.array([0, 1])],
        rtol=1e-5,
    )
    np.testing.assert_allclose(masked.entropy(), fewer.entropy(), rtol=1e-5)


def test_gradients_under_masks_are_finite_and_spare_masked_actions():
    logits = jnp.array([[0.5, 30.0, -1.0], [2.0, 0.0, 1.0], [0.0, 1.0, 2.0]])

    def loss(logits):
        policy = Categorical(logits).masked(MASK)
        return (policy.log_prob(jnp.array([0, 1, 2])) + policy.entropy()).sum()

    gradient = jax.grad(loss)(logits)
    assert jnp.isfinite(gradient).all()
    assert (gradient[~MASK] == 0).all()
    assert (gradient[0, 0] != 0).all()


def test_density_is_that_of_independent_normals(getkey):
    mean = jax.random.normal(getkey(), (6, 3))
    log_std = jnp.array([0.2, -1.0, 0.7])
    actions = jax.random.normal(getkey(), (6, 3))
    policy = Gaussian(mean, log_std)
    laws = scipy.stats.norm(np.asarray(mean), np.exp(np.asarray(log_std)))
    expected = laws.logpdf(np.asarray(actions)).sum(axis=1)
    np.testing.assert_allclose(policy.log_prob(actions), expected, rtol=1e-4)
    np.testing.assert_allclose(policy.entropy(), laws.entropy().sum(axis=1), rtol=1e-5)


def test_gaussian_samples_have_mean_and_spread(getkey):
    policy = Gaussian(jnp.full((10_000, 2), 3.0), jnp.log(jnp.array([0.5, 2.0])))
    samples = sample(policy, getkey())
    np.testing.assert_allclose(samples.mean(axis=0), 3, atol=4 * 2 / 100)
    np.testing.assert_allclose(samples.std(axis=0), [0.5, 2.0], rtol=0.05)


@pytest.mark.parametrize(
    ("policy", "mode"),
    [
        (Categorical(jnp.array([[0.0, 2.0], [1.0, 0.0]])), [1, 0]),
        (Gaussian(jnp.array([[0.5], [2.0]]), jnp.zeros(1)), [[0.5], [2.0]]),
    ],
)
def test_mode_is_the_likeliest_action(policy, mode):
    np.testing.assert_array_equal(policy.mode(), mode)
