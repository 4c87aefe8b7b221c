"""Haar matrices, all words, applied words: against what one would write otherwise.

python -m pytest benchmarks/test_matrices_speed.py -n 0 -s
"""

import resource

import jax
import jax.numpy as jnp
import numpy as np
import scipy.stats
from timing import best, compare

from freeproj.projection import matrices, words

DIM = 128


def test_haar_against_scipy_in_a_loop():
    rng = np.random.default_rng(0)

    def loop():
        return [scipy.stats.ortho_group.rvs(DIM, random_state=rng) for _ in range(256)]

    ours = best(lambda: matrices.haar(jax.random.key(0), 256, DIM))
    compare("256 Haar matrices, d = 128, against scipy", ours, best(loop, repeats=3), 3)


def test_all_words_against_multiplying_each_out():
    bases = matrices.haar(jax.random.key(0), 2, DIM)
    family = jnp.asarray(words.enumerate_words(2, 8))
    ours = best(jax.jit(lambda b: matrices.block_all(b, 8, DIM)), bases)
    each = jax.jit(jax.vmap(matrices.represent, in_axes=(0, None)))
    compare("all 256 words of (2, 8)", ours, best(each, family, bases), 3)


def test_memory_of_sampling_from_many_words():
    def grown(length):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        draw = jax.jit(jax.vmap(lambda key: words.sample(key, 2, length)))
        draw(jax.random.split(jax.random.key(0), 1000)).block_until_ready()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    few, many = grown(8), grown(30)
    print(f"\npeak memory grew by {few} KiB for 2^8 words, by {many} KiB more for 2^30")
