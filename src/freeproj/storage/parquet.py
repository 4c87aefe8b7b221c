"""Parquet files of unknown origin: counted before they are read, then row by row.

A file of some kilobytes can stand for billions of equal rows, or repeat one long text
in each of them. So the rows, the cells and the longest text are compared with limits
before anything is unpacked.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from freeproj.storage.files import check_regular

__all__ = ["MAX_CELLS", "duckdb_or_hint", "open_parquet"]

MAX_CELLS = 2**29  # 4 GiB of numbers
_MAX_COLUMNS = 10_000
_MAX_TEXT = 2**14  # bytes of a cell
_NUMBERS = re.compile(r"U?(BIG|SMALL|TINY|HUGE)?INT(EGER)?|DOUBLE|FLOAT|BOOLEAN")


@contextlib.contextmanager
def open_parquet(path: Path, *, max_rows: int | None = None) -> Iterator[Any]:
    """Yield a DuckDB cursor over all rows of a file; DuckDB's errors pass through."""
    check_regular(path)
    # Brackets escape the characters that DuckDB would read as a pattern.
    name = [re.sub(r"([*?\[])", r"[\1]", os.fspath(path))]
    with duckdb_or_hint().connect(config={"memory_limit": "4GB"}) as connection:
        counted = "SELECT sum(num_rows) FROM parquet_file_metadata(?)"
        ((n_rows,),) = connection.execute(counted, name).fetchall()
        cursor = connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", name)
        columns = {column[0]: str(column[1]) for column in cursor.description}
        if max_rows is not None and n_rows > max_rows:
            raise ValueError(
                f"{path} unpacks to {n_rows:,} rows, more than its size can mean "
                f"({max_rows:,})."
            )
        n_columns = len(cursor.description)
        if n_columns > _MAX_COLUMNS or n_rows * n_columns > MAX_CELLS:
            raise ValueError(f"{path} is too large: {n_rows:,} x {n_columns:,} cells.")
        _check_texts(connection, name, columns, path)
        yield connection.execute("SELECT * FROM read_parquet(?)", name)


def duckdb_or_hint() -> Any:
    """Return the module, or say how to install it."""
    try:
        import duckdb
    except ImportError as error:
        raise ImportError(
            'Parquet needs duckdb: python -m pip install "freeproj[report]"'
        ) from error
    return duckdb


def _check_texts(
    connection: Any, name: list[str], columns: dict[str, str], path: Path
) -> None:
    texts = [each for each, kind in columns.items() if not _NUMBERS.fullmatch(kind)]
    for text in texts:
        quoted = '"' + text.replace('"', '""') + '"'
        query = f"SELECT max(strlen({quoted}::VARCHAR)) FROM read_parquet(?)"
        ((longest,),) = connection.execute(query, name).fetchall()
        if (longest or 0) > _MAX_TEXT:
            raise ValueError(f"{path} has a text of {longest:,} bytes in a cell.")
