"""Maps of observations to test on, in place of the matrix of a random word.

| name | what it shows | norm |
|---|---|---|
| `tile` | ⌊d_in/d_obs⌋ copies of the observation, then zeros | σ, as in training |
| `minus_tile` | the same with the sign turned | σ |
| `tile_unit` | the same as `tile`, as the authors' release has it | 1 |
| `minus_tile_unit` | the same with the sign turned | 1 |
| `tile_literal` | the copies as they are, as the paper's text says | √copies |
| `pad` | the observation, then zeros | σ |
| `identity` | the same, where d_in = d_obs | σ |
| `random` | a fresh Haar matrix for each environment, never seen before | σ |
| `gaussian` | the same with independent entries N(0, σ²/d_in): no isometry | near σ |
| `zero` | zeros: the observation is blanked | 0 |

Here d_obs and d_in are the sizes of the observation and of the agent's input, and σ is
`projection.scale`. Your own map is a function `f(input_dim, obs_dim)` that returns a
d_in x d_obs matrix, named `module:attribute`; it is multiplied by σ. (Appendix D.5 of
the paper.)
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from freeproj.storage.names import Registry

__all__ = ["MAPS", "ObservationMap", "fixed_map", "identity", "is_drawn", "pad", "tile"]

_Matrix = Float[np.ndarray, "d_in d_obs"]


class ObservationMap(NamedTuple):
    """A fixed matrix for each pair of sizes; `scaled` ones are multiplied by σ."""

    matrix: Callable[[int, int], np.ndarray]
    scaled: bool = True


def tile(input_dim: int, obs_dim: int, *, rescale: bool = True) -> _Matrix:
    """Stack ⌊d_in/d_obs⌋ copies, over √copies if `rescale`, and zeros after them."""
    _check_sizes("tile", input_dim, obs_dim)
    copies = input_dim // obs_dim
    stacked = pad(input_dim, copies * obs_dim) @ np.tile(np.eye(obs_dim), (copies, 1))
    return (stacked / math.sqrt(copies) if rescale else stacked).astype(np.float32)


def pad(input_dim: int, obs_dim: int) -> _Matrix:
    """Put zeros after the observation."""
    _check_sizes("pad", input_dim, obs_dim)
    return np.eye(input_dim, obs_dim, dtype=np.float32)


def identity(input_dim: int, obs_dim: int) -> _Matrix:
    """Show the observation as it is; needs d_in = d_obs."""
    if input_dim != obs_dim:
        raise ValueError(
            f"The map `identity` needs `input_dim` = size of the observation, got "
            f"{input_dim} and {obs_dim}; use `pad` or `tile`."
        )
    return np.eye(input_dim, dtype=np.float32)


# Those of no matrix are drawn by the evaluation, one for each environment.
MAPS: Registry[ObservationMap | Callable[[int, int], np.ndarray] | None] = Registry(
    "map of observations"
)
MAPS |= {
    "tile": ObservationMap(tile),
    "minus_tile": ObservationMap(lambda rows, size: -tile(rows, size)),
    "tile_unit": ObservationMap(tile, scaled=False),
    "minus_tile_unit": ObservationMap(lambda rows, size: -tile(rows, size), False),
    "tile_literal": ObservationMap(partial(tile, rescale=False), scaled=False),
    "pad": ObservationMap(pad),
    "identity": ObservationMap(identity),
    "random": None,
    "gaussian": None,
    "zero": ObservationMap(lambda rows, size: np.zeros((rows, size), np.float32)),
}


def is_drawn(name: str) -> bool:
    """Whether each environment draws a matrix of its own under the map of that name."""
    return MAPS.resolve(name) is None


def fixed_map(name: str, input_dim: int, obs_dim: int, scale: float = 1.0) -> _Matrix:
    """Return the matrix of the fixed map of that name, times σ if it is `scaled`."""
    found = MAPS.resolve(name)
    if found is None:
        raise ValueError(f"The map {name!r} is not fixed: each environment draws one.")
    if not isinstance(found, ObservationMap):
        found = ObservationMap(found)
    matrix = np.asarray(found.matrix(input_dim, obs_dim), np.float32)
    if matrix.shape != (input_dim, obs_dim):
        raise ValueError(
            f"The map {name!r} must give {input_dim} x {obs_dim} matrices (inputs x "
            f"observation), got {' x '.join(map(str, matrix.shape))}."
        )
    return np.float32(scale) * matrix if found.scaled else matrix


def _check_sizes(name: str, input_dim: int, obs_dim: int) -> None:
    if not 1 <= obs_dim <= input_dim:
        raise ValueError(
            f"The map `{name}` needs 1 <= size of the observation <= `input_dim`, got "
            f"{obs_dim} and {input_dim}."
        )
