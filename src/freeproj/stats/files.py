"""Tidy tables as CSV files: ours, and those of other codebases.

The first line names the columns, in any order; columns that are not ours are left out.
An empty `mean_return` reads as nan.
"""

from __future__ import annotations

import csv
import io
import os
import tempfile
from pathlib import Path
from typing import Any

from freeproj.stats.table import COLUMNS, Table, as_table, checked_table

__all__ = ["format_csv", "read_csv", "write_csv"]


def read_csv(path: str | Path, **fill: Any) -> Table:
    """Reads a tidy table; an error names the line.

    Args:
        fill: values for columns that the file lacks, the same in every row:
            `read_csv("theirs.csv", protocol="projection", counting="window")`.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"No file {path}.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, rows, lines = _read_rows(path, csv.reader(file, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is not a CSV file in UTF-8: {error}.") from error
    columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=False))
    columns = {name: columns.get(name, []) for name in header}
    for name, value in fill.items():
        if name not in COLUMNS:
            raise ValueError(f"No column {name!r}. Known: {', '.join(COLUMNS)}.")
        if name in columns:
            raise ValueError(f"{path} has a column `{name}` already; leave it out.")
        columns[name] = [value] * len(rows)
    _check_header(path, columns)
    columns["mean_return"] = [
        value if str(value).strip() else "nan" for value in columns["mean_return"]
    ]
    return checked_table(columns, lambda index: f"{path}, line {lines[index]}")


def write_csv(table: Any, path: str | Path) -> Path:
    """Writes a tidy table, whole or not at all, and returns its path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(format_csv(table))
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def format_csv(table: Any) -> str:
    """Returns the text of the file; numbers come back bit for bit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(as_table(table).rows())
    return text.getvalue()


def _read_rows(path: Path, reader: Any) -> tuple[list[str], list[list[str]], list[int]]:
    """Returns the header, the rows that hold anything, and their line numbers."""
    header = [name.strip() for name in next(reader, [])]
    if len(header) != len(set(header)):
        raise ValueError(f"{path}, line 1: a column name stands twice.")
    rows, lines = [], []
    for row in reader:
        if not row:
            continue
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {reader.line_num}: must have {len(header)} fields as "
                f"the first line has, got {len(row)}."
            )
        rows.append(row)
        lines.append(reader.line_num)
    return header, rows, lines


def _check_header(path: Path, columns: dict[str, list]) -> None:
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise ValueError(
            f"{path}, line 1: lacks the column(s) {', '.join(missing)}; add them, or "
            "give their values as arguments if they are the same in every row."
        )
