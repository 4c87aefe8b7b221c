"""Laws of memax's memories as ours; skipped where memax is not installed."""

import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.agents.memories import Memory, make_memory

NAMES = ["LRU", "S6", "FFM", "FART", "DeltaNet"]
SIZE, STEPS, ENVS = 8, 12, 3


def test_nothing_of_memax_is_imported_with_the_adapter():
    code = (
        "import sys, freeproj.adapters.memax; "
        "assert not [m for m in sys.modules if m.split('.')[0] == 'memax']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_memax_is_one_clear_line(monkeypatch, getkey):
    monkeypatch.setitem(sys.modules, "memax", None)
    with pytest.raises(ModuleNotFoundError, match=r"freeproj\[memax\]"):
        make_memory(getkey(), "freeproj.adapters.memax:LRU", SIZE)


@pytest.fixture(params=NAMES)
def memory(request, getkey):
    pytest.importorskip("memax")
    made = make_memory(getkey(), f"freeproj.adapters.memax:{request.param}", SIZE)
    assert isinstance(made, Memory)
    return made


def inputs(getkey):
    xs = jax.random.normal(getkey(), (STEPS, ENVS, SIZE))
    return xs, jax.random.bernoulli(getkey(), 0.3, (STEPS, ENVS))


def test_a_sequence_is_repeated_steps_with_resets_anywhere(memory, getkey):
    xs, resets = inputs(getkey)
    step, state = eqx.filter_jit(type(memory).step), memory.initial_state(ENVS)
    outs = []
    for x, reset in zip(xs, resets, strict=True):
        out, state = step(memory, x, state, reset)
        outs.append(out)
    run = eqx.filter_jit(type(memory).sequence)
    expected, last = run(memory, xs, memory.initial_state(ENVS), resets)
    np.testing.assert_allclose(jnp.stack(outs), expected, atol=2e-5)
    for one, other in zip(jax.tree.leaves(state), jax.tree.leaves(last), strict=True):
        assert one.shape == other.shape
    halves = run(memory, xs[:5], memory.initial_state(ENVS), resets[:5])
    rest, _ = run(memory, xs[5:], halves[1], resets[5:])
    np.testing.assert_allclose(rest, expected[5:], atol=2e-5)


def test_a_reset_forgets_all_that_was_before(memory, getkey):
    xs, _ = inputs(getkey)
    resets = jnp.zeros((STEPS, ENVS), bool).at[6].set(True)
    run = eqx.filter_jit(type(memory).sequence)
    out, _ = run(memory, xs, memory.initial_state(ENVS), resets)
    other, _ = run(memory, xs.at[:6].add(1.0), memory.initial_state(ENVS), resets)
    assert not np.allclose(out[5], other[5])
    np.testing.assert_allclose(out[6:], other[6:], atol=1e-5)
    alone, _ = run(memory, xs[6:], memory.initial_state(ENVS), resets[6:])
    np.testing.assert_allclose(out[6:], alone, atol=1e-5)


def test_all_leaves_are_arrays_and_gradients_are_finite(memory, getkey):
    assert all(map(eqx.is_array, jax.tree.leaves(memory)))
    xs, resets = inputs(getkey)

    def loss(memory):
        out, _ = memory.sequence(xs, memory.initial_state(ENVS), resets)
        return (out**2).mean()

    for leaf in jax.tree.leaves(eqx.filter_jit(eqx.filter_grad(loss))(memory)):
        assert jnp.isfinite(leaf).all()


@pytest.mark.slow
def test_an_agent_with_a_memory_of_memax_trains_and_is_read_back(tmp_path):
    pytest.importorskip("memax")
    import freeproj as fp

    trained = fp.train(
        "smoke", seed=0, memory="freeproj.adapters.memax:LRU", progress=False
    )
    path = trained.save(tmp_path / "lru.npz")
    again = fp.load_agent(path)
    left, right = (jax.tree.leaves(each) for each in (trained.agent, again.agent))
    for one, other in zip(left, right, strict=True):
        np.testing.assert_array_equal(one, other)
