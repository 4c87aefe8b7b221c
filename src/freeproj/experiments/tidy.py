"""Datasets as tidy tables: a row for each run, update and metric.

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
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freeproj.storage.files import write_atomically

if TYPE_CHECKING:
    from freeproj.experiments.dataset import Dataset
    from freeproj.experiments.records import RunRecord

__all__ = ["tidy_rows", "write_csv"]


def tidy_rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table, each with all columns."""
    keys = dict.fromkeys(key for run in dataset.runs for key in run.settings)
    for run in dataset.runs:
        settings = {key: run.settings.get(key) for key in keys}
        before = {"run": run.name, "health": run.health, "seconds": run.seconds}
        for update, metric, value in _values(run):
            after = {"update": update, "metric": metric, "value": value}
            yield before | settings | after


def write_csv(dataset: Dataset, path: Path) -> Path:
    """Write the table, whole or not at all; numbers with all of their digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, row in enumerate(tidy_rows(dataset)):
        if not number:
            writer.writerow(row)
        writer.writerow(map(_text, row.values()))
    write_atomically(path, lambda file: file.write(text.getvalue().encode()))
    return path


def _values(run: RunRecord) -> Iterator[tuple[int, str, float]]:
    for name, column in run.metrics.items():
        for index, part in enumerate([column] if column.ndim == 1 else column.T):
            metric = name if column.ndim == 1 else f"{name}[{index}]"
            there = ~np.isnan(part)
            for update, value in zip(run.updates[there], part[there], strict=True):
                yield int(update), metric, float(value)


def _text(value: Any) -> str:
    """Write a cell; text that a spreadsheet would take for a formula is quoted."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str) and value[:1] not in tuple("=+-@\t\r"):
        return value
    return json.dumps(value)
