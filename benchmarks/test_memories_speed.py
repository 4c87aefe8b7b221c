"""Speed of the memories at equal numbers of parameters, in one run, taking turns.

Each memory gets the width at which it has nearest to `N_PARAMETERS` weights. A sample
is one environment step: learning is forward and backward over 256 steps of 16
environments, playing is one step of 64 environments. How well they learn at these
widths: `benchmarks/memories.toml`.

    python -m pytest benchmarks/test_memories_speed.py -n 0 -s
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
from timing import in_turns

from freeproj.agents import MEMORIES
from freeproj.agents.memories import make_memory

N_PARAMETERS, N_TIMES, N_BATCH, N_PLAYED = 25_000, 256, 16, 64
SETTINGS = {"n_layers": 2, "window": 32}


def test_memories_at_equal_parameters():
    memories = {name: nearest(name) for name in MEMORIES}
    learning = in_turns({name: learner(*each) for name, each in memories.items()})
    playing = in_turns({name: player(*each) for name, each in memories.items()})
    print("\nmemory        width  parameters  learning k/s  playing k/s")
    for name, (width, memory) in memories.items():
        rates = (
            N_TIMES * N_BATCH / learning[name] / 1e3,
            N_PLAYED / playing[name] / 1e3,
        )
        print(
            f"{name:<12} {width:>6} {count(memory):>11,} "
            f"{rates[0]:>13.0f} {rates[1]:>12.0f}"
        )


def nearest(name):
    """Returns width and memory, of the width that comes nearest to the wanted size."""
    make = functools.partial(make_memory, jax.random.key(0), name)
    counts = {
        size: count(jax.eval_shape(lambda size=size: sized(make, size)))
        for size in range(16, 129, 4)
    }
    best = min(counts, key=lambda size: abs(counts[size] - N_PARAMETERS))
    return best, sized(make, best)


def sized(make, size):
    return make(size, state_size=size, **SETTINGS)


def count(memory):
    return sum(leaf.size for leaf in jax.tree.leaves(memory))


def learner(width, memory):
    xs = jax.random.normal(jax.random.key(1), (N_TIMES, N_BATCH, width))
    resets = jax.random.bernoulli(jax.random.key(2), 0.01, (N_TIMES, N_BATCH))

    @eqx.filter_jit
    def gradient(memory):
        def loss(memory):
            state = memory.initial_state(N_BATCH)
            return jnp.square(memory.sequence(xs, state, resets)[0]).mean()

        return jax.grad(loss)(memory)

    return lambda: gradient(memory)


def player(width, memory):
    x = jax.random.normal(jax.random.key(1), (N_PLAYED, width))
    resets = jnp.zeros(N_PLAYED, bool)
    step = eqx.filter_jit(type(memory).step)
    state = memory.initial_state(N_PLAYED)
    return lambda: step(memory, x, state, resets)
