"""Laws of block matrices of words."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freeproj.projection import matrices, words
from freeproj.spectra import blocks, word_moment
from freeproj.spectra.kernel import GROUPS, draw_bases

LENGTHS = (1, 2, 4, 8)
ARRANGEMENTS = [*blocks.ARRANGEMENTS, "(1,8)(3,6,2)"]


def bases_of(group, length, dim, n_words=256):
    n, rng = round(n_words ** (1 / length)), np.random.default_rng(0)
    if group == "permutation":
        return np.stack([rng.permutation(dim) for _ in range(n)])
    return np.linalg.qr(rng.standard_normal((n, dim, dim)))[0]


def test_the_papers_transpose_has_the_papers_indices():
    A = blocks.partial_transpose(blocks.raw(256))
    for j in itertools.product((0, 1), repeat=8):
        row = int("".join(str(j[i - 1]) for i in (1, 7, 3, 5)), 2)
        column = int("".join(str(j[i - 1]) for i in (4, 6, 2, 8)), 2)
        assert A[row, column] == int("".join(map(str, j)), 2)


def test_cycles_follow_the_digits():
    W = blocks.raw(16)
    axes = W.reshape((2,) * 4).transpose(1, 2, 0, 3).reshape(4, 4)
    np.testing.assert_array_equal(blocks.partial_transpose(W, "(1,2,3)"), axes)


def test_the_papers_transpose_is_an_involution_and_moves_words():
    W = blocks.raw(256)
    A = blocks.partial_transpose(W)
    assert (A != W).any()
    np.testing.assert_array_equal(blocks.partial_transpose(A), W)


@given(st.permutations(range(1, 7)), st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_a_transpose_is_undone_by_its_inverse(digits, cut):
    W, cycles = blocks.raw(64), (tuple(digits[:cut]), tuple(digits[cut:]))
    written = "".join(f"({','.join(map(str, cycle))})" for cycle in cycles)
    turned = "".join(f"({','.join(map(str, cycle[::-1]))})" for cycle in cycles)
    there = blocks.partial_transpose(W, written)
    np.testing.assert_array_equal(np.sort(there, axis=None), np.arange(64))
    back = blocks.partial_transpose(there, turned)
    np.testing.assert_array_equal(back, W)


def test_the_transpose_of_all_digits_is_the_transpose():
    W = blocks.raw(16)
    np.testing.assert_array_equal(blocks.partial_transpose(W, "(1,3)(2,4)"), W.T)


def test_a_shuffle_is_uniform_over_places():
    rng = np.random.default_rng(0)
    n_draws = 3200
    places = [np.argmin(blocks.shuffled(rng, 16)) for _ in range(n_draws)]
    counts = np.bincount(places, minlength=16)
    chi_square = np.sum((counts - 200) ** 2 / 200)
    assert chi_square < 15 + 4 * np.sqrt(30)  # mean 15, variance 30


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("length", [1, 2, 4])
def test_blocks_are_the_matrices_of_their_words(group, length):
    bases = bases_of(group, length, dim=3, n_words=16)
    family = words.enumerate_words(len(bases), length)
    elements = [np.asarray(matrices.represent(word, bases)) for word in family]
    if group == "permutation":
        elements = [np.eye(3)[:, each] for each in elements]
    A = blocks.partial_transpose(blocks.raw(16), "(1,3)")
    matrix = blocks.block_matrix(A, bases, length)
    for i, j in itertools.product(range(4), repeat=2):
        block = matrix[3 * i : 3 * i + 3, 3 * j : 3 * j + 3]
        np.testing.assert_allclose(block, elements[A[i, j]], atol=1e-6)


def transpose(cycles):
    return blocks.partial_transpose(blocks.raw(), cycles)


def spectrum_of(arrangement, bases, length, **settings):
    matrix = blocks.block_matrix(arrangement, bases, length, **settings)
    assert matrix.dtype == np.float64
    return np.linalg.eigvalsh(matrix @ matrix.T / len(arrangement))


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize("length", LENGTHS)
def test_the_kernels_mean_is_exactly_one(group, arrangement, length):
    spectra = blocks.block_spectra(
        length=length, group=group, dim=5, n_trials=3, arrangement=arrangement
    )
    assert spectra.shape == (3, 16 * 5)
    np.testing.assert_allclose(spectra.mean(axis=1), 1, rtol=1e-12)
    assert (spectra >= 0).all()
    assert (np.diff(spectra, axis=1) >= 0).all()


@pytest.mark.parametrize("length", [2, 4, 8])
def test_the_raw_square_has_eigenvalues_16_and_0(length):
    spectra = blocks.block_spectra(length=length, dim=6, n_trials=4, arrangement="raw")
    np.testing.assert_allclose(spectra[:, -6:], 16, rtol=1e-12)
    np.testing.assert_allclose(spectra[:, :-6], 0, atol=1e-12)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("length", [2, 4, 8])
def test_the_raw_square_is_what_its_matrix_has(group, length):
    """Nothing is drawn for it; here it is, from a matrix."""
    bases = bases_of(group, length, dim=6)
    for keep_ones in (True, False)[: 1 + (group == "permutation")]:
        slow = spectrum_of(blocks.raw(), bases, length, keep_ones=keep_ones)
        (known,) = blocks.block_spectra(
            length=length,
            group=group,
            dim=6,
            n_trials=1,
            arrangement="raw",
            keep_ones=keep_ones,
        )
        np.testing.assert_allclose(known, slow, atol=1e-12)


def test_letters_have_one_spectrum_however_they_are_arranged():
    settings = {"length": 1, "dim": 4, "n_trials": 2}
    one, *others = (
        blocks.block_spectra(arrangement=kind, **settings)
        for kind in blocks.ARRANGEMENTS
    )
    for other in others:
        np.testing.assert_array_equal(other, one)


def test_the_raw_square_has_singular_values_4_and_0():
    bases = bases_of("orthogonal", 4, dim=6)
    values = spectrum_of(blocks.raw(256), bases, 4)
    np.testing.assert_allclose(values[-6:], 16, rtol=1e-12)
    np.testing.assert_allclose(values[:-6], 0, atol=1e-12)


def second_moments(arrangement):
    settings = {"dim": 12, "n_trials": 8, "arrangement": arrangement}
    spectra = [blocks.block_spectra(length=each, **settings) for each in LENGTHS]
    return [(values**2).mean() for values in spectra]


def test_the_transpose_tells_lengths_apart():
    assert (np.diff(second_moments("transposed")) > 0.3).all()


def test_the_shuffle_does_not_tell_lengths_apart():
    np.testing.assert_allclose(second_moments("shuffled"), 31 / 16, atol=0.05)


def test_half_the_spectrum_vanishes_for_eight_letters():
    spectra = blocks.block_spectra(length=8, dim=8, n_trials=4)
    assert (spectra[:, :64] < 1e-12).all()


def test_arrays_of_jax_are_taken_and_computed_in_float64():
    bases = matrices.permutations(jax.random.key(0), 2, 4)
    spectrum_of(blocks.raw(16), bases, 4)
    single = bases_of("orthogonal", 4, dim=3, n_words=16).astype(np.float32)
    spectrum = spectrum_of(blocks.raw(16), jnp.asarray(single), 4)
    assert spectrum.mean() == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("length", LENGTHS)
def test_the_all_ones_vector_adds_one_outlier_and_zeros(length):
    settings = {"length": length, "group": "permutation", "dim": 4, "n_trials": 3}
    kept = blocks.block_spectra(**settings)
    removed = blocks.block_spectra(**settings, keep_ones=False)
    assert removed.shape == (3, 16 * 3)
    np.testing.assert_allclose(removed.mean(axis=1), 1, rtol=1e-12)
    # On the vectors constant in each block K is the matrix of ones: 16 and 15 zeros.
    with_outlier = np.concatenate([removed, np.zeros((3, 15)), np.full((3, 1), 16)], 1)
    np.testing.assert_allclose(np.sort(with_outlier, axis=1), kept, atol=1e-10)


def test_a_trial_does_not_depend_on_how_many_there_are(monkeypatch):
    for group, arrangement in itertools.product(GROUPS, blocks.ARRANGEMENTS):
        settings = {"length": 2, "group": group, "dim": 4, "arrangement": arrangement}
        many = blocks.block_spectra(**settings, n_trials=5)
        with monkeypatch.context() as patch:
            patch.setattr(blocks, "_CHUNK", 2 * 256 * 16)  # two trials at a time
            few = blocks.block_spectra(**settings, n_trials=3)
        np.testing.assert_allclose(few, many[:3], atol=1e-12)
    assert not np.allclose(many, blocks.block_spectra(**settings, n_trials=5, seed=1))


def test_orthogonal_bases_are_haar():
    draws = draw_bases(np.random.default_rng(0), (400,), 16, "orthogonal")
    np.testing.assert_allclose(
        draws @ draws.transpose(0, 2, 1), [np.eye(16)] * 400, atol=1e-12
    )
    traces = np.trace(draws, axis1=1, axis2=2)  # variance 1
    assert abs(traces.mean()) < 4 / 20
    assert 0.3 < (draws[:, 0, 0] < 0).mean() < 0.7


def test_permutation_bases_are_uniform():
    draws = draw_bases(np.random.default_rng(0), (4000,), 4, "permutation")
    counts = np.stack([(draws == state).sum(axis=0) for state in range(4)])
    assert (abs(counts - 1000) < 4 * np.sqrt(4000 * 3 / 16)).all()


def test_letters_follow_kesten_mckay_rather_than_marchenko_pastur():
    spectra = blocks.block_spectra(length=1, dim=16, n_trials=16)
    for order, catalan in ((2, 2), (3, 5)):
        measured = (spectra**order).mean(axis=1)
        error = measured.std(ddof=1) / np.sqrt(len(measured))
        limit = float(word_moment(order, 16, 1))
        # Finite d: Haar matrices are free up to terms of order 1/d².
        assert abs(measured.mean() - limit) < 4 * error + 0.01
        assert catalan - measured.mean() > 10 * error
    assert spectra.max() < 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: blocks.raw(200), r"power of 4.*got 200.*64 and 256"),
        (lambda: blocks.raw(2), "4 and 16"),
        (lambda: transpose("(2,9)"), r"digits 1\.\.8, got \(2,9\)"),
        (lambda: blocks.block_spectra(length=2, n_words=64), "64 words have digits"),
        (lambda: transpose("2,7"), "Cycles are written"),
        (lambda: transpose("(2,7)(2,5)"), "must permute 8 digits"),
        (lambda: blocks.block_spectra(length=3), "nearest are 216"),
        (lambda: blocks.block_spectra(length=1, group="SO"), "got 'SO'"),
        (lambda: blocks.block_spectra(length=1, n_trials=0), "`n_trials`"),
        (lambda: blocks.block_spectra(length=1, dim=1), "`dim`"),
        (
            lambda: blocks.block_spectra(length=1, arrangement="tranposed"),
            "No arrangement 'tranposed'. Known: transposed, raw, shuffled",
        ),
        (
            lambda: blocks.block_spectra(length=1, dim=4, keep_ones=False),
            "needs permutations",
        ),
        (
            lambda: spectrum_of(blocks.raw(16), np.eye(3)[None], 2),
            "1 bases have 1 words of length 2, but the arrangement has 16 places",
        ),
    ],
)  # fmt: skip
def test_wrong_input_is_refused_with_the_way_out(call, message):
    with pytest.raises(ValueError, match=message):
        call()
