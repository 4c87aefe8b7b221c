"""What every memory must do, whoever wrote it: the laws of the one interface."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.agents import MEMORIES, ActorCritic
from freeproj.agents.memories import make_memory
from freeproj.agents.recurrence import recur_gated
from freeproj.projection.spaces import Discrete

TIMES, BATCH, SIZE = 23, 3, 6
SETTINGS = {"n_layers": 2, "state_size": 8, "window": 5}
OWN = "own_memory:Decay"

EVERY = pytest.mark.parametrize("name", [*MEMORIES, OWN])


@pytest.fixture(autouse=True)
def _own_memory_is_importable(monkeypatch):
    monkeypatch.syspath_prepend("tests/agents")


@functools.cache
def problem(name):
    """A memory, inputs, a state that is not empty, resets anywhere."""

    def draw(keys):
        memory = make_memory(keys[0], name, SIZE, **SETTINGS)
        # Biases start at zero, where mistakes with them would not show.
        memory = jax.tree.map(
            lambda x: x + 0.1 * jnp.sin(jnp.arange(x.size)).reshape(x.shape), memory
        )
        before = jax.random.normal(keys[1], (7, BATCH, SIZE))
        none = jnp.zeros((7, BATCH), bool)
        _, state = memory.sequence(before, memory.initial_state(BATCH), none)
        xs = jax.random.normal(keys[2], (TIMES, BATCH, SIZE))
        return memory, xs, state, jax.random.bernoulli(keys[3], 0.15, (TIMES, BATCH))

    return jax.jit(draw)(jax.random.split(jax.random.key(0), 4))


@eqx.filter_jit
def run(memory, xs, state, resets):
    """Returns outputs and state; from empty memories where no state is given."""
    state = memory.initial_state(xs.shape[1]) if state is None else state
    return memory.sequence(xs, state, resets)


def close(this, other, atol=1e-5):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=atol), this, other)


@EVERY
def test_sequence_is_repeated_steps_with_resets_anywhere(name):
    memory, xs, state, resets = problem(name)
    outputs, last = run(memory, xs, state, resets)
    step = jax.jit(type(memory).step)
    # What a memory holds of an episode that has ended may differ; what it says may not.
    for x, reset, expected in zip(xs, resets, outputs, strict=True):
        output, state = step(memory, x, state, reset)
        close(output, expected)
    none = jnp.zeros(BATCH, bool)
    close(step(memory, xs[0], state, none)[0], step(memory, xs[0], last, none)[0])


@EVERY
def test_a_sequence_cut_in_two_is_the_whole_one(name):
    memory, xs, state, resets = problem(name)
    outputs, _ = run(memory, xs, state, resets)
    first, state = run(memory, xs[:9], state, resets[:9])
    second, _ = run(memory, xs[9:], state, resets[9:])
    close(jnp.concatenate([first, second]), outputs)


@EVERY
def test_a_reset_forgets_before_its_own_input(name):
    memory, xs, state, _ = problem(name)
    resets = jnp.zeros((TIMES, BATCH), bool).at[9].set(True)
    outputs, _ = run(memory, xs, state, resets)
    fresh, _ = run(memory, xs[9:], None, jnp.zeros((TIMES - 9, BATCH), bool))
    close(outputs[9:], fresh)
    stale, _ = run(memory, xs, state, jnp.zeros_like(resets))
    assert abs(outputs[9] - stale[9]).max() > 1e-3


@EVERY
def test_gradient_is_finite_reaches_all_weights_and_stops_at_a_reset(name):
    memory, xs, state, _ = problem(name)
    resets = jnp.zeros((TIMES, BATCH), bool).at[9].set(True)

    def after(memory, xs):
        return jnp.square(memory.sequence(xs, state, resets)[0][9:]).sum()

    of_weights, of_inputs = jax.jit(jax.grad(after, (0, 1)))(memory, xs)
    for leaf in jax.tree.leaves(of_weights):
        assert jnp.isfinite(leaf).all()
        assert (leaf != 0).any()
    assert (of_inputs[:9] == 0).all()
    assert (of_inputs[9:] != 0).any(axis=-1).all()


@EVERY
def test_environments_do_not_see_each_other(name):
    memory, xs, state, resets = problem(name)
    outputs, _ = run(memory, xs, state, resets)
    chosen = jnp.array([2, 0])
    taken = jax.tree.map(lambda leaf: leaf[chosen], state)
    fewer, _ = run(memory, xs[:, chosen], taken, resets[:, chosen])
    close(fewer, outputs[:, chosen])


def seen_by_a_transformer(window):
    """The gradient of a transformer's last output with regard to its inputs."""

    def last_output(xs):
        memory = make_memory(
            jax.random.key(1), "transformer", SIZE, n_layers=1, window=window
        )
        none = jnp.zeros((TIMES, 1), bool)
        outputs, _ = memory.sequence(xs, memory.initial_state(1), none)
        return outputs[-1].sum()

    xs = jax.random.normal(jax.random.key(2), (TIMES, 1, SIZE))
    return jax.jit(jax.grad(last_output))(xs)


@pytest.mark.parametrize("window", [1, 5])
def test_transformer_sees_its_window_and_nothing_before_it(window):
    seen = (seen_by_a_transformer(window) != 0).any(axis=(1, 2))
    np.testing.assert_array_equal(seen, np.arange(TIMES) >= TIMES - window)


def test_both_loops_of_a_gated_recurrence_agree(getkey):
    factors = jax.random.uniform(getkey(), (TIMES, BATCH, SIZE)).at[4].set(0)
    inputs = jax.random.normal(getkey(), (TIMES, BATCH, SIZE))
    state = jax.random.normal(getkey(), (BATCH, SIZE))
    one, other = (
        recur_gated(factors, inputs, state, in_turn) for in_turn in (True, False)
    )
    close(one, other)


def test_a_new_lstm_keeps_what_it_has(getkey):
    lstm = make_memory(getkey(), "lstm", SIZE)
    gates = lstm.bias.reshape(4, SIZE)
    np.testing.assert_array_equal(gates, np.eye(4)[1][:, None] * np.ones(SIZE))


def test_unknown_memory_is_refused_with_the_nearest_name(getkey):
    with pytest.raises(ValueError, match=r"No memory 'lsmt'\. Did you mean `lstm`\?"):
        ActorCritic.create(getkey(), 5, Discrete(2), "lsmt")


def test_a_thing_that_is_no_memory_is_refused(getkey):
    with pytest.raises(ValueError, match="must have initial_state, step and sequence"):
        make_memory(getkey(), "own_memory:nothing", SIZE)


@pytest.mark.parametrize(("size", "heads"), [(6, 1), (64, 2), (100, 2), (256, 8)])
def test_transformer_takes_any_width(size, heads):
    make = functools.partial(make_memory, jax.random.key(0), "transformer", size)
    layer = jax.eval_shape(functools.partial(make, window=3)).layers[0]
    assert layer.distance_bias.shape == (heads, 3)
