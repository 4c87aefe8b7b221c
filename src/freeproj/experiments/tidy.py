"""Datasets as tidy tables: a row for each run, update and metric, in CSV or Parquet.

The columns are run, health, seconds, the settings, update, metric and value. Settings
that are the same in all runs are written too, so that a table describes its runs fully.
The returns of each trial are metrics of their own: `test/tile/trial_returns[0]` and so
on.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from freeproj.experiments.records import RunRecord, checked
from freeproj.storage.files import check_regular, write_atomically
from freeproj.storage.parquet import duckdb_or_hint, open_parquet

if TYPE_CHECKING:
    from freeproj.experiments.dataset import Dataset

__all__ = ["read_csv", "read_parquet", "write_csv", "write_parquet"]

_BEFORE, _AFTER = ("run", "health", "seconds"), ("update", "metric", "value")
_INDEXED = re.compile(r"(.*)\[(\d{1,4})\]", re.ASCII | re.DOTALL)
_MAX_LINE = 2**20  # characters
_MAX_RUNS = 100_000


def write_csv(dataset: Dataset, path: Path) -> Path:
    """Write the table, whole or not at all; numbers come back bit for bit."""

    def write(file: Any) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        keys = _keys(dataset)
        writer.writerow([*_BEFORE, *keys, *_AFTER])
        for run in dataset.runs:
            writer.writerows(_rows(run, keys))
        text.detach()

    write_atomically(path, write)
    return path


def write_parquet(dataset: Dataset, path: Path) -> Path:
    """Write the table as Parquet."""
    duckdb = duckdb_or_hint()
    with tempfile.TemporaryDirectory() as folder:
        table = write_csv(dataset, Path(folder) / "table.csv")
        out = Path(folder) / "table.parquet"
        with duckdb.connect() as connection:
            columns = dict.fromkeys(_header(table), "VARCHAR") | {
                "seconds": "DOUBLE", "update": "BIGINT", "value": "DOUBLE"
            }  # fmt: skip
            connection.read_csv(str(table), header=True, columns=columns).write_parquet(
                str(out), compression="zstd"
            )
        write_atomically(path, lambda file: file.write(out.read_bytes()))
    return path


def read_csv(path: Path) -> tuple[RunRecord, ...]:
    """Read a table; an error names the line."""
    check_regular(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(_lines(path, file), strict=True)
            header = next(reader, [])
            _check_header(path, header)
            return _records(path, header, reader)
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8.") from None
    except csv.Error as error:
        raise ValueError(f"{path} is not a CSV file: {error}.") from error


def read_parquet(path: Path) -> tuple[RunRecord, ...]:
    """Read a table from Parquet."""
    check_regular(path)
    duckdb = duckdb_or_hint()
    # A row has numbers of its own: a quarter of a byte at the least.
    max_rows = 10**6 + 4 * path.stat().st_size
    try:
        with open_parquet(path, max_rows=max_rows) as cursor:
            header = [column[0] for column in cursor.description]
            _check_header(path, header)
            return _records(path, header, _fetched(cursor))
    except duckdb.Error as error:
        raise ValueError(f"{path} is not a Parquet file of runs: {error}") from error


def _fetched(cursor: Any) -> Iterator[Sequence[Any]]:
    """Yield the rows of a query a few at a time."""
    while rows := cursor.fetchmany(256):
        yield from rows


def _lines(path: Path, file: TextIO) -> Iterator[str]:
    """Yield the lines of a file; refuse one that is too long."""
    while line := file.readline(_MAX_LINE):
        if len(line) == _MAX_LINE:
            raise ValueError(f"{path} has a line of {_MAX_LINE:,} characters or more.")
        yield line


def _keys(dataset: Dataset) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for run in dataset.runs for key in run.settings))


def _rows(run: RunRecord, keys: Sequence[str]) -> Iterator[list[Any]]:
    seconds = "" if math.isnan(run.seconds) else repr(run.seconds)
    settings = [_text(run.settings[key]) if key in run.settings else "" for key in keys]
    before = [_text(run.name), run.health, seconds, *settings]
    for name, column in run.metrics.items():
        parts = [column] if column.ndim == 1 else column.T
        for index, part in enumerate(parts):
            metric = name if column.ndim == 1 else f"{name}[{index}]"
            there = ~np.isnan(part)
            for update, value in zip(run.updates[there], part[there], strict=True):
                yield [*before, int(update), metric, repr(float(value))]


def _text(value: Any) -> str:
    """Write a setting so that its type comes back; plain text stays as it is."""
    if isinstance(value, str):
        # Text that a spreadsheet would take for a formula is quoted too.
        is_plain = value[:1] not in ("", "=", "+", "-", "@", "\t", "\r")
        return value if is_plain and _setting(value) == value else json.dumps(value)
    return json.dumps(value)


def _setting(text: str) -> Any:
    """Return what `_text` wrote; whatever else the text may be stays a text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    return value if isinstance(value, str | bool | int | float) else text


def _header(path: Path) -> list[str]:
    with open(path, encoding="utf-8", newline="") as file:
        return next(csv.reader(file))


def _check_header(path: Path, header: Sequence[str]) -> None:
    missing = [name for name in (*_BEFORE, *_AFTER, "seed") if name not in header]
    if missing or len(set(header)) != len(header):
        problem = f"lacks {', '.join(missing)}" if missing else "has a column twice"
        raise ValueError(f"{path} is not a table of runs: its first line {problem}.")


def _records(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> tuple[RunRecord, ...]:
    place = {name: header.index(name) for name in header}
    runs: dict[tuple, dict[str, dict[int, float]]] = {}
    fixed = [place[name] for name in header if name not in _AFTER]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {number}: {len(row)} fields, but {len(header)} columns."
            )
        update, value = _pair(path, number, row[place["update"]], row[place["value"]])
        metrics = runs.setdefault(tuple(_plain(row[i]) for i in fixed), {})
        if len(runs) > _MAX_RUNS:
            raise ValueError(f"{path} has more than {_MAX_RUNS:,} runs.")
        column = metrics.setdefault(str(row[place["metric"]]), {})
        if update in column:
            raise ValueError(f"{path}, line {number}: this update is there twice.")
        column[update] = value
    names = [header[i] for i in fixed]
    return tuple(
        _record(path, dict(zip(names, key, strict=True)), metrics)
        for key, metrics in runs.items()
    )


def _plain(cell: Any) -> str:
    """Return a cell as CSV has it; Parquet has types of its own."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    return json.dumps(cell, default=str)


def _pair(path: Path, number: int, update: Any, value: Any) -> tuple[int, float]:
    try:
        found = int(update), float(value)
        if 0 <= found[0] < 2**53:
            return found
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(
        f"{path}, line {number}: `update` must be a whole number and `value` a number, "
        f"got {update!r} and {value!r}."
    )


def _record(
    path: Path, before: Mapping[str, str], metrics: Mapping[str, Mapping[int, float]]
) -> RunRecord:
    settings = {
        key: _setting(value)
        for key, value in before.items()
        if key not in _BEFORE and value
    }
    updates = np.unique([update for column in metrics.values() for update in column])
    columns: dict[str, np.ndarray] = {}
    parts: dict[str, dict[int, np.ndarray]] = {}
    for name, column in metrics.items():
        values = np.full(len(updates), math.nan)
        values[np.searchsorted(updates, list(column))] = list(column.values())
        indexed = _INDEXED.fullmatch(name)
        if indexed:
            parts.setdefault(indexed[1], {})[int(indexed[2])] = values
        else:
            columns[name] = values
    stacked = {name: _stacked(each, len(updates)) for name, each in parts.items()}
    if both := sorted(set(columns) & set(stacked)):
        raise ValueError(f"{path}: {both[0]!r} is both a number and a list.")
    record = RunRecord(
        str(_setting(before["run"])),
        settings,
        before["health"],
        updates.astype(np.int64),
        columns | stacked,
        seconds=_seconds(path, before["seconds"]),
    )
    try:
        return checked(record)
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).rstrip('.')}.") from None


def _stacked(parts: Mapping[int, np.ndarray], n_updates: int) -> np.ndarray:
    """Put columns in the order of their numbers; a column without rows is all nan."""
    table = np.full((n_updates, max(parts) + 1), math.nan)
    for index, values in parts.items():
        table[:, index] = values
    return table


def _seconds(path: Path, text: str) -> float:
    try:
        return float(text) if text else math.nan
    except ValueError:
        raise ValueError(f"{path}: `seconds` must be a number, got {text!r}.") from None
