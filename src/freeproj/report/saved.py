"""Numbers between computing and drawing: a flat dictionary of arrays in one `.npz`.

A figure's numbers can so be saved, inspected and drawn again without computing them.
Nothing is pickled, in either direction, and a file is there whole or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from freeproj.files import write_atomically

__all__ = ["Numbers", "load_numbers", "save_numbers"]

Numbers = Mapping[str, np.ndarray]


def save_numbers(numbers: Numbers, path: str | Path) -> Path:
    """Writes the arrays to an `.npz` file and returns its path."""
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
    """Reads what `save_numbers` wrote."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"No file {path}.")
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, OSError, AttributeError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path} is not an .npz file of plain arrays.") from error
