"""Read .npy, .npz and .safetensors files of unknown origin: nothing is unpickled.

A file may claim any size. So the claimed size is compared with the bytes in the file,
and with a limit, before memory is allocated. A member of an archive is read to its end,
which is where its checksum is compared: one changed byte is an error.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import numpy as np

from freeproj.storage.files import check_regular, read_regular, write_atomically

__all__ = ["MAX_BYTES", "read_array", "read_arrays", "read_member"]
__all__ += ["read_safetensors", "write_safetensors"]

MAX_BYTES = 2**32  # of all arrays of a file of our own


def read_array(file: Any, size: int) -> np.ndarray:
    """Read one array in .npy format, of a file of `size` bytes."""
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


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read all arrays of an .npz file by name; any of `files.DAMAGED` may be raised."""
    check_regular(path)
    with ZipFile(path) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > MAX_BYTES:
            raise ValueError(f"it unpacks to more than {MAX_BYTES >> 30} GiB")
        arrays = {}
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in arrays:
                raise ValueError(f"{name!r} is there twice")
            arrays[name] = read_member(archive, member)
    return arrays


def read_member(archive: ZipFile, member: ZipInfo) -> np.ndarray:
    """Read one array of an .npz file, and all of its bytes: their CRC must match."""
    with archive.open(member) as file:
        array = read_array(file, member.file_size)
        if file.read(1):  # at the end of the member zipfile compares the checksum
            raise ValueError(f"{member.filename} has bytes after its array")
    return array


def write_safetensors(
    path: Path, arrays: Mapping[str, np.ndarray], texts: Mapping[str, str]
) -> Path:
    """Write arrays by name, with texts beside them, whole or not at all."""
    from safetensors.numpy import save

    # The library takes an array's memory as it lies.
    rows = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    data = save(rows, dict(texts))
    write_atomically(path, lambda file: file.write(data))
    return path


def read_safetensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read arrays and texts; a file that is not what it claims is refused."""
    from safetensors import SafetensorError  # pyright: ignore
    from safetensors.numpy import load

    data = read_regular(path, MAX_BYTES)
    try:
        arrays = load(data)
    except (SafetensorError, KeyError, ValueError) as error:
        raise ValueError(f"{path} is not a safetensors file: {error}.") from error
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return arrays, header.get("__metadata__", {})
