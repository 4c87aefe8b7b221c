"""The GRU against its formula, its steps, and plain automatic differentiation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from freeproj.agents.gated import GRU

TIMES, BATCH, INPUTS, HIDDEN = 19, 3, 5, 6


def problem(key, times=TIMES, batch=BATCH):
    keys = jax.random.split(key, 6)
    gru = GRU.create(keys[0], INPUTS, HIDDEN)
    leaves, tree = jax.tree.flatten(gru)
    # Biases start at zero, where mistakes with them would not show.
    noises = jax.random.split(keys[1], len(leaves))
    leaves = [
        leaf + 0.3 * jax.random.normal(noise, leaf.shape)
        for leaf, noise in zip(leaves, noises, strict=True)
    ]
    xs = jax.random.normal(keys[2], (times, batch, INPUTS))
    state = jax.random.normal(keys[3], (batch, HIDDEN))
    resets = jax.random.bernoulli(keys[4], 0.2, (times, batch))
    return jax.tree.unflatten(tree, leaves), xs, state, resets


def plain(gru, xs, state, resets):
    """The same unit as a scan over single steps, to be differentiated by JAX."""

    def step(state, now):
        output, state = gru.step(now[0], state, now[1])
        return state, output

    state, outputs = jax.lax.scan(step, state, (xs, resets))
    return outputs, state


def test_step_follows_the_formula(getkey):
    gru, xs, h, _ = problem(getkey())
    x, h = np.asarray(xs[0], float), np.asarray(h, float)
    w_r, w_z, w_n = np.split(np.asarray(gru.input_weight, float), 3, axis=1)
    u_r, u_z, u_n = np.split(np.asarray(gru.memory_weight, float), 3, axis=1)
    b_r, b_z, b_n = np.split(np.asarray(gru.bias, float), 3)
    r = 1 / (1 + np.exp(-(x @ w_r + b_r + h @ u_r)))
    z = 1 / (1 + np.exp(-(x @ w_z + b_z + h @ u_z)))
    n = np.tanh(x @ w_n + b_n + r * (h @ u_n + np.asarray(gru.memory_bias)))
    output, state = gru.step(xs[0], jnp.asarray(h, "float32"), jnp.zeros(BATCH, bool))
    np.testing.assert_allclose(output, (1 - z) * n + z * h, atol=1e-6)
    np.testing.assert_array_equal(output, state)


@pytest.mark.parametrize("times", [1, 2, TIMES, 64, 200])
def test_sequence_is_repeated_steps_with_resets_anywhere(getkey, times):
    gru, xs, state, resets = problem(getkey(), times)
    outputs, last = gru.sequence(xs, state, resets)
    expected, expected_last = plain(gru, xs, state, resets)
    np.testing.assert_allclose(outputs, expected, atol=1e-5)
    np.testing.assert_allclose(last, expected_last, atol=1e-5)


def test_a_reset_forgets_before_its_own_input(getkey):
    gru, xs, state, _ = problem(getkey())
    resets = jnp.zeros((TIMES, BATCH), bool).at[7].set(True)
    outputs, _ = gru.sequence(xs, state, resets)
    none = jnp.zeros((TIMES - 7, BATCH), bool)
    fresh, _ = gru.sequence(xs[7:], gru.initial_state(BATCH), none)
    np.testing.assert_allclose(outputs[7:], fresh, atol=1e-6)
    stale, _ = gru.sequence(xs[7:], outputs[6], none)
    assert abs(outputs[7:] - stale).max() > 1e-2


@pytest.mark.parametrize("times", [1, TIMES, 200])
def test_gradient_is_that_of_automatic_differentiation(getkey, times):
    gru, xs, state, resets = problem(getkey(), times)
    weights = jax.random.normal(getkey(), (times, BATCH, HIDDEN))

    def loss(gru, xs, state, sequence):
        outputs, last = sequence(gru, xs, state, resets)
        return jnp.sum(weights * outputs) + jnp.sum(last**2)

    ours, theirs = (
        jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(gradient)])
        for gradient in (
            jax.grad(loss, (0, 1, 2))(gru, xs, state, sequence)
            for sequence in (GRU.sequence, plain)
        )
    )
    assert jnp.linalg.norm(ours - theirs) < 1e-4 * jnp.linalg.norm(theirs)


def test_gradient_is_the_limit_of_differences(getkey):
    with jax.enable_x64(True):
        *arguments, resets = problem(getkey(), times=6)
        arguments = jax.tree.map(lambda x: x.astype(jnp.float64), arguments)
        outputs = jax.jit(lambda gru, xs, state: gru.sequence(xs, state, resets))
        check_grads(outputs, arguments, order=1, modes=["rev"])


def test_gradient_does_not_pass_a_reset(getkey):
    gru, xs, state, _ = problem(getkey())
    resets = jnp.zeros((TIMES, BATCH), bool).at[7].set(True)

    def after(xs, state):
        return gru.sequence(xs, state, resets)[0][7:].sum()

    d_xs, d_state = jax.grad(after, (0, 1))(xs, state)
    assert (d_xs[:7] == 0).all()
    assert (d_state == 0).all()
    assert (d_xs[7:] != 0).all()


@pytest.mark.slow
def test_several_units_run_at_once_under_vmap(getkey):
    keys = jax.random.split(getkey(), 2)
    units = jax.vmap(lambda key: GRU.create(key, INPUTS, HIDDEN))(keys)
    _, xs, state, resets = problem(getkey())

    def gradient(gru):
        return jax.grad(lambda g: g.sequence(xs, state, resets)[0].sum())(gru)

    together = jax.vmap(gradient)(units)
    for index, key in enumerate(keys):
        alone = gradient(GRU.create(key, INPUTS, HIDDEN))
        for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
            np.testing.assert_allclose(a[index], b, rtol=1e-4, atol=1e-4)


def test_memory_weights_start_orthogonal_and_biases_at_zero(getkey):
    gru = GRU.create(getkey(), INPUTS, HIDDEN)
    for block in jnp.split(gru.memory_weight, 3, axis=1):
        np.testing.assert_allclose(block.T @ block, np.eye(HIDDEN), atol=1e-5)
    assert (gru.bias == 0).all()
    assert (gru.memory_bias == 0).all()
