"""Numbers between computing and drawing: a flat dictionary of arrays in one `.npz`.

So a figure's numbers can be saved, inspected, and drawn again without computing them.
Nothing is pickled, in either direction, and a file is there whole or not at all.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from freeproj.storage.arrays import read_arrays
from freeproj.storage.files import DAMAGED, check_regular, write_atomically

__all__ = ["Numbers", "load_numbers", "save_numbers"]

Numbers = Mapping[str, np.ndarray]


def save_numbers(numbers: Numbers, path: str | Path) -> Path:
    """Write the arrays to an `.npz` file and return its path."""
    path = Path(path)
    for name, array in numbers.items():
        if np.asarray(array).dtype.hasobject:
            raise ValueError(f"`{name}` holds Python objects, not a plain array.")
    arrays: dict[str, Any] = dict(numbers)
    write_atomically(path, lambda file: np.savez_compressed(file, **arrays))
    return path


def load_numbers(path: str | Path) -> dict[str, np.ndarray]:
    """Read what `save_numbers` wrote."""
    path = Path(path)
    check_regular(path)
    try:
        return read_arrays(path)
    except DAMAGED as error:
        raise ValueError(f"{path} is not an .npz file of plain arrays.") from error
