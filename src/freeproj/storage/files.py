"""Files that exist whole or not at all, even after a power cut; and locks.

A file counts as stored once it and its folder are synced: a rename that is not synced
may be undone, or may outlive what was written before it.
"""

import contextlib
import io
import os
import secrets
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from freeproj.storage.signals import stoppable

__all__ = ["DAMAGED", "append_synced", "check_regular", "clear_temporaries"]
__all__ += ["locked", "read_regular", "write_atomically", "write_text"]

# What NumPy and zipfile raise on files that are damaged or of another format.
DAMAGED = (
    *(ValueError, TypeError, KeyError, OSError, EOFError, OverflowError),
    *(MemoryError, NotImplementedError, RuntimeError, SyntaxError),
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
)


def write_atomically(
    path: Path, write: Callable[[IO[bytes]], Any], *, sync: bool = True
) -> None:
    """Call `write(binary file)`, store what it wrote beside `path`, then move it there.

    In this order: write, sync the file, rename, sync the folder. Without `sync` the
    file survives a kill, but not always a power cut.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file.")
    contents = io.BytesIO()
    write(contents)
    _make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with stoppable():  # a signal waits, so that no temporary file stays behind
        try:
            _store(temporary, contents.getvalue(), os.O_CREAT | os.O_EXCL, sync=sync)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        if sync:
            _sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Write a text, whole or not at all."""
    write_atomically(path, lambda file: file.write(text.encode()))


def append_synced(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Append to a file and wait until it is on disk, unless `sync` is off."""
    is_new = not path.exists()
    # A link could lead to any file of the user's.
    no_link = getattr(os, "O_NOFOLLOW", 0)
    _store(path, data, os.O_CREAT | os.O_APPEND | no_link, sync=sync)
    if is_new and sync:
        _sync_folder(path.parent)


def clear_temporaries(path: Path) -> None:
    """Delete what killed writers of `path` have left; the caller must hold its lock."""
    for temporary in path.parent.glob(f".{path.name}.*"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


@contextlib.contextmanager
def locked(path: Path, refusal: Exception) -> Iterator[None]:
    """Lock a file in this block; raise the refusal if another process holds it.

    The lock ends with the process, so a killed process leaves no lock behind. What the
    file holds stays as it is; a link is not followed, and a pipe is refused.
    """
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if path.is_symlink():
        raise ValueError(f"{path} is a link, not a lock; delete it.")
    with open(os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o644), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path} is not a regular file.")
        try:
            _lock(file)
        except BlockingIOError:
            raise refusal from None
        yield


def check_regular(path: str | Path) -> None:
    """Refuse what is missing, a folder, and a pipe or device, which may block."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file.") from None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a folder; name a file.")
    if not stat.S_ISREG(mode):
        raise ValueError(f"{path} is not a regular file.")


def read_regular(path: str | Path, limit: int) -> bytes:
    """Return the contents of a regular file of at most `limit` bytes."""
    check_regular(path)
    with open(path, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"{path} is larger than {limit:,} bytes.")
    return data


def _lock(file: IO[Any]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # pyright: ignore
        except OSError as error:
            raise BlockingIOError from error
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _store(path: Path, data: bytes, flags: int, *, sync: bool = True) -> None:
    binary = getattr(os, "O_BINARY", 0)  # of Windows
    handle = os.open(path, os.O_WRONLY | binary | flags, 0o644)
    with open(handle, "wb", buffering=0):  # which closes it
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        if sync:
            os.fsync(handle)


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it, each synced into the one that holds it."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder.")
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open folders, and need not
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
