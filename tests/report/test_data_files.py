"""Reading a data matrix: what is accepted, and what is said otherwise."""

import io
import os
import pickle
import zipfile

import numpy as np
import pytest

from freeproj.report.data_files import read_matrix, read_numbers

MATRIX = np.random.default_rng(0).normal(size=(4, 3))


def test_all_formats_hold_the_same_matrix(tmp_path):
    np.save(tmp_path / "a.npy", MATRIX)
    np.savez(tmp_path / "a.npz", only=MATRIX)
    np.savetxt(tmp_path / "a.csv", MATRIX, delimiter=",", fmt="%.17g")
    for ending in ("npy", "npz", "csv"):
        np.testing.assert_allclose(read_matrix(tmp_path / f"a.{ending}"), MATRIX)


def test_integers_and_booleans_become_float64(tmp_path):
    for kind in (np.int8, np.uint64, bool, np.float16):
        np.save(tmp_path / "a.npy", np.ones((2, 2), kind))
        assert read_matrix(tmp_path / "a.npy").dtype == np.float64


@pytest.mark.parametrize(
    "text", ["x,y\n1,2\n3,4\n", "1;2\n3;4\n", "1\t2\n3\t4\n", '"x","y"\n1,2\n"3",4\n']
)
def test_csv_dialects(tmp_path, text):
    path = tmp_path / "a.csv"
    for lead in ("", "\ufeff"):
        path.write_text(lead + text, encoding="utf-8")
        np.testing.assert_array_equal(read_matrix(path), [[1, 2], [3, 4]])


def test_an_array_is_chosen_by_name(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, left=MATRIX, right=2 * MATRIX)
    np.testing.assert_array_equal(read_matrix(path, "right"), 2 * MATRIX)
    with pytest.raises(ValueError, match=r"holds 2 arrays; name one .*left, right"):
        read_matrix(path)
    with pytest.raises(ValueError, match=r"no array 'up'\. Known: left, right"):
        read_matrix(path, "up")
    np.save(tmp_path / "a.npy", MATRIX)
    with pytest.raises(ValueError, match=r"Only \.npz files have named arrays"):
        read_matrix(tmp_path / "a.npy", "left")


def write_object_array(path):
    np.save(path, np.array([{}, 1], object), allow_pickle=True)


def write_pickle(path):
    path.write_bytes(pickle.dumps([1.0]))


@pytest.mark.parametrize(
    ("name", "write", "message"),
    [
        ("a.npy", np.ones(5), r"must hold a matrix, got shape \(5,\)"),
        ("a.npy", np.ones((2, 2, 2)), "with 3 axes"),
        ("a.npy", np.ones((0, 3)), r"is empty: shape \(0, 3\)"),
        ("a.npy", np.array([[1, np.nan], [np.inf, 1]]), r"2 NaN or .* at \[0, 1\]"),
        (
            "a.npy",
            np.ones((2, 2), complex),
            "complex numbers, but the data must be real",
        ),
        ("a.npy", np.array([["a"]]), "but the data must be numbers"),
        ("a.npy", write_object_array, "pickled objects are never loaded"),
        ("a.npy", write_pickle, "pickled objects are never loaded"),
        ("a.npy", "hello", "is not a whole .npy file"),
        ("a.npy", "", "is not a whole .npy file"),
        ("a.npz", "hello", "is not a whole .npz file"),
        ("a.csv", "1,2\n3,x\n", "could not convert string 'x' to float64 at row 1"),
        ("a.csv", "1,2\n3\n", "number of columns changed from 2 to 1"),
        ("a.csv", "1,2\n3,\n", "could not convert string ''"),
        ("a.csv", "", "is empty"),
        ("a.csv", "x,y\n", "is empty"),
        ("a.txt", "1", "must end in .npy, .npz, .csv, got 'a.txt'"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path, name, write, message):
    path = tmp_path / name
    if callable(write):
        write(path)
    elif isinstance(write, str):
        path.write_text(write)
    else:
        np.save(path, write)
    with pytest.raises(ValueError, match=message) as caught:
        read_matrix(path)
    assert "\n" not in str(caught.value)


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_matrix(tmp_path / "none.npy")
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_matrix(tmp_path / "folder.npy")
    (tmp_path / "b.csv").write_bytes(bytes(range(128, 256)))
    with pytest.raises(ValueError, match="not a text file"):
        read_matrix(tmp_path / "b.csv")


def claiming(shape):
    """The bytes of an .npy file whose header claims a shape that does not follow."""
    file = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + b"0" * 64


@pytest.mark.parametrize("shape", [(10**6, 10**6), (2**62, 8), (10**30, 1), (3, -3)])
def test_headers_that_claim_more_than_there_is_allocate_nothing(tmp_path, shape):
    (tmp_path / "a.npy").write_bytes(claiming(shape))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", claiming(shape))
    for name in ("a.npy", "a.npz"):
        with pytest.raises(ValueError, match="is not a whole"):
            read_matrix(tmp_path / name)


def test_fortran_order_and_odd_dtypes(tmp_path):
    np.save(tmp_path / "a.npy", np.asfortranarray(MATRIX))
    np.testing.assert_array_equal(read_matrix(tmp_path / "a.npy"), MATRIX)
    for odd in (
        np.zeros((2, 2), "M8[s]"),
        np.zeros((2, 2), "i4,f8"),
        np.zeros((2, 2), "V3"),
    ):
        np.save(tmp_path / "a.npy", odd)
        with pytest.raises(ValueError, match="but the data must be numbers"):
            read_matrix(tmp_path / "a.npy")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.npy")
    with pytest.raises(ValueError, match="not a regular file"):
        read_matrix(tmp_path / "a.npy")


def test_numbers_of_any_shape_are_read(tmp_path):
    path = tmp_path / "y.npy"
    for values in (np.arange(5.0), np.arange(5.0)[None], np.arange(5.0)[:, None]):
        np.save(path, values)
        np.testing.assert_array_equal(read_numbers(path), values)
