"""`table-results` and `table-lengths`: our cells beside the paper's, and beside luck.

A tidy table of evaluations goes in (`freeproj.stats`), a text comes out: for the
terminal, Markdown, LaTeX or CSV. A cell without data says so, with its count 0.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from typing import Any

from freeproj.report.paper.baselines import Baseline
from freeproj.report.tables.grid import Grid, to_latex, to_markdown, to_terminal
from freeproj.report.tables.lengths import length_records, lengths_grid
from freeproj.report.tables.results import result_records
from freeproj.report.tables.results_grid import results_grid

__all__ = ["FORMATS", "TABLES", "format_table", "records_csv"]

FORMATS: dict[str, Callable[[Grid], str]] = {
    "terminal": to_terminal,
    "markdown": to_markdown,
    "latex": to_latex,
}

# name: (records of numbers, their grid, title)
TABLES: dict[str, tuple[Callable, Callable[..., Grid], str]] = {
    "table-results": (result_records, results_grid, "Table 1: MMER and raw returns."),
    "table-lengths": (length_records, lengths_grid, "Table 2: the best word length."),
}


def format_table(
    name: str,
    table: Any,
    *,
    baselines: Mapping[str, Baseline | tuple] | None = None,
    form: str = "terminal",
    **options: Any,
) -> str:
    """Returns a table of the paper by name, with our numbers, as a text.

    Args:
        table: whatever `freeproj.stats.as_table` accepts.
        baselines: per task an episode's (chance, ceiling) or a whole `Baseline`.
        form: one of `FORMATS`, or `csv` for plain numbers.
        options: `protocol`, `counting`; for results also `by`, see `CRITERIA`.
    """
    if name not in TABLES:
        raise ValueError(f"No table {name!r}. Known: {', '.join(TABLES)}.")
    if form not in (*FORMATS, "csv"):
        known = ", ".join((*FORMATS, "csv"))
        raise ValueError(f"`form` must be one of {known}, got {form!r}.")
    make_records, make_grid, _ = TABLES[name]
    if name == "table-results":
        options["baselines"] = baselines
    records = make_records(table, **options)
    if form == "csv":
        return records_csv(records)
    return FORMATS[form](make_grid(records))


def records_csv(records: list[Any]) -> str:
    """Writes records with a method `flat()` as CSV; no data is nan, counts are 0."""
    text = io.StringIO()
    rows = [record.flat() for record in records]
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
