"""A data matrix from a file: .npy, .npz or .csv.

Files come from anywhere, so nothing is unpickled, and whatever is wrong with one is
said in one line. Rows stay rows: the reader does not guess what they stand for.
"""

import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from freeproj.storage.arrays import read_array, read_member
from freeproj.storage.files import DAMAGED, check_regular

__all__ = ["read_matrix", "read_numbers"]

_FORMATS = (".npy", ".npz", ".csv")


def read_matrix(
    path: str | Path, array: str | None = None
) -> Float[np.ndarray, "rows columns"]:
    """Return the file's matrix in float64; of several arrays that with this name."""
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
    if kind not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise ValueError(f"A data file must end in {known}, got '{path.name}'.")
    check_regular(path)
    if array is not None and kind != ".npz":
        raise ValueError(f"Only .npz files have named arrays; {path} is not one.")
    return _checked(_read_csv(path) if kind == ".csv" else _read(path, array), path)


def _read(path: Path, array: str | None) -> np.ndarray:
    """Return the array of an .npy file, or one of an .npz file."""
    try:
        if path.suffix.lower() == ".npy":
            with path.open("rb") as file:
                return read_array(file, path.stat().st_size)
        with zipfile.ZipFile(path) as archive:
            members = {m.filename.removesuffix(".npy"): m for m in archive.infolist()}
            if array is None and len(members) == 1:
                (array,) = members
            if array in members:
                return read_member(archive, members[array])
    except DAMAGED as error:
        raise ValueError(
            f"{path} is not a whole {path.suffix} file of plain numbers (pickled "
            "objects are never loaded); write it with numpy.save or numpy.savez."
        ) from error
    lacks = f"{path} has no array {array!r}."
    if array is None:
        lacks = f"{path} holds {len(members)} arrays; name one as {path.name}:NAME."
    raise ValueError(f"{lacks} Known: {', '.join(members) or 'none'}.")


def _read_csv(path: Path) -> np.ndarray:
    try:
        with path.open(encoding="utf-8-sig") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "no data": said below, in our words
            first = file.readline()
            delimiter = max(",;\t", key=first.count)
            header = not all(map(_is_number, first.split(delimiter)))
            how: dict[str, Any] = {"delimiter": delimiter, "quotechar": '"', "ndmin": 2}
            file.seek(0)
            return np.loadtxt(file, skiprows=int(header), **how)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a text file in UTF-8.") from error
    except ValueError as error:
        reason = str(error).split(";")[0].rstrip(".")
        raise ValueError(f"{path} is not a table of numbers: {reason}.") from error


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip().strip('"'))
    except ValueError:
        return False
    return True


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
