"""What the analysis accepts: real finite numbers, from NumPy, JAX or plain Python.

Every function here returns float64 or raises a ValueError that names the argument,
the rule, the value and the way out.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Array

__all__ = ["Computed", "Number", "Values", "as_given", "data_matrix", "non_negative"]
__all__ += ["parameter", "real_array", "whole"]

# One number; one number or any array of them; what arithmetic makes of these (NumPy
# turns arrays without axes into scalars).
Number = int | float | np.number
Values = Number | Sequence | np.ndarray | Array
Computed = np.ndarray | np.number


def real_array(value: Values, name: str) -> np.ndarray:
    """Return the value as a float64 array; refuse complex, NaN and infinity."""
    array = np.asarray(value)
    if array.dtype.kind == "c":
        raise ValueError(f"`{name}` must be real, got complex numbers; pass its parts.")
    # JAX's bfloat16 and float8 types are known to NumPy as opaque, yet convertible.
    extended = array.dtype.kind == "V" and "float" in array.dtype.name
    if array.dtype.kind not in "biuf" and not extended:
        raise ValueError(f"`{name}` must hold numbers, got dtype {array.dtype}.")
    array = array.astype(np.float64, copy=False)
    n_bad = array.size - np.count_nonzero(np.isfinite(array))
    if n_bad:
        found = f"NaN or infinity in {n_bad} of {array.size} entries"
        raise ValueError(f"`{name}` must be finite, got {found}; fill or drop them.")
    return array


def whole(value: Number, name: str, least: int = 0) -> int:
    """Return an integer that is at least this large."""
    if not isinstance(value, int | np.integer) or value < least:
        rule = f"must be an integer, at least {least}"
        raise ValueError(f"`{name}` {rule}, got {value!r}.")
    return int(value)


def data_matrix(X: Values, *, single: bool = False) -> np.ndarray:
    """Return data as a float64 array of shape (*trials, d, p), p columns in R^d."""
    data = real_array(X, "X")
    if data.ndim < 2:
        rule = "`X` must be a matrix, d dimensions x p samples"
        raise ValueError(f"{rule}, got shape {data.shape}; one sample is (d, 1).")
    if single and data.ndim > 2:
        raise ValueError(f"`X` must be one matrix d x p, got shape {data.shape}.")
    if data.size == 0:
        raise ValueError(f"`X` must not be empty, got shape {data.shape}.")
    return data


def non_negative(value: Values, name: str) -> np.ndarray:
    """Return a spectrum as float64; rounding errors below zero become zero."""
    array = real_array(value, name)
    if array.size == 0 or array.ndim == 0:
        raise ValueError(f"`{name}` must be a row of numbers, got shape {array.shape}.")
    if array.min() < -1e-9 * max(array.max(), 0.0):
        raise ValueError(f"`{name}` must not be negative, got {array.min():g}.")
    return np.maximum(array, 0.0)


def parameter(
    value: Values,
    name: str,
    *,
    above: Number | None = None,
    least: Number = 0.0,
    infinite: bool = False,
) -> np.ndarray:
    """Return a parameter, one number or an array of them, that obeys its bound."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"`{name}` must be a number or an array of them, got {value}.")
    array = array.astype(np.float64)
    right = array >= least if above is None else array > above
    rule = f"at least {least:g}" if above is None else f"greater than {above:g}"
    if not infinite:
        right, rule = right & np.isfinite(array), f"finite and {rule}"
    if not right.all():
        raise ValueError(f"`{name}` must be {rule}, got {array[~right].flat[0]:g}.")
    return array


def as_given(result: Computed) -> Any:
    """Return a plain Python number where every argument was a single number."""
    return result.item() if np.ndim(result) == 0 else result
