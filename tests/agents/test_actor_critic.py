"""The agent: sizes and initial weights, replay, masks, and what memory can learn."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from freeproj.agents import MEMORIES, ActorCritic
from freeproj.projection.spaces import Box, Discrete

TIMES, BATCH, FEATURES = 13, 3, 5
SMALL = {"embedding_size": 8, "hidden_size": 6, "head_size": 7, "n_layers": 2}
SPACES = {"discrete": Discrete(4), "continuous": Box((-1.0, -1.0), (1.0, 1.0))}
CASES = [*itertools.product(("gru", "s5"), SPACES), ("transformer", "discrete")]


def small(key, memory="gru", space="discrete"):
    return ActorCritic.create(key, FEATURES, SPACES[space], memory, **SMALL)


def rollout(key):
    key_inputs, key_resets = jax.random.split(key)
    inputs = jax.random.normal(key_inputs, (TIMES, BATCH, FEATURES))
    return inputs, jax.random.bernoulli(key_resets, 0.2, (TIMES, BATCH))


@pytest.mark.parametrize(("memory", "space"), CASES)
def test_replaying_a_rollout_gives_ratio_one_and_the_stored_values(
    getkey, memory, space
):
    agent = small(getkey(), memory, space)
    inputs, resets = rollout(getkey())
    none = jnp.zeros((TIMES, BATCH), bool)
    start = agent.sequence(inputs, agent.initial_state(BATCH), none)[2]
    state = start
    noise = agent.noise(getkey(), (TIMES, BATCH))
    step = jax.jit(ActorCritic.step)
    stored = []
    for now in zip(inputs, resets, noise, strict=True):
        policy, value, state = step(agent, now[0], state, now[1])
        action = policy.sample_with(now[2])
        stored.append((action, policy.log_prob(action), value))
    actions, log_probs, values = map(jnp.stack, zip(*stored, strict=True))
    policy, replayed, last = jax.jit(ActorCritic.sequence)(agent, inputs, start, resets)
    ratios = jnp.exp(policy.log_prob(actions) - log_probs)
    np.testing.assert_allclose(ratios, 1, atol=1e-5)
    np.testing.assert_allclose(replayed, values, atol=1e-5)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), last, state)


def test_every_leaf_is_an_array(getkey):
    for memory, space in CASES:
        leaves = jax.tree.leaves(small(getkey(), memory, space))
        assert all(isinstance(leaf, jax.Array) for leaf in leaves)


def test_defaults_are_the_sizes_of_the_paper():
    make = functools.partial(ActorCritic.create, jax.random.key(0), 128, Discrete(4))
    gru, s5 = (
        jax.eval_shape(functools.partial(make, memory)) for memory in ("gru", "s5")
    )
    for agent in (gru, s5):
        sizes = [layer.weight.shape for layer in agent.embedding]
        assert sizes == [(128, 128), (128, 256)]
        for head, n_outputs in ((agent.actor, 4), (agent.critic, 1)):
            sizes = [layer.weight.shape for layer in head]
            assert sizes == [(256, 128), (128, 128), (128, n_outputs)]
    assert gru.memory.memory_weight.shape == (256, 3 * 256)
    assert len(s5.memory.layers) == 4
    assert s5.memory.layers[0].input_re.shape == (256, 128)  # 128 conjugate pairs


def test_initial_layers_are_orthogonal_with_the_gains_of_the_paper(getkey):
    agent = small(getkey())
    gains = (
        (agent.embedding, (np.sqrt(2), np.sqrt(2))),
        (agent.actor, (2, 2, 0.01)),
        (agent.critic, (2, 2, 1)),
    )
    for layers, expected in gains:
        for layer, gain in zip(layers, expected, strict=True):
            values = jnp.linalg.svd(layer.weight, compute_uv=False)
            np.testing.assert_allclose(values, gain, rtol=1e-4)
            assert (layer.bias == 0).all()


def test_first_policy_is_almost_uniform(getkey):
    agent = small(getkey())
    inputs, resets = rollout(getkey())
    policy, _, _ = agent.sequence(inputs, agent.initial_state(BATCH), resets)
    np.testing.assert_allclose(policy.entropy(), np.log(4), atol=1e-3)


@pytest.mark.fast
def test_masked_actions_are_never_taken_in_step_and_sequence(getkey):
    agent = small(getkey())
    inputs, resets = rollout(getkey())
    start = agent.initial_state(BATCH)
    mask = jnp.array([True, False, True, False])
    whole = jnp.broadcast_to(mask, (TIMES, BATCH, 4))
    policy, _, _ = agent.sequence(inputs, start, resets, whole)
    first, _, _ = agent.step(inputs[0], start, resets[0], whole[0])
    for each in (policy, first):
        forbidden = jnp.full(each.logits.shape[:-1], 1)
        assert (jnp.exp(each.log_prob(forbidden)) == 0).all()
    np.testing.assert_allclose(first.logits, policy.logits[0], rtol=1e-4)


def test_mask_for_continuous_actions_is_refused(getkey):
    agent = small(getkey(), space="continuous")
    inputs, resets = rollout(getkey())
    mask = jnp.ones((BATCH, 2), bool)
    with pytest.raises(ValueError, match="`mask` is for discrete actions only"):
        agent.step(inputs[0], agent.initial_state(BATCH), resets[0], mask)


@pytest.mark.slow
def test_several_agents_are_drawn_and_run_under_vmap(getkey):
    keys = jax.random.split(getkey(), 2)
    inputs, resets = rollout(getkey())

    def value(key):
        agent = small(key, "s5")
        return agent.sequence(inputs, agent.initial_state(BATCH), resets)[1]

    together = jax.vmap(value)(keys)
    np.testing.assert_allclose(together[1], value(keys[1]), atol=1e-5)
    assert abs(together[0] - together[1]).max() > 1e-2


@pytest.mark.parametrize(
    "memory",
    [
        each if each in ("gru", "s5") else pytest.param(each, marks=pytest.mark.slow)
        for each in MEMORIES
    ],
)
def test_memory_learns_to_recall_a_bit_after_twenty_steps(getkey, memory):
    delay, batch = 20, 64
    agent = ActorCritic.create(
        getkey(), 2, Discrete(2), memory, embedding_size=16, hidden_size=32, n_layers=2
    )
    optimiser = optax.adam(3e-3)
    none = jnp.zeros((delay, batch), bool)

    def loss(agent, bits):
        # The bit is shown at the first step only; the second feature is always 1.
        inputs = jnp.zeros((delay, batch, 2)).at[0, :, 0].set(2.0 * bits - 1)
        inputs = inputs.at[..., 1].set(1.0)
        policy, _, _ = agent.sequence(inputs, agent.initial_state(batch), none)
        return -policy.log_prob(jnp.broadcast_to(bits, (delay, batch)))[-1].mean()

    def update(carry, key):
        agent, moments = carry
        bits = jax.random.bernoulli(key, shape=(batch,)).astype(int)
        value, gradient = jax.value_and_grad(loss)(agent, bits)
        updates, moments = optimiser.update(gradient, moments)
        return (optax.apply_updates(agent, updates), moments), value

    keys = jax.random.split(getkey(), 300)
    carry = (agent, optimiser.init(agent))
    losses = jax.jit(lambda carry: jax.lax.scan(update, carry, keys)[1])(carry)
    assert abs(losses[0] - np.log(2)) < 0.05
    assert losses[-20:].mean() < 0.05
