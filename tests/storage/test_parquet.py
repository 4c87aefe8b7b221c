"""Parquet files that stand for more than they hold are refused before they unpack."""

import resource

import pytest

from fake_dataset import fake_dataset
from freeproj.experiments.tidy import read_parquet, write_parquet

duckdb = pytest.importorskip("duckdb")


def write(path, query):
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def peak():
    """Return the most memory that this process has had so far, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def columns_of_a_table(folder):
    """Return the columns of a table of runs, as constants of a query."""
    data = fake_dataset({"projection.length": (1, 4)}, 1)
    whole = write_parquet(data, folder / "whole.parquet")
    with duckdb.connect() as connection:
        cursor = connection.execute(f"SELECT * FROM '{whole}' LIMIT 1")
        names = [column[0] for column in cursor.description]
        ((*values,),) = cursor.fetchall()
    texts = [
        f"'{value}' AS \"{name}\"" if isinstance(value, str) else f'{value} AS "{name}"'
        for name, value in zip(names, values, strict=True)
        if name not in ("update", "seconds")
    ]
    return ", ".join([*texts, "1.0 AS seconds"])


def test_rows_without_end_take_no_memory(tmp_path):
    columns = columns_of_a_table(tmp_path)
    query = f'SELECT {columns}, range AS "update" FROM range(4000000)'
    path = write(tmp_path / "bomb.parquet", query)
    with duckdb.connect() as connection:  # as an attacker would pack it
        connection.execute(
            f"COPY (SELECT * REPLACE (1 AS \"update\") FROM '{path}') TO "
            f"'{tmp_path / 'small.parquet'}' (FORMAT parquet, COMPRESSION zstd)"
        )
    small = tmp_path / "small.parquet"
    assert small.stat().st_size < 300_000
    before = peak()
    with pytest.raises(ValueError, match=r"small\.parquet unpacks to 4,000,000 rows"):
        read_parquet(small)
    assert peak() - before < 2**27


def test_a_long_text_in_every_row_is_refused(tmp_path):
    columns = columns_of_a_table(tmp_path)
    long = "repeat('x', 100000) AS y"
    query = f'SELECT {long}, {columns}, range AS "update" FROM range(99)'
    path = write(tmp_path / "long.parquet", query)
    with pytest.raises(ValueError, match="a text of 100,000 bytes in a cell"):
        read_parquet(path)
