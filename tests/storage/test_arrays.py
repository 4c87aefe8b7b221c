"""Files of safetensors: they hold what was given, and what they claim is checked."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from freeproj.storage.arrays import read_safetensors, write_safetensors

ARRAYS = {
    "a.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "flag": np.array(True),
    "none": np.zeros((0, 4)),
    "count": np.array([1, -1], np.int64),
}


def test_arrays_and_texts_come_back(tmp_path):
    path = write_safetensors(tmp_path / "x.safetensors", ARRAYS, {"format": "np"})
    arrays, texts = read_safetensors(path)
    assert texts == {"format": "np"}
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert np.array_equal(arrays[name], array)
    assert int.from_bytes(path.read_bytes()[:8], "little") % 8 == 0


def test_the_format_is_that_of_the_library(tmp_path):
    path = write_safetensors(tmp_path / "x.safetensors", ARRAYS, {"format": "np"})
    theirs = load_file(path)
    assert all(np.array_equal(theirs[name], ARRAYS[name]) for name in ARRAYS)
    save_file(ARRAYS, tmp_path / "y.safetensors")
    ours, _ = read_safetensors(tmp_path / "y.safetensors")
    assert all(np.array_equal(ours[name], ARRAYS[name]) for name in ARRAYS)


def entry(**change):
    return {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | change


@pytest.mark.parametrize(
    "header",
    [
        {"a": entry(dtype="F99")},
        {"a": entry(shape=[3])},
        {"a": entry(shape=[-1, -2])},
        {"a": entry(data_offsets=[0, 80])},
        {"a": entry(data_offsets=[-8, 0])},
        {"a": entry(shape=[1], data_offsets=[0, 4])},
        {"a": entry(), "b": entry()},
        {"a": {}},
        {"a": 3},
        [],
        {"__metadata__": 3},
    ],
)
def test_false_claims_are_refused(tmp_path, header):
    text = json.dumps(header).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(8))
    with pytest.raises(ValueError, match="not a safetensors file"):
        read_safetensors(path)


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "x.safetensors"
    path.write_bytes(data)
    with contextlib.suppress(ValueError):  # and nothing else may be raised
        read_safetensors(path)
