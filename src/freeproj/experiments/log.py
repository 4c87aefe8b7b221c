"""Logs: a line of JSON for each update, where null means no data."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

__all__ = ["append_line", "read_lines", "with_nans", "without_nans"]


def append_line(path: Path, row: dict[str, Any]) -> None:
    """Append a row as one line of JSON."""
    with open(path, "a") as file:
        file.write(json.dumps(row) + "\n")
        file.flush()


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Reads complete lines; the last one may be torn."""
    if not path.exists():
        return []
    rows = []
    lines = path.read_text(errors="replace").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            rows.append(_object(line))
        except (ValueError, RecursionError):
            if number >= len(lines) - 1:
                break
            raise ValueError(
                f"{path}, line {number} is damaged: {line[:60]!r}"
            ) from None
    return rows


def without_nans(value: Any) -> Any:
    """JSON has no nan: no data is null."""
    if isinstance(value, dict):
        return {key: without_nans(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_nans(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def with_nans(value: Any) -> Any:
    """Undo `without_nans`."""
    if isinstance(value, dict):
        return {key: with_nans(each) for key, each in value.items()}
    if isinstance(value, list):
        return [with_nans(each) for each in value]
    return math.nan if value is None else value


def _object(line: str) -> dict[str, Any]:
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("not an object")
    return row
