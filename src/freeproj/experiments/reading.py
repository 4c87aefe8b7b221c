"""Read folders of runs into records; a cache beside the runs keeps the result.

Runs are found by their `config.toml`, up to 32 folders deep; other files are left
alone. The cache, `.freeproj-dataset.npz`, is used for a run only while the names, times
and sizes of its files are as they were when it was read, and only by the code that
wrote it. A cache that is damaged, or cannot be written, is ignored.
"""

import contextlib
import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from freeproj.experiments.records import RunRecord, SetAside, read_record
from freeproj.experiments.store import load_records, save_records

__all__ = ["CACHE", "find_runs", "read_folder"]

CACHE = ".freeproj-dataset.npz"
_FILES = ("config.toml", "log.jsonl", "timing.jsonl", "final.json", "diverged.json")
_MAX_DEPTH = 32  # of the folders below the one that is read
_READERS = ("learning/config", "projection/projection", "experiments/settings")
_READERS += ("experiments/records", "experiments/log", "experiments/store")

_Signature = list[list[str | int]]
_Records = dict[str, RunRecord | SetAside]


def read_folder(folder: Path) -> _Records:
    """Read every run below a folder, from its cache where nothing has changed."""
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder of runs.")
    found = find_runs(folder)
    seen = {str(path.relative_to(folder)): _signature(path) for path in found}
    cached = _read_cache(folder / CACHE, seen)
    new = {name: read_record(folder / name) for name in seen if name not in cached}
    records = {name: cached[name] if name in cached else new[name] for name in seen}
    # A running run will have changed by the next reading: not worth a new cache.
    if any(each.health != "running" for each in new.values()):
        meta = {"reader": _reader(), "signatures": seen}
        with contextlib.suppress(OSError):
            save_records(folder / CACHE, records, meta)
    return records


def find_runs(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Yield the folders that have settings, or may not be read, sorted by path."""
    try:
        with os.scandir(folder) as entries:
            below = sorted(entries, key=lambda entry: entry.name)
    except PermissionError:
        yield folder
        return
    is_run = any(entry.name == "config.toml" for entry in below)
    if is_run:
        yield folder
    for entry in below if depth < _MAX_DEPTH else ():
        if entry.name.startswith(".") or (is_run and entry.name == "checkpoint"):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from find_runs(folder / entry.name, depth + 1)


def _read_cache(path: Path, seen: dict[str, _Signature]) -> _Records:
    try:
        records, meta = load_records(path, path.parent)
    except (ValueError, OSError):
        return {}
    known = meta.get("signatures")
    if meta.get("reader") != _reader() or not isinstance(known, dict):
        return {}
    same = (name for name in records if known.get(name) == seen.get(name))
    return {name: records[name] for name in same}


def _signature(run: Path) -> _Signature:
    found: _Signature = []
    for name in _FILES:
        with contextlib.suppress(OSError):
            status = os.stat(run / name)
            found.append([name, status.st_mtime_ns, status.st_size])
    return found


@functools.cache
def _reader() -> str:
    """Return the hash of the code that reads runs."""
    root = Path(__file__).parents[1]
    code = b"".join((root / f"{name}.py").read_bytes() for name in _READERS)
    return hashlib.sha256(code).hexdigest()
