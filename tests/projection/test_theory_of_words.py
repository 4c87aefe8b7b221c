"""What words can and cannot do for an agent: the statements of docs/theory.md."""

import itertools

import numpy as np
import pytest

SUITS = 4
ORDERS = np.array(list(itertools.permutations(range(SUITS))))


def haar(rng, n_matrices, dim):
    q, r = np.linalg.qr(rng.standard_normal((n_matrices, dim, dim)))
    return q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]


def matrices_of(word, n_draws, dim, seed=0):
    """λ(w) for fresh bases, spelled as `aab`."""
    rng, product = np.random.default_rng(seed), np.eye(dim)
    bases = {letter: haar(rng, n_draws, dim) for letter in sorted(set(word))}
    for letter in word:
        product = product @ bases[letter]
    return product


def share_of_suits_named(matrices):
    """How often the assignment with the largest coordinates names the right suit."""
    sums = [matrices[:, order, range(SUITS)].sum(axis=1) for order in ORDERS]
    return (ORDERS[np.argmax(sums, axis=0)] == np.arange(SUITS)).mean(axis=1)


@pytest.mark.parametrize("word", ["a", "aab", "aabb"])
def test_without_reward_suits_are_named_by_chance(word):
    right = share_of_suits_named(matrices_of(word, 2500, 16))
    assert abs(right.mean() - 0.25) < 4 * right.std() / np.sqrt(len(right))


@pytest.mark.parametrize(("word", "share"), [("aa", 0.336), ("abab", 0.332)])
def test_squares_leak_the_suit(word, share):
    right = share_of_suits_named(matrices_of(word, 2500, 16))
    error = right.std() / np.sqrt(len(right))
    assert abs(right.mean() - share) < 4 * error + 0.008  # theirs has an error too
    assert right.mean() > 0.25 + 6 * error


def diagonal_correlation(v, w):
    dim = v.shape[-1]
    diagonals = (np.diagonal(each, axis1=1, axis2=2) for each in (v, w))
    products = dim * np.prod(list(diagonals), axis=0).mean(axis=1)
    return products.mean(), products.std() / np.sqrt(len(products))


def test_rotated_words_have_diagonals_of_correlation_one_over_d():
    rng, dim = np.random.default_rng(0), 8
    a, b, c = (haar(rng, 6000, dim) for _ in range(3))
    mean, error = diagonal_correlation(a @ b, b @ a)
    assert abs(mean - 1 / dim) < 4 * error
    mean, error = diagonal_correlation(a @ b, a @ c)
    assert abs(mean) < 4 * error


def gradients(rng, n, length, dim=16, n_envs=32, n_rollouts=80):
    """Batch gradients of a linear readout, with bases drawn anew for each rollout."""
    readout = np.ones(dim) / np.sqrt(dim)
    x = np.random.default_rng(7).standard_normal((n_envs, dim))
    found = []
    for _ in range(n_rollouts):
        bases, product = haar(rng, n, dim), np.eye(dim)
        for letters in rng.integers(n, size=(length, n_envs)):
            product = product @ bases[letters]
        seen = np.einsum("bij,bj->bi", product, x)
        found.append((seen @ readout)[:, None] * seen / n_envs)
    return np.sum(found, axis=1)


@pytest.mark.parametrize(("n", "length"), [(8, 2), (4, 3), (2, 6)])
def test_gradients_have_the_mean_and_variance_of_one_letter_words(n, length):
    rng, dim = np.random.default_rng(length), 16
    plain, words = gradients(rng, 64, 1), gradients(rng, n, length)
    errors = np.sqrt((plain.var(axis=0) + words.var(axis=0)) / len(words))
    assert (np.abs(plain.mean(axis=0) - words.mean(axis=0)) < 4.5 * errors).all()
    ratio = words.var(axis=0).sum() / plain.var(axis=0).sum()
    # Order 1/d, and four standard errors of a ratio of two variances.
    assert abs(ratio - 1) < 4 / dim + 4 * np.sqrt(4 / (len(words) * dim))
