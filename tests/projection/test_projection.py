"""Laws of projections: what is kept, what is shared, what is refused."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj import FreeProjection
from freeproj.projection import matrices, words
from freeproj.projection.families import FAMILIES
from freeproj.projection.maps import MAPS, fixed_map, identity, pad, tile


def small(family="haar", **settings):
    return FreeProjection(2, 3, **{"dim": 8, "family": family, **settings})


@pytest.mark.parametrize("family", FAMILIES)
def test_a_projection_is_linear_and_its_matrix_is_what_it_applies(getkey, family):
    projection = small(family)
    bases, word = projection.draw_bases(getkey()), projection.draw_word(getkey())
    observations = jax.random.normal(getkey(), (5, 3))
    projected = projection.project(word, bases, observations)
    matrix = projection.matrix(word, bases, 3)
    assert projected.shape == (5, 8)
    np.testing.assert_allclose(projected, observations @ matrix.T, rtol=1e-5)


@pytest.mark.fast
@pytest.mark.parametrize(
    "family", ["haar", "qr", "permutation", "iid_haar", "identity"]
)
def test_orthogonal_families_scale_every_norm_by_sigma(getkey, family):
    projection = small(family)
    matrix = projection.matrix(
        projection.draw_word(getkey()), projection.draw_bases(getkey()), 5
    )
    np.testing.assert_allclose(matrix.T @ matrix, 2 * np.eye(5), atol=1e-5)


def test_hadamard_family_is_orthogonal_with_entries_of_one_size(getkey):
    projection = small("hadamard")
    matrix = projection.matrix(
        projection.draw_word(getkey()), projection.draw_bases(getkey()), 8
    )
    np.testing.assert_allclose(matrix.T @ matrix, 2 * np.eye(8), atol=1e-5)
    np.testing.assert_allclose(np.abs(matrix), math.sqrt(2 / 8), rtol=1e-5)


def test_gaussian_family_keeps_norms_on_average(getkey):
    projection = FreeProjection(256, 1, dim=16, family="gaussian")
    bases = projection.draw_bases(getkey())
    matrix = jax.vmap(lambda k: projection.matrix(k[None], bases, 3))(
        jnp.arange(1, 257)
    )
    squares = (np.asarray(matrix) ** 2).sum(axis=1).ravel()
    error = squares.std() / math.sqrt(squares.size)
    assert abs(squares.mean() - 2) < 4 * error


@pytest.mark.fast
def test_the_projection_is_the_definition_of_the_paper(getkey):
    # σ T_2 λ(w) T_1 with rectangular identities, by plain products.
    for input_dim in (4, 8, 11):
        projection = small(input_dim=input_dim, scale=0.7)
        bases, word = projection.draw_bases(getkey()), np.array([1, 2, 1])
        plain = (
            0.7
            * np.eye(input_dim, 8)
            @ np.asarray(matrices.represent(word, bases))
            @ np.eye(8, 3)
        )
        np.testing.assert_allclose(projection.matrix(word, bases, 3), plain, atol=1e-6)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "identity"])
def test_different_words_show_different_things_and_new_bases_change_all(getkey, family):
    projection = small(family)
    first, second = projection.draw_bases(getkey()), projection.draw_bases(getkey())
    all_words = words.enumerate_words(2, 3)
    seen = [np.asarray(projection.matrix(word, first, 4)) for word in all_words]
    again = [np.asarray(projection.matrix(word, second, 4)) for word in all_words]
    for i, one in enumerate(seen):
        assert all(np.abs(one - other).max() > 1e-3 for other in seen[:i])
    changed = [np.abs(a - b).max() > 1e-3 for a, b in zip(seen, again, strict=True)]
    assert np.mean(changed) > 0.8


def test_with_words_finds_the_generators():
    projection = FreeProjection.with_words(256, length=4)
    assert (projection.n_generators, projection.n_words) == (4, 256)
    assert projection.dim == projection.input_dim == 128
    assert projection.scale == pytest.approx(math.sqrt(2))
    with pytest.raises(ValueError, match="216"):
        FreeProjection.with_words(250, length=3)


@pytest.mark.fast
def test_standard_random_projection_is_length_one(getkey):
    projection = FreeProjection.with_words(4, length=1, dim=6, scale=1.0)
    bases = projection.draw_bases(getkey())
    for index in range(4):
        matrix = projection.matrix(np.array([index + 1]), bases, 6)
        np.testing.assert_allclose(matrix, bases[index], atol=1e-6)


def test_reduced_words_with_inverses_project_too(getkey):
    projection = small(inverses=True)
    bases = projection.draw_bases(getkey())
    word = np.array([1, -2, 1])
    expected = math.sqrt(2) * matrices.represent(word, bases)[:, :2]
    np.testing.assert_allclose(projection.matrix(word, bases, 2), expected, atol=1e-5)
    assert projection.n_words == 36


def test_word_and_bases_may_be_traced(getkey):
    projection = small()
    bases, word = projection.draw_bases(getkey()), projection.draw_word(getkey())
    traced = jax.jit(lambda w, b: projection.matrix(w, b, 4))(word, bases)
    np.testing.assert_allclose(traced, projection.matrix(word, bases, 4), atol=1e-6)


def test_tiling_copies_the_observation_and_keeps_its_norm():
    observation = np.array([1.0, -2.0, 3.0])
    tiled = tile(8, 3) @ observation
    np.testing.assert_allclose(tiled * math.sqrt(2), [1, -2, 3, 1, -2, 3, 0, 0])
    assert np.linalg.norm(tiled) == pytest.approx(np.linalg.norm(observation))
    unscaled = tile(8, 3, rescale=False) @ observation
    np.testing.assert_allclose(unscaled, [1, -2, 3, 1, -2, 3, 0, 0])


def test_padding_and_identity_show_the_observation_itself():
    observation = np.array([1.0, -2.0])
    assert (pad(4, 2) @ observation).tolist() == [1, -2, 0, 0]
    assert (identity(2, 2) @ observation).tolist() == [1, -2]
    assert np.array_equal(fixed_map("pad", 4, 2), pad(4, 2))


@pytest.mark.parametrize("name", [name for name in MAPS if MAPS[name] is not None])
def test_maps_carry_the_scale_of_training_unless_their_name_says_otherwise(name):
    size = 4 if name == "identity" else 2
    matrix = fixed_map(name, 4, size, scale=3.0)
    norms = {
        "tile_unit": 1.0,
        "minus_tile_unit": 1.0,
        "tile_literal": math.sqrt(2),
        "zero": 0.0,
    }
    expected = norms.get(name, 3.0)
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=0), expected, rtol=1e-6)
    turned = fixed_map("minus_tile", 4, 2, scale=3.0)
    np.testing.assert_array_equal(turned, -fixed_map("tile", 4, 2, scale=3.0))


def test_raw_qr_has_a_negative_diagonal_and_its_products_have_none(getkey):
    one = FreeProjection(400, 1, family="qr", scale=1.0)
    first = np.asarray(one.draw_matrices(getkey(), 1))[:, 0, 0]
    assert abs(first.mean() + math.sqrt(2 / math.pi / 128)) < 4 * first.std() / 20
    assert first.mean() == pytest.approx(-0.07, abs=0.02)
    four = FreeProjection(4, 4, family="qr", scale=1.0)
    products = np.asarray(four.draw_matrices(getkey(), 13))
    diagonal = products[:, np.arange(13), np.arange(13)]
    # Entries of size 1/√128; 256 words of 4 letters are not independent: ten errors.
    assert abs(diagonal.mean()) < 10 / math.sqrt(128 * diagonal.size)


@pytest.mark.parametrize("family", ["haar", "qr", "iid_haar"])
def test_drawing_only_the_used_columns_keeps_the_distribution(getkey, family):
    law = FreeProjection(2000, 1, dim=6, family=family, scale=1.0)
    thin = np.asarray(law.draw_matrices(getkey(), 2))
    full = np.asarray(law.matrices(law.draw_bases(getkey()), 2))
    np.testing.assert_allclose(
        np.einsum("nij,nik->njk", thin, thin),
        np.eye(2)[None].repeat(2000, 0),
        atol=1e-5,
    )
    for power in (1, 2):
        error = np.sqrt((thin**power).var(axis=0) / 1000)
        gap = (thin**power).mean(axis=0) - (full**power).mean(axis=0)
        assert np.all(np.abs(gap) < 5 * error)


@pytest.mark.fast
def test_a_word_has_its_index_and_an_index_its_word():
    law = FreeProjection(3, 4, dim=4)
    for index, word in enumerate(words.enumerate_words(3, 4)):
        assert law.index(word) == index
        assert law.letters(np.array(index)).tolist() == word.tolist()


def test_a_family_of_ones_own_is_a_function_of_key_and_size(getkey):
    law = FreeProjection(4, 1, dim=5, scale=1.0, family="test_families_of_others:turn")
    drawn = law.matrices(law.draw_bases(getkey()), 5)
    np.testing.assert_array_equal(drawn[2], -np.eye(5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: small(family="nosuch"), "Known: haar"),
        (lambda: small(family="harr"), "Did you mean `haar`"),
        (lambda: small(family="corridor:__name__"), "draw\\(key, dim\\)"),
        (lambda: small(family="math:pi"), "math is a module of Python"),
        (lambda: small(family="hadamard", dim=6), "power of 2"),
        (lambda: small(family="gaussian", inverses=True), "inverses"),
        (lambda: FreeProjection(2, 20, family="iid_haar"), "haar` has no limit"),
        (lambda: small(dim=0), "dim"),
        (lambda: small(scale=-1.0), "scale"),
        (lambda: small(input_dim=-3), "input_dim"),
        (lambda: FreeProjection(0, 1), "n_generators"),
        (lambda: small().matrix(np.array([1, 1, 1]), np.zeros((2, 8, 8)), 9), "1 to 8"),
        (lambda: tile(3, 4), "tile"),
        (lambda: pad(3, 4), "pad"),
        (lambda: identity(3, 4), "identity"),
        (lambda: fixed_map("tiel", 3, 3), "Did you mean `tile`"),
        (lambda: fixed_map("random", 3, 3), "not fixed"),
        (lambda: fixed_map("test_families_of_others:turn", 3, 2), "3 x 2"),
    ],
)
def test_bad_input_is_refused_with_its_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()
