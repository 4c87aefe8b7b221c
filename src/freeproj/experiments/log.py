"""Logs: a line of JSON for each update, where null means no data.

Each line ends with its checksum, so that a changed or torn line is noticed.
"""

import contextlib
import itertools
import json
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from freeproj.storage.files import read_regular

__all__ = ["read_lines", "to_line", "whole_lines", "with_nans", "without_nans"]

_MARK = ', "crc": "'
_MAX_BYTES = 2**30  # of a log: some 400,000 updates


def to_line(row: dict[str, Any]) -> bytes:
    """Write a row as one line of JSON that ends with the CRC-32 of the rest."""
    text = json.dumps(row)
    return f'{text[:-1]}{_MARK}{_crc(text)}"}}\n'.encode()


def read_lines(path: Path, n_lines: int | None = None) -> list[dict[str, Any]]:
    """Read the complete lines, or the first of them; the last one may be torn.

    Lines of 0.1 have no checksum; they can only stand before those that have one.
    """
    rows, checked, lines = [], False, _lines(path)
    for number, line in enumerate(lines[:n_lines], start=1):
        row = _object(line)
        if row is None or (checked and "crc" not in row):
            if number == len(lines):
                break
            raise ValueError(f"{path}, line {number} is damaged: {line[:60]!r}")
        checked = row.pop("crc", None) is not None
        rows.append(row)
    return rows


def whole_lines(path: Path, n_lines: int) -> list[str]:
    """Return the first lines as they stand, up to the first that is damaged."""
    lines = _lines(path)[:n_lines]
    return list(itertools.takewhile(lambda line: _object(line) is not None, lines))


def without_nans(row: Any) -> Any:
    """Replace nan, which JSON lacks, by None: no data is null."""
    return _changed(row, lambda x: isinstance(x, float) and not math.isfinite(x), None)


def with_nans(row: Any) -> Any:
    """Undo `without_nans`."""
    return _changed(row, lambda x: x is None, math.nan)


def _changed(value: Any, where: Callable[[Any], bool], new: Any) -> Any:
    if isinstance(value, dict):
        return {key: _changed(each, where, new) for key, each in value.items()}
    if isinstance(value, list):
        return [_changed(each, where, new) for each in value]
    return new if where(value) else value


def _lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    text = read_regular(path, _MAX_BYTES).decode(errors="replace")
    return [line for line in text.split("\n") if line]


def _object(line: str) -> dict[str, Any] | None:
    """Parse a line; None if it is damaged."""
    with contextlib.suppress(ValueError, RecursionError):
        row = json.loads(line)
        same = _crc(line.rpartition(_MARK)[0] + "}")
        if isinstance(row, dict) and row.get("crc", same) == same:
            return row
    return None


def _crc(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
