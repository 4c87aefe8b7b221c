"""Records in one file (an index in JSON, all numbers in one array), or as a table.

Nothing is pickled. The file serves as the cache beside a folder of runs and as the form
in which results are published. Numbers come back bit for bit.
"""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from freeproj.experiments.records import RunRecord, SetAside, checked
from freeproj.storage.arrays import read_arrays
from freeproj.storage.files import DAMAGED, check_regular, write_atomically, write_text

__all__ = ["is_stored", "load_records", "save_records"]
__all__ += ["tidy_rows", "write_csv"]

_FORMAT = 1
_Records = Mapping[str, RunRecord | SetAside]


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
