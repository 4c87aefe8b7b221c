"""Laws of words: the free group's, and those of its families."""

import itertools
import tracemalloc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeproj.projection import words

pytestmark = pytest.mark.fast

letters = st.integers(-5, 5).filter(bool)
any_word = st.lists(letters, max_size=12)
family = st.tuples(st.integers(1, 5), st.integers(0, 6), st.booleans())


def metric(v, w):
    """The distance in the Cayley graph: the reduced length of v^-1 w."""
    return len(words.reduce(np.concatenate([words.inverse(v), np.array(w, int)])))


@given(any_word)
def test_reduced_words_have_no_cancelling_neighbours(word):
    reduced = words.reduce(word)
    assert np.all(reduced[1:] != -reduced[:-1])
    assert words.reduce(reduced).tolist() == reduced.tolist()


@given(any_word)
def test_a_word_times_its_inverse_is_the_identity(word):
    product = np.concatenate([np.array(word, int), words.inverse(word)])
    assert words.reduce(product).size == 0


@given(any_word, any_word)
def test_inverse_reverses_products(v, w):
    product = words.inverse(v + w).tolist()
    assert product == words.inverse(w).tolist() + words.inverse(v).tolist()


@given(any_word, any_word, any_word)
def test_word_metric_is_a_left_invariant_metric(u, v, w):
    assert metric(v, v) == 0
    assert metric(v, w) == metric(w, v)
    assert metric(u + v, u + w) == metric(v, w)
    direct = metric(u, w)
    assert direct <= metric(u, v) + metric(v, w)


@given(st.integers(1, 6), st.data())
def test_positive_words_sharing_k_letters_are_2_times_the_rest_apart(length, data):
    word = st.lists(st.integers(1, 3), min_size=length, max_size=length)
    v, w = data.draw(word), data.draw(word)
    shared = words.common_prefix(v, w)
    assert v[:shared] == w[:shared]
    assert metric(v, w) == 2 * (length - shared)


@given(family)
def test_words_of_different_indices_differ_and_are_reduced(sizes):
    n, length, inverses = sizes
    n_words = words.count_words(n, length, inverses=inverses)
    seen = set()
    for index in {0, n_words // 3, n_words // 2, n_words - 1}:
        word = words.word_at(index, n, length, inverses=inverses)
        assert words.reduce(word).tolist() == word.tolist()
        assert words.spell(word) not in seen
        seen.add(words.spell(word))


@pytest.mark.parametrize("inverses", [False, True])
@pytest.mark.parametrize(("n", "length"), [(1, 1), (2, 4), (3, 3), (4, 2), (2, 0)])
def test_enumeration_lists_every_word_once_in_the_order_of_its_index(
    n, length, inverses
):
    family = words.enumerate_words(n, length, inverses=inverses)
    assert len(family) == words.count_words(n, length, inverses=inverses)
    at = [words.word_at(i, n, length, inverses=inverses) for i in range(len(family))]
    np.testing.assert_array_equal(at, family)
    assert len(np.unique(family, axis=0)) == len(family)


def test_positive_enumeration_is_the_product_with_the_first_letter_slowest():
    expected = list(itertools.product([1, 2, 3], repeat=3))
    assert words.enumerate_words(3, 3).tolist() == [list(word) for word in expected]


def test_families_beyond_memory_are_indexed_without_enumeration():
    n, length = 2, 200
    index = 2**150 + 12345
    digits = "".join(str(letter - 1) for letter in words.word_at(index, n, length))
    assert int(digits, 2) == index
    with pytest.raises(ValueError, match="too many"):
        words.enumerate_words(n, 40)


@pytest.mark.parametrize("inverses", [False, True])
def test_sampling_is_uniform_over_the_family(getkey, inverses):
    n, length, draws = 2, 3, 9000
    sample = jax.vmap(lambda key: words.sample(key, n, length, inverses=inverses))
    drawn = np.asarray(sample(jax.random.split(getkey(), draws)))
    n_words = words.count_words(n, length, inverses=inverses)
    family = words.enumerate_words(n, length, inverses=inverses)
    counts = (drawn[:, None] == family).all(axis=2).sum(axis=0)
    assert counts.sum() == draws
    expected = draws / n_words
    statistic = ((counts - expected) ** 2 / expected).sum()
    # chi-squared with n_words - 1 degrees of freedom: five standard deviations
    assert statistic < n_words - 1 + 5 * np.sqrt(2 * (n_words - 1))


def test_same_key_same_word(getkey):
    key = getkey()
    first, second = (words.sample(key, 7, 20, inverses=True) for _ in range(2))
    assert jnp.array_equal(first, second)


def test_sampling_from_2_to_the_30_words_takes_no_more_memory_than_from_2_to_the_8():
    def peak(length):
        words.sample(jax.random.key(0), 2, length)
        tracemalloc.start()
        words.sample(jax.random.key(1), 2, length)
        high = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return high

    assert peak(30) < peak(8) + 10_000


@pytest.mark.parametrize(
    ("n_words", "length", "n"), [(256, 1, 256), (256, 2, 16), (256, 4, 4), (256, 8, 2)]
)
def test_the_papers_families_have_256_words(n_words, length, n):
    assert words.generators_for(n_words, length) == n
    assert words.count_words(n, length) == n_words


def test_a_number_of_words_that_is_no_power_names_the_nearest_that_are():
    with pytest.raises(ValueError, match=r"got 255.*15\^?|225 \(n = 15\) and 256"):
        words.generators_for(255, 2)
    with pytest.raises(ValueError, match=r"216 \(n = 6\) and 343 \(n = 7\)"):
        words.generators_for(256, 3)


@given(st.integers(1, 10**6), st.integers(1, 12))
def test_integer_roots_are_exact(n, length):
    assert words.generators_for(n**length, length) == n


def test_spelling():
    assert words.spell([1, 2, -1]) == "aba⁻¹"
    assert words.spell([]) == "e"
    assert words.spell([27, -1]) == "a27a1⁻¹"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: words.reduce([1, 0]), "non-zero"),
        (lambda: words.reduce([0.5]), "integers"),
        (lambda: words.word_at(8, 2, 3), r"\[0, 8\)"),
        (lambda: words.count_words(0, 3), "n_generators"),
        (lambda: words.count_words(2, -1), "length"),
        (lambda: words.generators_for(8, 0), "length"),
    ],
)
def test_bad_input_is_refused_with_its_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()
