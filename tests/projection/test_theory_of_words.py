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


@pytest.mark.parametrize("kind", ["identity", "corner", "random", "traceless"])
def test_rotated_words_correlate_by_the_trace_of_the_readout(kind):
    """(Tr B)²/(d|B|²): 1 for the identity, at most rank/d in general."""
    rng, dim = np.random.default_rng(0), 8
    B = {
        "identity": np.eye(dim),
        "corner": np.diag([1.0] + [0.0] * (dim - 1)),
        "random": rng.standard_normal((dim, dim)) + np.eye(dim),
        "traceless": np.diag([1.0, -1.0] * (dim // 2)),
    }[kind]
    a, b = haar(rng, 8000, dim), haar(rng, 8000, dim)
    v, w = (np.einsum("ij,nij->n", B, each) for each in (a @ b, b @ a))
    expected = np.trace(B) ** 2 / (dim * np.sum(B**2))
    products = v * w / np.mean(v * v)
    error = products.std() / np.sqrt(len(products))
    assert abs(products.mean() - expected) < 4 * error + 1e-9


@pytest.mark.parametrize(("n", "length", "least"), [(64, 1, 0.0), (2, 6, 0.02)])
def test_the_mean_trace_of_a_batch_varies_more_with_long_words(n, length, least):
    """Full rank: the variance is about 1/B + (1 - 1/B)·P(rotation), for any d."""
    rng, dim, batch, n_rollouts = np.random.default_rng(1), 12, 32, 300
    every = list(itertools.product(range(n), repeat=length))
    turned = [min(w[k:] + w[:k] for k in range(length)) for w in every]
    counts = np.unique(turned, axis=0, return_counts=True)[1]
    same = np.sum(counts**2) / len(every) ** 2
    formula = 1 / batch + (1 - 1 / batch) * same
    means = []
    for _ in range(n_rollouts):
        bases, product = haar(rng, n, dim), np.eye(dim)
        for letters in rng.integers(n, size=(length, batch)):
            product = product @ bases[letters]
        means.append(np.trace(product, axis1=1, axis2=2).mean())
    error = np.var(means) * np.sqrt(2 / n_rollouts)
    assert abs(np.var(means) - formula) < 4 * error + 0.01  # powers add a little
    assert np.var(means) > 1 / batch + least


def test_rectangles_of_words_are_trivial():
    """So joint moments of four words differ by O(1) from those of single letters."""
    a, b, c, d = haar(np.random.default_rng(0), 4, 6)
    product = (a @ b) @ (c @ b).T @ (c @ d) @ (a @ d).T
    np.testing.assert_allclose(product, np.eye(6), atol=1e-12)


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
