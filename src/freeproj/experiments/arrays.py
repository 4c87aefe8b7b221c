"""Trees of arrays on disk: stored by number, read into the shapes that are expected.

Nothing is pickled, and nothing is converted: an array must have the shape and the type
that its place in the tree asks for.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from freeproj.storage.arrays import read_arrays
from freeproj.storage.files import DAMAGED, write_atomically

__all__ = ["check_weights", "load_tree", "save_tree", "tree_digest"]


def save_tree(
    path: Path, tree: PyTree, texts: Mapping[str, str] | None = None, sync: bool = True
) -> None:
    """Store the arrays of a tree by number; with texts, by name, in a smaller file."""
    leaves = [np.asarray(_plain(leaf)) for leaf in jax.tree.leaves(tree)]
    arrays: dict[str, Any] = {f"{i:05d}": leaf for i, leaf in enumerate(leaves)}
    arrays |= {name: np.array(text) for name, text in (texts or {}).items()}
    save = np.savez_compressed if texts else np.savez
    write_atomically(path, lambda file: save(file, **arrays), sync=sync)


def load_tree(path: Path, like: PyTree) -> PyTree:
    """Read the arrays that `save_tree` stored into a tree of the same structure."""
    leaves, structure = jax.tree.flatten(like)
    try:
        arrays = read_arrays(path)
        count = sum(name.isdecimal() for name in arrays)
        stored = [arrays[f"{i:05d}"] for i in range(count)]
    except OSError as error:
        why = error.strerror or str(error).rstrip(".")
        raise ValueError(f"{path} cannot be read: {why}.") from error
    except DAMAGED as error:
        raise ValueError(f"{path} cannot be read: it is damaged.") from error
    expected = [jax.eval_shape(_plain, leaf) for leaf in leaves]
    if [(a.shape, a.dtype) for a in stored] != [(e.shape, e.dtype) for e in expected]:
        raise ValueError(f"{path} is of other settings: its arrays do not fit.")
    return jax.tree.unflatten(structure, map(_like, leaves, stored))


def check_weights(tree: PyTree, path: Path, sha256: str | None = None) -> None:
    """Refuse weights that are not finite, or not those of a known checksum."""
    for place, leaf in jax.tree_util.tree_leaves_with_path(tree):
        numbers = jnp.issubdtype(leaf.dtype, jnp.inexact)
        if numbers and not np.isfinite(np.asarray(leaf)).all():
            name = jax.tree_util.keystr(place).lstrip(".")
            raise ValueError(f"{path} has weights that are not finite, in {name}.")
    if sha256 not in (None, tree_digest(tree)):
        text = f"{path} is damaged: it holds other weights than its card says."
        raise ValueError(text)


def tree_digest(tree: PyTree) -> str:
    """Return the SHA-256 of all arrays of a tree, their shapes and types included."""
    digest = hashlib.sha256()
    for leaf in jax.tree.leaves(tree):
        array = np.asarray(_plain(leaf))
        digest.update(f"{array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(leaf: Any) -> Any:
    """Return a leaf as numbers; random keys are their bits."""
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _like(leaf: Any, array: np.ndarray) -> Any:
    stored = jnp.asarray(array)
    return jax.random.wrap_key_data(stored) if _is_key(leaf) else stored
