"""Numbers between computing and drawing: a flat dictionary of arrays in one `.npz`.

A figure's numbers can so be saved, inspected and drawn again without computing them.
Nothing is pickled, in either direction, and a file is there whole or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import numpy as np

from freeproj.files import DAMAGED, write_atomically

__all__ = ["Numbers", "load_numbers", "read_array", "save_numbers"]

Numbers = Mapping[str, np.ndarray]


def save_numbers(numbers: Numbers, path: str | Path) -> Path:
    """Write the arrays to an `.npz` file and return its path."""
    path = Path(path)
    for name, array in numbers.items():
        if np.asarray(array).dtype.hasobject:
            raise ValueError(
                f"`{name}` holds Python objects; only plain arrays are saved."
            )
    arrays: dict[str, Any] = dict(numbers)
    write_atomically(path, lambda file: np.savez_compressed(file, **arrays))
    return path


def load_numbers(path: str | Path) -> dict[str, np.ndarray]:
    """Read what `save_numbers` wrote."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"No file {path}.")
    if not path.is_file():  # a pipe would be waited for without end
        raise ValueError(f"{path} is not a regular file.")
    try:
        with ZipFile(path) as archive:
            return {
                item.filename.removesuffix(".npy"): _read_member(archive, item)
                for item in archive.infolist()
            }
    except DAMAGED as error:
        raise ValueError(f"{path} is not an .npz file of plain arrays.") from error


def read_array(file: Any, size: int) -> np.ndarray:
    """Read one array in .npy format, of a file of `size` bytes.

    One that claims more numbers than can follow is not allocated; nothing is unpickled.
    """
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version}")
    header = (np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0)
    shape, fortran, dtype = header[version[0] - 1](file)
    count = math.prod(shape)
    if dtype.hasobject or count * dtype.itemsize > size:
        raise ValueError(f"{count} entries of {dtype} in {size} bytes")
    flat = np.frombuffer(file.read(count * dtype.itemsize), dtype, count)
    return flat.reshape(shape, order="F" if fortran else "C")


def _read_member(archive: ZipFile, item: ZipInfo) -> np.ndarray:
    with archive.open(item) as file:
        return read_array(file, item.file_size)
