"""Numbers on disk: whole or not at all, and never pickled."""

import io
import os
import zipfile

import numpy as np
import pytest

from freeproj.storage.files import write_atomically
from freeproj.storage.saved import load_numbers, save_numbers


def header_of(shape):
    file = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue()


HUGE = header_of((10**6, 10**6))  # an .npy file that claims eight terabytes


def test_an_archive_that_claims_terabytes_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "n.npz", "w") as archive:
        archive.writestr("x.npy", HUGE)
    with pytest.raises(ValueError, match=r"not an \.npz file"):
        load_numbers(tmp_path / "n.npz")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "n.npz")
    with pytest.raises(ValueError, match="not a regular file"):
        load_numbers(tmp_path / "n.npz")


def test_numbers_come_back_as_they_were(tmp_path):
    numbers = {"x": np.arange(3.0), "words": np.array(["a", "ab⁻¹"])}
    loaded = load_numbers(save_numbers(numbers, tmp_path / "deep" / "n.npz"))
    assert loaded.keys() == numbers.keys()
    assert all(np.array_equal(loaded[name], numbers[name]) for name in numbers)


def test_objects_are_neither_written_nor_read(tmp_path):
    with pytest.raises(ValueError, match="Python objects"):
        save_numbers({"x": np.array([{}])}, tmp_path / "n.npz")
    np.savez(tmp_path / "evil.npz", x=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="plain arrays"):
        load_numbers(tmp_path / "evil.npz")


@pytest.mark.parametrize("content", [b"", b"not an archive", HUGE])
def test_files_of_another_kind_are_refused(tmp_path, content):
    (tmp_path / "n.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"not an \.npz file"):
        load_numbers(tmp_path / "n.npz")


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path):
    path = tmp_path / "n.npz"
    path.write_bytes(b"old")

    def fail(file):
        file.write(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
