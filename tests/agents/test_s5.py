"""S5 against its formulas in complex double precision, and against its own steps."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from freeproj.agents.linear import S5, S5Layer, hippo_n

TIMES, BATCH, MODEL, STATES, LAYERS = 17, 3, 6, 8, 2


def problem(key, times=TIMES):
    keys = jax.random.split(key, 4)
    s5 = S5.create(keys[0], MODEL, STATES, LAYERS)
    xs = jax.random.normal(keys[1], (times, BATCH, MODEL))
    state = jax.random.normal(keys[2], (BATCH, LAYERS, 2, STATES // 2))
    resets = jax.random.bernoulli(keys[3], 0.2, (times, BATCH))
    return s5, xs, state, resets


def complex_layer(layer, u, x, resets):
    """The layer as the docstring of its module writes it."""
    eigenvalues = layer.decay + 1j * layer.frequency
    factors = jnp.exp(eigenvalues * jnp.exp(layer.log_step))
    b = (layer.input_re + 1j * layer.input_im) * (factors - 1) / eigenvalues
    c = layer.output_re + 1j * layer.output_im
    out = []
    for u_t, reset in zip(u, resets, strict=True):
        x = factors * jnp.where(reset[:, None], 0, x) + u_t @ b
        y = jax.nn.gelu(2 * (x @ c).real + layer.feedthrough * u_t)
        gated = layer.linear(y) * jax.nn.sigmoid(layer.gate(y))
        out.append(u_t + gated)
    return jnp.stack(out), x


def plain(s5, xs, state, resets):
    last = []
    for index, layer in enumerate(s5.layers):
        x = state[:, index, 0] + 1j * state[:, index, 1]
        xs, x = complex_layer(layer, xs, x, resets)
        last.append(jnp.stack([x.real, x.imag], axis=1))
    return xs, jnp.stack(last, axis=1)


def test_hippo_n_is_diagonal_in_its_eigenbasis():
    values, vectors = hippo_n(6)
    i, j = np.indices((6, 6))
    root = np.sqrt((i + 0.5) * (j + 0.5))
    matrix = np.where(i > j, -root, np.where(i < j, root, -0.5))
    np.testing.assert_allclose(vectors * values @ vectors.conj().T, matrix, atol=1e-12)
    np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(6), atol=1e-12)


def test_a_layer_starts_with_half_the_spectrum_of_hippo_n(getkey):
    layer = S5Layer.create(getkey(), MODEL, STATES)
    values, _ = hippo_n(STATES)
    kept = np.asarray(layer.decay) + 1j * np.asarray(layer.frequency)
    both = np.concatenate([kept.conj()[::-1], kept])
    np.testing.assert_allclose(both, values, atol=1e-5)


def test_initial_matrices_are_real_ones_in_the_eigenbasis(getkey):
    layer = S5Layer.create(getkey(), MODEL, STATES)
    _, vectors = hippo_n(STATES)
    half = vectors[:, STATES // 2 :]
    b = np.asarray(layer.input_re) + 1j * np.asarray(layer.input_im)
    # A real B has B V̄ = conj(B V), so both halves together give B back.
    restored = 2 * (b @ half.T).real
    np.testing.assert_allclose(restored @ half.conj(), b, atol=1e-5)


def test_initial_weights_have_variance_one_over_fan_in(getkey):
    layer = S5Layer.create(getkey(), model_size=64, state_size=256)
    b = layer.input_re**2 + layer.input_im**2
    assert abs(b.mean() * 64 - 1) < 0.1
    steps = jnp.exp(layer.log_step)
    assert 0.001 <= steps.min() < 0.002
    assert 0.08 < steps.max() <= 0.1


def test_output_matrix_starts_as_small_as_that_of_popjaxrl(getkey):
    layer = S5Layer.create(getkey(), model_size=256, state_size=256)
    for part in (layer.output_re, layer.output_im):
        assert abs(part.std() * 256 - 1) < 0.02


def test_zero_order_hold_is_exact_even_for_small_steps(getkey):
    layer = S5Layer.create(getkey(), MODEL, STATES)
    layer = eqx.tree_at(lambda each: each.log_step, layer, jnp.log(jnp.full(4, 1e-4)))
    (re, im), (b_re, b_im) = layer.discretize()
    values = np.asarray(layer.decay, float) + 1j * np.asarray(layer.frequency, float)
    factors = np.exp(values * np.exp(np.asarray(layer.log_step, float)))
    b = np.asarray(layer.input_re, float) + 1j * np.asarray(layer.input_im, float)
    b = b * (factors - 1) / values
    np.testing.assert_allclose(np.asarray(re) + 1j * np.asarray(im), factors, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(b_re) + 1j * np.asarray(b_im), b, rtol=1e-5)


def test_only_clipped_states_never_grow(getkey):
    s5 = S5.create(getkey(), MODEL, STATES, LAYERS, clip_eigenvalues=True)
    growing = eqx.tree_at(
        lambda each: each.decay, s5.layers[0], jnp.full(STATES // 2, 3.0)
    )
    for clip in (False, True):
        re, im = dataclasses.replace(growing, clip=clip).discretize()[0]
        assert ((re**2 + im**2 < 1) == clip).all()
    xs, state = jnp.ones((2000, 1, MODEL)), s5.initial_state(1)
    clipped = eqx.tree_at(lambda each: each.layers, s5, (growing, s5.layers[1]))
    outputs, _ = clipped.sequence(xs, state, jnp.zeros((2000, 1), bool))
    assert jnp.isfinite(outputs).all()


def test_sequence_is_the_complex_formula(getkey):
    arguments = problem(getkey())
    outputs, last = S5.sequence(*arguments)
    expected, expected_last = plain(*arguments)
    np.testing.assert_allclose(outputs, expected, atol=1e-5)
    np.testing.assert_allclose(last, expected_last, atol=1e-5)


@pytest.mark.parametrize("times", [1, TIMES, 200])
def test_sequence_is_repeated_steps_with_resets_anywhere(getkey, times):
    s5, xs, state, resets = problem(getkey(), times)
    outputs, last = s5.sequence(xs, state, resets)
    step = jax.jit(S5.step)
    for x, reset, expected in zip(xs, resets, outputs, strict=True):
        output, state = step(s5, x, state, reset)
        np.testing.assert_allclose(output, expected, atol=1e-5)
    np.testing.assert_allclose(last, state, atol=1e-5)


def test_a_reset_forgets_before_its_own_input(getkey):
    s5, xs, state, _ = problem(getkey())
    resets = jnp.zeros((TIMES, BATCH), bool).at[7].set(True)
    outputs, _ = s5.sequence(xs, state, resets)
    none = jnp.zeros((TIMES - 7, BATCH), bool)
    fresh, _ = s5.sequence(xs[7:], s5.initial_state(BATCH), none)
    np.testing.assert_allclose(outputs[7:], fresh, atol=1e-6)
    stale, _ = s5.sequence(xs[7:], state, none)
    assert abs(outputs[7:] - stale).max() > 1e-3


def test_gradient_is_that_of_automatic_differentiation(getkey):
    s5, xs, state, resets = problem(getkey())
    weights = jax.random.normal(getkey(), (TIMES, BATCH, MODEL))

    def loss(s5, xs, state, sequence):
        outputs, last = sequence(s5, xs, state, resets)
        return jnp.sum(weights * outputs) + jnp.sum(last**2)

    ours, theirs = (
        jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(gradient)])
        for gradient in (
            jax.jit(jax.grad(loss, (0, 1, 2)), static_argnums=3)(s5, xs, state, each)
            for each in (S5.sequence, plain)
        )
    )
    assert jnp.linalg.norm(ours - theirs) < 1e-4 * jnp.linalg.norm(theirs)


def test_gradient_is_the_limit_of_differences(getkey):
    with jax.enable_x64(True):
        *arguments, resets = problem(getkey(), times=5)
        arguments = jax.tree.map(lambda x: x.astype(jnp.float64), arguments)
        outputs = jax.jit(lambda s5, xs, state: s5.sequence(xs, state, resets))
        check_grads(outputs, arguments, order=1, modes=["rev"])


def test_odd_state_size_is_refused(getkey):
    with pytest.raises(ValueError, match=r"even and positive .* got 7"):
        S5.create(getkey(), MODEL, 7, LAYERS)
