"""Arrays by name in one `.safetensors` file, as the Hub of Hugging Face reads them.

Nothing in such a file is executed. It may claim anything: the library checks every
claim before it is used.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from freeproj.storage.arrays import MAX_BYTES
from freeproj.storage.files import read_regular, write_atomically

__all__ = ["read_safetensors", "write_safetensors"]


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
