"""Many records: read from a folder of runs, kept in one file, or written as a table.

Runs are found by their `config.toml`, up to 32 folders deep; other files are left
alone. One file holds an index in JSON and all numbers in one array. Published results
have this form, and so has the cache beside a folder of runs: it is used for a run only
while the names, times and sizes of its files are as they were when it was read, and
only by the code that wrote it. A cache that is damaged, or cannot be written, is
ignored. Numbers come back bit for bit, and nothing is pickled.
"""

import contextlib
import csv
import functools
import hashlib
import io
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from freeproj.experiments.records import RunRecord, SetAside, checked, read_record
from freeproj.storage.arrays import read_arrays
from freeproj.storage.files import DAMAGED, check_regular, write_atomically, write_text

__all__ = ["CACHE", "find_runs", "is_stored", "load_records", "read_folder"]
__all__ += ["save_records", "tidy_rows", "write_csv"]

CACHE = ".freeproj-dataset.npz"
_FILES = ("config.toml", "log.jsonl", "timing.jsonl", "final.json", "diverged.json")
_MAX_DEPTH = 32  # of the folders below the one that is read
_READERS = ("learning/config", "projection/projection", "experiments/settings")
_READERS += ("experiments/records", "experiments/log", "experiments/store")
_FORMAT = 1  # of the file

_Signature = list[list[str | int]]
_Records = Mapping[str, RunRecord | SetAside]


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


def save_records(
    path: Path, records: _Records, meta: Mapping[str, Any], *, compressed: bool = False
) -> None:
    """Write records by path, and `meta`, further facts about them."""
    index, parts = [], [np.zeros(0)]
    for name, each in records.items():
        if isinstance(each, SetAside):
            index.append({"path": name, "health": each.health, "reason": each.reason})
        else:
            columns = each.metrics.items()
            entry = {"path": name, "name": each.name, "settings": dict(each.settings)}
            entry |= {"health": each.health, "n": len(each.updates)}
            entry["columns"] = [[name, list(c.shape[1:])] for name, c in columns]
            entry["seconds"] = None if math.isnan(each.seconds) else each.seconds
            index.append({**entry, "meta": dict(each.meta)})
            parts += [each.updates.astype(float), *(c.ravel() for _, c in columns)]
    text = json.dumps({"format": _FORMAT, "meta": dict(meta), "records": index})
    letters, values = np.frombuffer(text.encode(), np.uint8), np.concatenate(parts)
    write = np.savez_compressed if compressed else np.savez
    write_atomically(path, lambda file: write(file, index=letters, values=values))


def load_records(
    path: Path, folder: Path | None = None
) -> tuple[_Records, dict[str, Any]]:
    """Read what `save_records` wrote, of runs in a folder; else raise ValueError."""
    check_regular(path)
    try:
        arrays = read_arrays(path)
        index, values = json.loads(arrays["index"].tobytes()), arrays["values"]
        if index["format"] != _FORMAT or values.dtype != float or values.ndim != 1:
            raise ValueError("written by another version")
        return _unpack(index["records"], values, folder), dict(index["meta"])
    except (*DAMAGED, AttributeError) as error:
        text = str(error).rstrip(".")
        if not text or "pickle" in text:  # NumPy advises to unpickle the file
            text = "it is damaged"
        raise ValueError(f"{path} cannot be read: {text}.") from error


def is_stored(path: Path) -> bool:
    """Whether an .npz file holds records, as far as its members' names tell."""
    try:
        with ZipFile(path) as archive:
            return "index.npy" in archive.namelist()
    except (OSError, BadZipFile):
        return True  # reading it says what is wrong


def _unpack(
    index: Sequence[Mapping[str, Any]], values: np.ndarray, folder: Path | None
) -> _Records:
    records: dict[str, RunRecord | SetAside] = {}
    at = 0
    for entry in index:
        path = str(entry["path"])
        if "reason" in entry:
            health, reason = str(entry["health"]), str(entry["reason"])
            records[path] = SetAside((folder or Path()) / path, health, reason)
            continue
        n, metrics = int(entry["n"]), {}
        updates, at = values[at : at + n].astype(np.int64), at + n
        for name, width in entry["columns"]:
            size = n * math.prod(width)
            metrics[name], at = values[at : at + size].reshape(n, *width), at + size
        named = str(entry["name"]), _hashable(entry["settings"]), str(entry["health"])
        seconds = math.nan if entry["seconds"] is None else float(entry["seconds"])
        rest = folder and folder / path, seconds, dict(entry["meta"])
        records[path] = checked(RunRecord(*named, updates, metrics, *rest))
    if at != len(values):
        raise ValueError("the index does not match the numbers")
    return records


def _hashable(value: Any) -> Any:
    """Return lists, which is how JSON has tuples, as tuples, also within a table."""
    if isinstance(value, dict):
        return {key: _hashable(each) for key, each in value.items()}
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def tidy_rows(runs: Sequence[RunRecord]) -> Iterator[dict[str, Any]]:
    """Yield a row for each run, update and metric, with all settings of the run.

    The columns are run, health, seconds, the settings, update, metric and value. The
    returns of each trial are metrics of their own: `test/tile/trial_returns[0]`, ….
    """
    keys = dict.fromkeys(key for run in runs for key in run.settings)
    for run in runs:
        before = {"run": run.name, "health": run.health, "seconds": run.seconds}
        before |= {key: run.settings.get(key) for key in keys}
        for name, column in run.metrics.items():
            for number, part in enumerate([column] if column.ndim == 1 else column.T):
                metric = name if column.ndim == 1 else f"{name}[{number}]"
                for update, value in zip(run.updates, part, strict=True):
                    if not math.isnan(value):
                        found = {"update": int(update), "metric": metric}
                        yield before | found | {"value": float(value)}


def write_csv(runs: Sequence[RunRecord], path: Path) -> Path:
    """Write the table, whole or not at all; numbers with all of their digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, row in enumerate(tidy_rows(runs)):
        if not number:
            writer.writerow(row)
        writer.writerow(map(_text, row.values()))
    write_text(path, text.getvalue())
    return path


def _text(value: Any) -> str:
    """Write a cell; text that a spreadsheet would take for a formula is quoted."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str) and value[:1] not in tuple("=+-@\t\r"):
        return value
    return json.dumps(value)
