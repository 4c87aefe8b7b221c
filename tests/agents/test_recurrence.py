"""The linear recurrence against complex NumPy, and its two loops against each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from freeproj.agents.recurrence import recur

LOOPS = (True, False)  # one step after the other, or in a tree


def problem(key, times=23, batch=3, size=4, share_of_resets=0.2):
    keys = jax.random.split(key, 7)
    angle = jax.random.uniform(keys[0], (size,), maxval=jnp.pi)
    factors = (0.9 * jnp.cos(angle), 0.9 * jnp.sin(angle))
    inputs = tuple(jax.random.normal(k, (times, batch, size)) for k in keys[1:3])
    state = tuple(jax.random.normal(k, (batch, size)) for k in keys[3:5])
    resets = jax.random.bernoulli(keys[5], share_of_resets, (times, batch, 1))
    return factors, inputs, state, 1.0 - resets


def loop(factors, inputs, state, keep):
    """The recurrence in complex double precision, one step after the other."""
    factors, inputs, state = (
        np.asarray(re, complex) + 1j * np.asarray(im)
        for re, im in (factors, inputs, state)
    )
    states = []
    for drive, kept in zip(inputs, np.asarray(keep), strict=True):
        state = factors * kept * state + drive
        states.append(state)
    return np.stack(states)


@pytest.mark.parametrize("in_turn", LOOPS)
@pytest.mark.parametrize("times", [1, 23])
def test_states_are_those_of_the_complex_loop(getkey, in_turn, times):
    arguments = problem(getkey(), times=times)
    re, im = recur(*arguments, in_turn)
    expected = loop(*arguments)
    np.testing.assert_allclose(re, expected.real, atol=1e-5)
    np.testing.assert_allclose(im, expected.imag, atol=1e-5)


def test_both_loops_have_the_same_gradients(getkey):
    *arguments, keep = problem(getkey())
    weights = jax.random.normal(getkey(), (2, 23, 3, 4))

    def loss(factors, inputs, state, in_turn):
        re, im = recur(factors, inputs, state, keep, in_turn)
        return jnp.sum(weights[0] * re + weights[1] * im**2)

    first, second = (jax.grad(loss, (0, 1, 2))(*arguments, each) for each in LOOPS)
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("in_turn", LOOPS)
def test_gradient_is_the_limit_of_differences(getkey, in_turn):
    with jax.enable_x64(True):
        arguments = problem(getkey(), times=7)
        *arguments, keep = jax.tree.map(lambda x: x.astype(jnp.float64), arguments)
        states = jax.jit(lambda *each: recur(*each, keep, in_turn))
        check_grads(states, arguments, order=1, modes=["rev"])


def test_nothing_passes_a_reset(getkey):
    factors, inputs, state, _ = problem(getkey())
    keep = jnp.ones((23, 3, 1)).at[10].set(0)

    def after(inputs, state):
        return recur(factors, inputs, state, keep)[0][10:].sum()

    d_inputs, d_state = jax.grad(after, (0, 1))(inputs, state)
    assert all((part[:10] == 0).all() for part in d_inputs)
    assert all((part == 0).all() for part in d_state)
    assert (d_inputs[0][10:] != 0).all()


def test_automatic_choice_on_a_cpu_is_the_sequential_loop(getkey):
    arguments = problem(getkey())
    compiled = jax.jit(recur, static_argnums=4)
    chosen, sequential = (
        compiled.lower(*arguments, in_turn).as_text() for in_turn in (None, True)
    )
    assert ("while" in chosen) == (jax.default_backend() == "cpu")
    assert "while" in sequential
