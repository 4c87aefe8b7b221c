"""A data matrix from a file of unknown origin: .npy or .npz, nothing unpickled.

Whatever is wrong with a file is said in one line. Rows stay rows: the reader does not
guess what they stand for.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jaxtyping import Float

from freeproj.storage.arrays import read_array, read_arrays
from freeproj.storage.files import DAMAGED

__all__ = ["read_matrix", "read_numbers"]


def read_matrix(
    path: str | Path, array: str | None = None
) -> Float[np.ndarray, "rows columns"]:
    """Return the file's matrix in float64; every entry is a finite real number.

    Args:
        array: which array of an .npz file; needed where it holds several.
    """
    matrix = read_numbers(path, array)
    if matrix.ndim != 2:
        raise ValueError(
            f"{path} must hold a matrix, got shape {matrix.shape} with {matrix.ndim} "
            "axes; reshape it to (samples, dimensions)."
        )
    return matrix


def read_numbers(path: str | Path, array: str | None = None) -> np.ndarray:
    """Return the file's numbers in float64, of any shape: a matrix or a target."""
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".npy", ".npz"):
        raise ValueError(f"A data file must end in .npy or .npz, got '{path.name}'.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file.")
    if not path.exists():
        raise FileNotFoundError(f"No file {path}.")
    if not path.is_file():  # reading a pipe or a device could block forever
        raise ValueError(f"{path} is not a regular file; save the data to one.")
    if array is not None and kind != ".npz":
        raise ValueError(f"Only .npz files have named arrays; {path} is not one.")
    try:
        if kind == ".npz":
            arrays = read_arrays(path)
        else:
            with path.open("rb") as file:
                arrays = {"": read_array(file, path.stat().st_size)}
    except DAMAGED as error:
        raise ValueError(
            f"{path} is not a whole {path.suffix} file of plain numbers (pickled "
            "objects are never loaded); write it with numpy.save or numpy.savez."
        ) from error
    return _checked(_chosen(arrays, array, path), path)


def _chosen(arrays: dict[str, np.ndarray], name: str | None, path: Path) -> np.ndarray:
    if name is None and len(arrays) == 1:
        (name,) = arrays
    if name in arrays:
        return arrays[name]
    known = ", ".join(arrays) or "none"
    if name is not None:
        raise ValueError(f"{path} has no array {name!r}. Known: {known}.")
    raise ValueError(
        f"{path} holds {len(arrays)} arrays; name one as {path.name}:NAME. "
        f"Known: {known}."
    )


def _checked(matrix: np.ndarray, path: Path) -> np.ndarray:
    if matrix.dtype.kind == "c":
        raise ValueError(
            f"{path} holds complex numbers, but the data must be real; save the real "
            "part, or real and imaginary parts as separate rows."
        )
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{path} holds {matrix.dtype}, but the data must be numbers.")
    if matrix.size == 0:
        raise ValueError(f"{path} is empty: shape {matrix.shape}.")
    matrix = matrix.astype(np.float64)
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        place = ", ".join(map(str, bad[0]))
        raise ValueError(
            f"{path} has {len(bad)} NaN or infinite entries, the first at [{place}] "
            "(from 0); fill or drop them."
        )
    return matrix
