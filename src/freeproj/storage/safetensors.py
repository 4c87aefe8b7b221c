"""Arrays by name in one `.safetensors` file, as the Hub of Hugging Face reads them.

A file is eight bytes with the size of the header, the header in JSON (each array's
type, shape and place), then the arrays' bytes, without gaps. Nothing in it is executed.
A file may claim anything, so every claim is checked before it is used.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from freeproj.storage.arrays import MAX_BYTES
from freeproj.storage.files import read_regular, write_atomically

__all__ = ["read_safetensors", "write_safetensors"]

_MOST_HEADER = 10**8  # bytes: the limit of the format
_CODES = {"BOOL": "?", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8"}
_CODES |= {"U8": "u1", "U32": "<u4"}
_TYPES = {name: np.dtype(code) for name, code in _CODES.items()}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}


def write_safetensors(
    path: Path, arrays: Mapping[str, np.ndarray], texts: Mapping[str, str] | None = None
) -> Path:
    """Write arrays by name, with texts beside them, whole or not at all."""
    header: dict[str, Any] = {"__metadata__": dict(texts)} if texts else {}
    parts, start = [], 0
    for name, array in arrays.items():
        if array.dtype not in _NAMES:
            raise ValueError(f"`{name}` has the type {array.dtype}, which is not kept.")
        parts.append(np.ascontiguousarray(array).tobytes())
        kind, shape = _NAMES[array.dtype], list(array.shape)
        ends = [start, start := start + len(parts[-1])]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": ends}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # arrays begin at a multiple of eight
    whole = b"".join([len(text).to_bytes(8, "little"), text, *parts])
    write_atomically(path, lambda file: file.write(whole))
    return path


def read_safetensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read arrays and texts; a file that is not what it claims is refused."""
    data = read_regular(path, MAX_BYTES)
    try:
        size = int.from_bytes(data[:8], "little")
        if len(data) < 8 or size > min(_MOST_HEADER, len(data) - 8):
            raise ValueError("its header is longer than the file")
        header = dict(json.loads(data[8 : 8 + size]))
        texts = {str(key): str(v) for key, v in header.pop("__metadata__", {}).items()}
        body = memoryview(data)[8 + size :]
        places = sorted(entry["data_offsets"] for entry in header.values())
        # Without gaps: each array begins where the one before it ends.
        if [0, *(end for _, end in places)] != [*(at for at, _ in places), len(body)]:
            raise ValueError("its arrays overlap, leave gaps or end elsewhere")
        arrays = {name: _array(body, **entry) for name, entry in header.items()}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is not a safetensors file: {error}.") from error
    return arrays, texts


def _array(body: memoryview, dtype: str, shape: list, data_offsets: list) -> np.ndarray:
    if dtype not in _TYPES:
        raise ValueError(f"arrays of type {dtype} are not kept by this package")
    (start, end), sizes = data_offsets, [int(each) for each in shape]
    if not 0 <= start <= end <= len(body) or min(sizes, default=0) < 0:
        raise ValueError("an array lies outside the file")
    if math.prod(sizes) * _TYPES[dtype].itemsize != end - start:
        raise ValueError("an array has another size than it claims")
    return np.frombuffer(body[start:end], _TYPES[dtype]).reshape(sizes).copy()
