"""Trees of arrays on disk: stored by number, read into the shapes that are expected.

Nothing is pickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from freeproj.storage.arrays import read_arrays
from freeproj.storage.files import DAMAGED, check_regular, write_atomically

__all__ = ["load_tree", "save_tree"]


def save_tree(
    path: Path,
    tree: PyTree,
    texts: Mapping[str, str] | None = None,
    *,
    sync: bool = True,
) -> None:
    """Store the arrays of a tree, by number, in one file; beside them texts, by name.

    A file with texts is one to keep or to send, so it is compressed.
    """
    leaves = [np.asarray(_plain(leaf)) for leaf in jax.tree.leaves(tree)]
    arrays: dict[str, Any] = {f"{i:05d}": leaf for i, leaf in enumerate(leaves)}
    named: dict[str, Any] = {
        name: np.array(text) for name, text in (texts or {}).items()
    }
    save = np.savez_compressed if named else np.savez
    write_atomically(path, lambda file: save(file, **arrays, **named), sync=sync)


def load_tree(path: Path, like: PyTree) -> PyTree:
    """Read the arrays that `save_tree` stored into a tree of the same structure."""
    leaves, structure = jax.tree.flatten(like)
    try:
        check_regular(path)
        arrays = read_arrays(path)
        count = sum(name.isdecimal() for name in arrays)
        stored = [arrays[f"{i:05d}"] for i in range(count)]
    except OSError as error:
        why = error.strerror or str(error).rstrip(".")
        raise ValueError(f"{path} cannot be read: {why}.") from error
    except DAMAGED as error:
        raise ValueError(f"{path} cannot be read: it is damaged.") from error
    shapes = [jax.eval_shape(_plain, leaf).shape for leaf in leaves]
    if [array.shape for array in stored] != shapes:
        raise ValueError(
            f"{path} was written with other settings or another version: its arrays "
            "do not fit."
        )
    pairs = zip(leaves, stored, strict=True)
    return jax.tree.unflatten(structure, [_like(leaf, array) for leaf, array in pairs])


def _plain(leaf: Any) -> Any:
    """Return a leaf as numbers; random keys are their bits."""
    is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return jax.random.key_data(leaf) if is_key else leaf


def _like(leaf: Any, array: np.ndarray) -> Any:
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(array))
    return jnp.asarray(array, leaf.dtype)
