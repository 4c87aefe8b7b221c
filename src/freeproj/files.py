"""Files that are there whole or not at all, and files that lock."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

__all__ = ["lock_file", "write_atomically"]


def write_atomically(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Calls `write(binary file)` on a file beside `path`, then moves it there."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file.")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def lock_file(file: IO[Any]) -> None:
    """Lock an open file until it is closed; raise BlockingIOError if another holds it.

    The lock goes with the process, so one that is killed leaves none behind.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # pyright: ignore
        except OSError as error:
            raise BlockingIOError(f"{file.name} is locked") from error
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
