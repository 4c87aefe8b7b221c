"""Laws of random bases and of the matrices of words."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freeproj.projection import matrices, words

N, DIM = 3, 5
LETTERS = st.integers(-N, N).filter(bool)
WORDS = st.lists(LETTERS, min_size=1, max_size=10)

HAAR = matrices.haar(jax.random.key(0), N, DIM)
PERMUTATIONS = matrices.permutations(jax.random.key(1), N, DIM)
BASES = [pytest.param(HAAR, id="haar"), pytest.param(PERMUTATIONS, id="permutations")]


def matrix_of(word, bases):
    """The plain twin: multiplies dense matrices letter by letter."""
    dense = np.stack([as_matrix(each) for each in bases])
    factors = [dense[k - 1] if k > 0 else dense[-k - 1].T for k in word]
    return functools.reduce(np.matmul, factors, np.eye(dense.shape[1]))


def as_matrix(element):
    """U[σ(j), j] = 1 for the row of a permutation σ; a matrix as it is."""
    return np.eye(len(element))[:, element] if element.ndim == 1 else element


@pytest.mark.fast
@pytest.mark.parametrize("bases", BASES)
@settings(deadline=None, max_examples=40)
@given(v=WORDS, w=WORDS)
def test_representation_is_a_homomorphism(bases, v, w):
    v, w = np.array(v), np.array(w)
    product = matrices.represent(np.concatenate([v, w]), bases)
    expected = as_matrix(matrices.represent(v, bases)) @ as_matrix(
        matrices.represent(w, bases)
    )
    np.testing.assert_allclose(as_matrix(product), expected, atol=1e-5)


@pytest.mark.fast
@pytest.mark.parametrize("bases", BASES)
@settings(deadline=None, max_examples=40)
@given(word=WORDS)
def test_inverse_words_are_transposes_and_reduction_changes_nothing(bases, word):
    word = np.array(word)
    direct = as_matrix(matrices.represent(word, bases))
    inverse = as_matrix(matrices.represent(words.inverse(word), bases))
    reduced = as_matrix(matrices.represent(words.reduce(word), bases))
    np.testing.assert_allclose(inverse, direct.T, atol=1e-5)
    np.testing.assert_allclose(reduced, direct, atol=1e-5)
    np.testing.assert_allclose(direct, matrix_of(word, bases), atol=1e-5)


@pytest.mark.parametrize("bases", BASES)
def test_traced_words_give_what_concrete_words_give(bases):
    family = words.enumerate_words(N, 3, inverses=True)
    traced = jax.jit(jax.vmap(matrices.represent, in_axes=(0, None)))(family, bases)
    for word, element in zip(family, traced, strict=True):
        np.testing.assert_allclose(
            as_matrix(element), matrix_of(word, bases), atol=1e-5
        )


@pytest.mark.fast
@pytest.mark.parametrize("length", [1, 4, 16])
def test_words_of_orthogonal_matrices_are_orthogonal(getkey, length):
    bases = matrices.haar(getkey(), 4, 128)
    product = matrices.represent(words.sample(getkey(), 4, length), bases)
    assert product.dtype == jnp.float32
    assert jnp.abs(product @ product.T - jnp.eye(128)).max() < 1e-5


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_haar_matrices_are_orthogonal_in_every_dimension(getkey, dim):
    drawn = np.asarray(matrices.haar(getkey(), 20, dim))
    error = drawn @ drawn.transpose(0, 2, 1) - np.eye(dim)
    assert np.abs(error).max() < 1e-5


@pytest.mark.fast
def test_haar_law_has_the_signs_that_plain_qr_lacks(getkey):
    # Uncorrected QR: first entries all of one sign, far-off traces, determinant ±1.
    n, dim = 200, 32
    drawn = np.asarray(matrices.haar(getkey(), n, dim))
    assert 0.3 < (drawn[:, 0, 0] < 0).mean() < 0.7
    assert abs(np.sqrt(n) * np.trace(drawn, axis1=1, axis2=2).mean()) < 5
    assert abs(np.linalg.det(drawn.astype(float)).mean()) < 0.36


@pytest.mark.parametrize("dim", [3, 6])
def test_haar_law_does_not_change_under_rotations(getkey, dim):
    # Second moments of entries, in the corners that the algorithm treats differently,
    # and mixed moments E U_ii U_jj = E U_ij U_kl = 0.
    n = 4000
    drawn = np.asarray(matrices.haar(getkey(), n, dim), float)
    variances = (drawn**2).mean(axis=0)
    spread = 5 * np.sqrt(2 / n) / dim
    np.testing.assert_allclose(variances, 1 / dim, atol=spread)
    flat = drawn.reshape(n, -1)
    products = flat.T @ flat / n - np.diag(variances.ravel())
    assert np.abs(products).max() < 6 / (np.sqrt(n) * dim)


def test_traces_of_words_have_their_exact_means_on_orthogonal_matrices(getkey):
    n, dim = 4000, 6
    a, b = np.asarray(matrices.haar(getkey(), 2 * n, dim), float).reshape(
        2, n, dim, dim
    )
    transpose = (0, 2, 1)

    def check(products, expected):
        traces = np.trace(products, axis1=1, axis2=2) / dim
        error = traces.std() / np.sqrt(n)
        assert abs(traces.mean() - expected) < 4 * error

    check(a, 0)
    check(a @ b, 0)
    check(a @ a, 1 / dim)
    check(a @ b @ a.transpose(transpose) @ b.transpose(transpose), 1 / dim**2)


def test_traces_of_words_have_their_exact_means_on_permutations(getkey):
    n, dim = 4000, 6
    drawn = matrices.permutations(getkey(), 2 * n, dim)
    pairs = drawn.reshape(n, 2, dim)

    def fixed_points(word):
        images = jax.vmap(matrices.represent, in_axes=(None, 0))(jnp.array(word), pairs)
        return np.asarray((images == jnp.arange(dim)).sum(axis=1), float)

    divisors = {1: 1, 2: 2, 3: 2, 4: 3}
    expected = {(1,) * power: count for power, count in divisors.items()}
    expected[(1, 2, -1, -2)] = dim / (dim - 1)
    for word, mean in expected.items():
        count = fixed_points(word)
        assert abs(count.mean() - mean) < 4 * count.std() / np.sqrt(n)


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_all_words_are_represented_in_lexicographic_order(length):
    table = matrices.block_all(HAAR, length, DIM)
    family = words.enumerate_words(N, length)
    assert len(table) == len(family)
    for word, element in zip(family, table, strict=True):
        np.testing.assert_allclose(element, matrix_of(word, HAAR), atol=1e-5)


def test_words_with_a_shared_prefix_share_its_product():
    v, w = np.array([1, 2, 3, 1]), np.array([1, 2, 3, 2])
    prefix = matrices.represent(v[:3], HAAR)
    for word in (v, w):
        rest = matrices.represent(word[3:], HAAR)
        np.testing.assert_allclose(
            matrices.represent(word, HAAR), prefix @ rest, atol=1e-6
        )


@pytest.mark.fast
@pytest.mark.parametrize("bases", BASES)
@pytest.mark.parametrize(("rows", "columns"), [(5, 2), (2, 5), (1, 1), (5, 5), (3, 4)])
def test_a_block_is_the_corner_of_the_matrix(bases, rows, columns):
    for word in ([2], [1, -3], [3, 1, 2, -1]):
        corner = matrices.block(np.array(word), bases, rows, columns)
        expected = matrix_of(word, bases)[:rows, :columns]
        np.testing.assert_allclose(corner, expected, atol=1e-5)


def test_permutation_matrices_move_the_jth_entry_to_sigma_j():
    sigma, vector = jnp.array([[2, 0, 1]]), jnp.array([10.0, 20.0, 30.0])
    matrix = matrices.block(np.array([1]), sigma, 3, 3)
    assert (matrix @ vector).tolist() == [20.0, 30.0, 10.0]


def test_permutations_are_closed_under_words(getkey):
    drawn = matrices.permutations(getkey(), 2, 8)
    for word in words.enumerate_words(2, 3, inverses=True):
        image = matrices.represent(word, drawn)
        assert sorted(image.tolist()) == list(range(8))


def test_gradients_flow_through_products():
    word = jnp.array([1, -2, 1])

    def energy(bases):
        return jnp.sum(matrices.represent(word, bases) ** 3)

    direction = jax.random.normal(jax.random.key(3), HAAR.shape)
    slope = jnp.vdot(jax.grad(energy)(HAAR), direction)
    step = 1e-2
    secant = (energy(HAAR + step * direction) - energy(HAAR - step * direction)) / (
        2 * step
    )
    assert abs(slope - secant) < 2e-2 * abs(slope) + 1e-2


def test_float64_is_kept():
    with jax.enable_x64(True):
        bases = matrices.haar(jax.random.key(0), 2, 16)
        product = matrices.represent(np.array([1, 2] * 8), bases)
        assert product.dtype == jnp.float64
        assert jnp.abs(product @ product.T - jnp.eye(16)).max() < 1e-13


def test_same_key_same_bits(getkey):
    key = getkey()
    for draw in (matrices.haar, matrices.permutations):
        assert jnp.array_equal(draw(key, 3, 9), draw(key, 3, 9))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: matrices.represent(np.array([N + 1]), HAAR), "±3"),
        (lambda: matrices.represent(np.array([0]), HAAR), "±1"),
        (lambda: matrices.block(np.array([1]), HAAR, 6, 1), "rows"),
        (lambda: matrices.haar(jax.random.key(0), 0, 3), "n_generators"),
        (lambda: matrices.permutations(jax.random.key(0), 1, 0), "dim"),
    ],
)
def test_bad_input_is_refused_with_its_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()
