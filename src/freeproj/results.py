"""A run on disk: written as it goes, resumed where it broke, never overwritten.

A run is a folder named by its settings:

    config.toml        the settings
    log.jsonl          a line for each update, appended and flushed
    checkpoint/        the state after the last update, replaced whole
    agent.npz          the weights, at the end
    final.json         the last line of the log: the run is finished
    timing.jsonl       when each update ended; apart, as it differs between equal runs

An update counts once its checkpoint is in place; what the log has beyond it is cut off
when the run goes on. Nothing is pickled: arrays are stored by number and must fit the
shapes that the settings imply. Where there is no data the log has null.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from freeproj.config import TrainConfig, read_config, to_toml
from freeproj.files import write_atomically

__all__ = ["LockedRunError", "Run", "load_tree", "open_run", "read_run", "save_tree"]


class LockedRunError(ValueError):
    """Another process is writing the run."""


class Run:
    """The folder of one run.

    The only object of this package that stands for something that changes: the disk.
    """

    def __init__(self, folder: Path, config: TrainConfig):
        self.folder = folder
        self.config = config

    @property
    def is_finished(self) -> bool:
        """Whether the run has come to its end."""
        return (self.folder / "final.json").exists()

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is a state to go on from."""
        return self._checkpoint.exists()

    def log(self) -> list[dict[str, Any]]:
        """Reads the updates so far; a line torn by a crash is left out."""
        return [_with_nans(row) for row in _lines(self.folder / "log.jsonl")]

    def times(self) -> list[float]:
        """Reads when each update ended, in seconds since 1970."""
        path = self.folder / "timing.jsonl"
        try:
            return [float(row["time"]) for row in _lines(path)]
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path} has a line without a time.") from error

    def resume(self, like: PyTree) -> tuple[PyTree, int]:
        """Returns the stored state and the number of updates behind it.

        Args:
            like: a state of the same settings, for its structure and shapes.
        """
        state = load_tree(self._checkpoint, like)
        n_done = int(state.n_done)
        self.cut(n_done)
        if len(self.log()) != n_done:
            raise ValueError(
                f"{self.folder}/log.jsonl has {len(self.log())} updates, the "
                f"checkpoint {n_done}: the log was changed; start the run elsewhere."
            )
        return state, n_done

    def cut(self, n_done: int) -> None:
        """Drops what the log has beyond the updates that are safe in a checkpoint."""
        for name in ("log.jsonl", "timing.jsonl"):
            rows = _lines(self.folder / name)[:n_done]
            text = "".join(json.dumps(row) + "\n" for row in rows).encode()
            write_atomically(self.folder / name, lambda file, t=text: file.write(t))

    def record(self, state: PyTree, row: dict[str, Any]) -> None:
        """Appends an update to the log, then stores the state behind it."""
        _append(self.folder / "log.jsonl", _without_nans(row))
        now = {"update": row["update"], "time": time.time()}
        _append(self.folder / "timing.jsonl", now)
        save_tree(self._checkpoint, state)

    def finish(self, agent: PyTree) -> None:
        """Stores the weights, and the last line of the log as the end of the run."""
        save_tree(self.folder / "agent.npz", agent)
        last = json.dumps(_without_nans(self.log()[-1]), indent=2) + "\n"
        write_atomically(
            self.folder / "final.json", lambda file: file.write(last.encode())
        )

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Keeps other processes out, for as long as this one lives."""
        with open(self.folder / "lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LockedRunError(
                    f"{self.folder} is being written by another process; wait for it."
                ) from None
            yield

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint" / "state.npz"


def open_run(out: str | Path, config: TrainConfig) -> Run:
    """Returns the folder of these settings below `out`; makes it if need be."""
    folder = Path(out) / config.run_name
    stored = folder / "config.toml"
    if not stored.exists():
        text = to_toml(config)
        write_atomically(stored, lambda file: file.write(text.encode()))
    elif _config_of(stored) != config:
        raise ValueError(
            f"{folder} was made with other settings than its name says; it is left "
            "alone. Choose another `--out`."
        )
    return Run(folder, config)


def read_run(folder: str | Path) -> Run:
    """Opens the folder of a run that exists."""
    folder = Path(folder)
    if not (folder / "config.toml").is_file():
        raise FileNotFoundError(f"{folder} is not a run: it has no config.toml.")
    return Run(folder, _config_of(folder / "config.toml"))


def save_tree(path: Path, tree: PyTree) -> None:
    """Stores the arrays of a tree, by number, in one file."""
    leaves = [np.asarray(_plain(leaf)) for leaf in jax.tree.leaves(tree)]
    arrays: dict[str, Any] = {f"{i:05d}": leaf for i, leaf in enumerate(leaves)}
    write_atomically(path, lambda file: np.savez(file, **arrays))


def load_tree(path: Path, like: PyTree) -> PyTree:
    """Reads the arrays that `save_tree` stored into a tree of the same structure."""
    leaves, structure = jax.tree.flatten(like)
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            stored = [archive[f"{i:05d}"] for i in range(len(archive.files))]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path} cannot be read ({error}); is it damaged?") from error
    shapes = [jax.eval_shape(_plain, leaf).shape for leaf in leaves]
    if [array.shape for array in stored] != shapes:
        raise ValueError(
            f"{path} was written with other settings or another version: its arrays "
            "do not fit."
        )
    pairs = zip(leaves, stored, strict=True)
    return jax.tree.unflatten(structure, [_like(leaf, array) for leaf, array in pairs])


def _plain(leaf: Any) -> Any:
    """Returns a leaf as numbers; random keys are their bits."""
    is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return jax.random.key_data(leaf) if is_key else leaf


def _like(leaf: Any, array: np.ndarray) -> Any:
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(array))
    return jnp.asarray(array, leaf.dtype)


def _config_of(path: Path) -> TrainConfig:
    try:
        return read_config(path)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _append(path: Path, row: dict[str, Any]) -> None:
    with open(path, "a") as file:
        file.write(json.dumps(row) + "\n")
        file.flush()


def _lines(path: Path) -> list[dict[str, Any]]:
    """Reads complete lines; the last one may be torn."""
    if not path.exists():
        return []
    rows = []
    lines = path.read_text(errors="replace").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            if number >= len(lines) - 1:
                break
            raise ValueError(
                f"{path}, line {number} is damaged: {line[:60]!r}"
            ) from None
    return rows


def _without_nans(value: Any) -> Any:
    """JSON has no nan: no data is null."""
    if isinstance(value, dict):
        return {key: _without_nans(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_nans(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _with_nans(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_nans(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_nans(each) for each in value]
    return math.nan if value is None else value
