"""The tables by name: a dataset goes in, a text comes out.

Further ones: `TABLES.add(name, TableSpec)`.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from freeproj.experiments.dataset import Dataset
from freeproj.report.tables import lengths, maps, results
from freeproj.report.tables.grid import Grid, to_latex, to_markdown, to_terminal
from freeproj.storage.checks import one_of
from freeproj.storage.names import Registry, printable

__all__ = ["FORMATS", "TABLES", "TableSpec", "format_table", "make_table"]

FORMATS = ("terminal", "markdown", "latex", "csv", "json")


@dataclass(frozen=True)
class TableSpec:
    """A table: numbers from a dataset, and how they are laid out."""

    title: str
    records: Callable[..., Sequence[Any]]  # each has a method `flat()`
    grid: Callable[..., Grid]
    options: dict[str, Any] = field(default_factory=dict)


_RESULTS = (results.records, results.make_grid)
_HELD_OUT = (*_RESULTS, {"protocol": "task"})
_LENGTHS = (lengths.records, lengths.make_grid)
_MAPS = (maps.map_records, maps.maps_grid)
TABLES: Registry[TableSpec] = Registry("table")
for _name, _spec in {
    "table-results": TableSpec("Returns beside the paper's (Table 1)", *_RESULTS),
    "table-lengths": TableSpec("The best word length (Table 2)", *_LENGTHS),
    "table-held-out": TableSpec("Returns on a task held out from training", *_HELD_OUT),
    "table-maps": TableSpec("Returns per trial on every test projection", *_MAPS),
}.items():
    TABLES.add(_name, _spec)


def make_table(name: str, dataset: Dataset) -> Grid | None:
    """Return a table of a dataset, or None if it has no runs for it."""
    spec = TABLES.resolve(name)
    records = spec.records(dataset, **spec.options)
    return spec.grid(records, dataset).without_empty() if records else None


def format_table(
    name: str, dataset: Dataset, form: str = "terminal", width: int = 80
) -> str:
    """Return a table of a dataset as a text in one of `FORMATS`."""
    one_of(FORMATS, form=form)
    spec = TABLES.resolve(name)
    records = spec.records(dataset, **spec.options)
    if not records:
        held, other = ("task", "projection"), "table-results"
        if "protocol" not in spec.options:
            held, other = held[::-1], "table-held-out"
        raise ValueError(
            f"No {held[0]}-held-out runs to make {name} of. Runs that hold out a "
            f"{held[1]} are in {other}."
        )
    if form in ("csv", "json"):
        rows = [record.flat() for record in records]
        if form == "csv":
            return _csv(rows)
        plain = [{key: _plain(value) for key, value in row.items()} for row in rows]
        return json.dumps(plain, indent=2) + "\n"
    grid = spec.grid(records, dataset).without_empty()
    if form == "terminal":
        return to_terminal(grid, width)
    return to_markdown(grid) if form == "markdown" else to_latex(grid)


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    names = dict.fromkeys(name for row in rows for name in row)  # maps may differ
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, names))
    writer.writerows([_cell(row.get(name, "")) for name in names] for row in rows)
    return text.getvalue()


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Any) -> Any:
    """Quote a text that a spreadsheet would take for a formula."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
