"""LSMDP averages: the power of the mean against writing all words out.

Run with `python -m pytest benchmarks/test_lsmdp_speed.py -n 0 -s`. Both sides get the
same solutions and permutations, in the same run; the answers must agree.
"""

import itertools
import time

import numpy as np
from timing import say

from freeproj import lsmdp

LENGTHS = {1: 256, 2: 16, 4: 4, 8: 2}  # length: generators, 256 words each
N_SEEDS = 1000


def draw():
    """Returns z* of every seed and its permutations for every length."""
    rng, space = np.random.default_rng(0), lsmdp.lattice()
    costs = lsmdp.sample_costs(rng, space, N_SEEDS)
    bases = {
        length: rng.permuted(np.broadcast_to(np.arange(16), (N_SEEDS, n, 16)), axis=-1)
        for length, n in LENGTHS.items()
    }
    return lsmdp.solve(space, costs).desirability, bases


def by_powers(z, bases):
    return {length: lsmdp.aggregate(z, bases[length], length) for length in LENGTHS}


def word_by_word(z, bases):
    """The definition: every word's permutation, applied to z*, added up."""
    averages = {length: np.zeros_like(z) for length in LENGTHS}
    for (length, n), seed in itertools.product(LENGTHS.items(), range(N_SEEDS)):
        total = averages[length][seed]
        for word in itertools.product(bases[length][seed], repeat=length):
            permutation = word[0]
            for letter in word[1:]:
                permutation = permutation[letter]
            total[permutation] += z[seed]
        total /= n**length
    return averages


def matrix_by_matrix(z, bases):
    """The formula as it stands: λ(w) as d x d matrices, applied letter by letter."""
    averages = {length: np.zeros_like(z) for length in LENGTHS}
    for (length, n), seed in itertools.product(LENGTHS.items(), range(N_SEEDS)):
        matrices = np.zeros((n, 16, 16))
        np.put_along_axis(matrices, bases[length][seed][:, None, :], 1.0, axis=1)
        for word in itertools.product(matrices, repeat=length):
            vector = z[seed]
            for letter in reversed(word):
                vector = letter @ vector
            averages[length][seed] += vector / n**length
    return averages


def all_words_at_once(z, bases):
    """A batch per length: all words of all seeds as index arrays."""
    averages = {}
    for length, n in LENGTHS.items():
        words = bases[length]
        for _ in range(length - 1):
            grown = np.take_along_axis(
                words[:, :, None], bases[length][:, None], axis=-1
            )
            words = grown.reshape(N_SEEDS, -1, 16)
        places = words + 16 * np.arange(N_SEEDS)[:, None, None]
        weights = np.broadcast_to(z[:, None], words.shape).ravel()
        totals = np.bincount(places.ravel(), weights, minlength=16 * N_SEEDS)
        averages[length] = totals.reshape(N_SEEDS, 16) / n**length
    return averages


def clocked(function, *arguments, repeats):
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function(*arguments)
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def test_powers_against_enumeration():
    z, bases = draw()
    fast, by_power = clocked(by_powers, z, bases, repeats=9)
    print(f"\nLSMDP averages, 4 lengths x {N_SEEDS} seeds, same permutations")
    print(f"  powers of the mean             {1e3 * fast:8.1f} ms")
    for name, enumerate_words, repeats in (
        ("word by word, as matrices", matrix_by_matrix, 1),
        ("word by word, as index rows", word_by_word, 1),
        ("all words of a length at once", all_words_at_once, 3),
    ):
        slow, averages = clocked(enumerate_words, z, bases, repeats=repeats)
        for length in LENGTHS:
            np.testing.assert_allclose(by_power[length], averages[length], rtol=1e-10)
        # At length 1 both must read all 256 permutations: no ratio can be asked for.
        say(f"LSMDP averages, against {name}", slow / fast, "x")


def test_a_hundred_thousand_seeds():
    space = lsmdp.lattice()
    seconds, _ = clocked(lambda: lsmdp.compare_lengths(space, n_seeds=10**5), repeats=1)
    thousand, _ = clocked(lambda: lsmdp.compare_lengths(space, n_seeds=1000), repeats=3)
    say("compare_lengths, 10^5 seeds", seconds, " s", at_most=60)
    say("... a seed, over one of 1000", seconds / thousand / 100, "x", at_most=1.5)
