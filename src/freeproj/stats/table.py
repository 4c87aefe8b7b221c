"""The tidy table: one row per evaluation of one run, whatever code produced it.

| column | what it holds |
|---|---|
| `task` | the task of the cell: trained and tested on, or the one held out |
| `memory` | the agent's memory, such as `gru` or `s5` |
| `n_generators`, `length` | n and ℓ of the words; ℓ = 1 is plain projection (RP) |
| `seed` | the run's seed |
| `update` | how many updates the agent had made when it was evaluated |
| `protocol` | what was held out: `projection` or `task` |
| `split` | `train` (random words) or `test` (the fixed map, or the held-out task) |
| `counting` | `window` (completed within the window) or `episodes` (each one, once) |
| `mean_return` | mean return of the finished episodes; nan when none finished |
| `n_finished`, `n_unfinished` | how many episodes were counted, and how many were cut |

`as_table` makes a `Table` of rows, of a mapping of columns or of a data frame, and
refuses what cannot be: text where numbers belong, a mean of no episodes, one evaluation
twice. All of `freeproj.stats` accepts whatever `as_table` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

__all__ = [
    "CHOICES",
    "COLUMNS",
    "Row",
    "Table",
    "as_table",
    "checked_table",
    "concatenate",
]


class Row(NamedTuple):
    """One evaluation of one run."""

    task: str
    memory: str
    n_generators: int
    length: int
    seed: int
    update: int
    protocol: str
    split: str
    counting: str
    mean_return: float
    n_finished: int
    n_unfinished: int


COLUMNS = Row._fields
CHOICES = {
    "protocol": ("projection", "task"),
    "split": ("train", "test"),
    "counting": ("window", "episodes"),
}

_TEXT = ("task", "memory", *CHOICES)
_SMALLEST = {
    "n_generators": 1,
    "length": 1,
    "seed": 0,
    "update": 0,
    "n_finished": 0,
    "n_unfinished": 0,
}
_KEY = tuple(name for name in COLUMNS if name in _TEXT or name in _SMALLEST)[:-2]


@dataclass(frozen=True, eq=False)
class Table:
    """Equally long columns that `as_table` has checked."""

    task: Shaped[np.ndarray, " n_rows"]
    memory: Shaped[np.ndarray, " n_rows"]
    n_generators: Int[np.ndarray, " n_rows"]
    length: Int[np.ndarray, " n_rows"]
    seed: Int[np.ndarray, " n_rows"]
    update: Int[np.ndarray, " n_rows"]
    protocol: Shaped[np.ndarray, " n_rows"]
    split: Shaped[np.ndarray, " n_rows"]
    counting: Shaped[np.ndarray, " n_rows"]
    mean_return: Float[np.ndarray, " n_rows"]
    n_finished: Int[np.ndarray, " n_rows"]
    n_unfinished: Int[np.ndarray, " n_rows"]

    def __len__(self) -> int:
        return len(self.task)

    def columns(self) -> dict[str, np.ndarray]:
        """Returns the columns by name, in the order of `COLUMNS`."""
        return {name: getattr(self, name) for name in COLUMNS}

    def rows(self) -> Iterator[Row]:
        """Yields the rows as plain Python values."""
        columns = [column.tolist() for column in self.columns().values()]
        return map(Row._make, zip(*columns, strict=True))

    def where(self, **values: Any) -> Table:
        """Returns the rows whose columns have these values: `where(split="test")`."""
        keep = np.ones(len(self), bool)
        for name, value in values.items():
            if name not in COLUMNS:
                raise ValueError(f"No column {name!r}. Known: {', '.join(COLUMNS)}.")
            keep &= getattr(self, name) == value
        return self.take(keep)

    def take(
        self, rows: Int[np.ndarray, " n_taken"] | Bool[np.ndarray, " n_rows"]
    ) -> Table:
        """Returns some rows, by index or by mask."""
        return Table(**{name: column[rows] for name, column in self.columns().items()})


def as_table(data: Any) -> Table:
    """Returns the tidy table of rows, a mapping of columns, a data frame or a table.

    Columns that `COLUMNS` does not name are left out.
    """
    if isinstance(data, Table):
        return data
    if hasattr(data, "keys"):
        return checked_table({name: data[name] for name in data.keys()}, _place_of)  # noqa: SIM118
    rows = [_as_row(row, index) for index, row in enumerate(data)]
    columns = zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
    return checked_table(dict(zip(COLUMNS, columns, strict=True)), _place_of)


def concatenate(tables: Iterable[Any]) -> Table:
    """Puts tables below each other; an evaluation that stands in two is an error."""
    parts = [as_table(table).columns() for table in tables]
    columns = {
        name: np.concatenate([part[name] for part in parts]) if parts else ()
        for name in COLUMNS
    }
    return checked_table(columns, _place_of)


def checked_table(columns: Any, place: Callable[[int], str]) -> Table:
    """Builds a table; `place(i)` says in errors where row i came from."""
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise ValueError(
            f"The table lacks the column(s) {', '.join(missing)}; "
            f"it must have {', '.join(COLUMNS)}."
        )
    values = {name: list(columns[name]) for name in COLUMNS}
    sizes = {name: len(column) for name, column in values.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"Columns must be equally long, got {sizes}.")
    table = Table(
        **{name: _column(name, column, place) for name, column in values.items()}
    )
    _check_counts(table, place)
    _check_unique(table, place)
    return table


def _place_of(index: int) -> str:
    return f"Row {index}"


def _as_row(row: Any, index: int) -> Row:
    """Accepts a `Row`, a plain sequence in its order, or a dictionary."""
    if isinstance(row, dict):
        missing = [name for name in COLUMNS if name not in row]
        if missing:
            raise ValueError(f"Row {index} lacks the column(s) {', '.join(missing)}.")
        return Row._make(row[name] for name in COLUMNS)
    if (
        isinstance(row, str)
        or not isinstance(row, Sequence)
        or len(row) != len(Row._fields)
    ):
        raise ValueError(
            f"Row {index} must be a `Row` or hold {', '.join(COLUMNS)}, got {row!r}."
        )
    return Row._make(row)


def _column(name: str, values: list, place: Callable[[int], str]) -> np.ndarray:
    """Converts and checks one column; the error names the first value that is wrong."""
    if name in _TEXT:
        convert, rule, kind = _text, "must be a text", str
    elif name in _SMALLEST:
        rule = f"must be a whole number of at least {_SMALLEST[name]}"
        convert, kind = _whole, np.int64
    else:
        convert, rule, kind = _number, "must be a finite number or nan", np.float64
    if name in CHOICES:
        rule = f"must be one of {', '.join(CHOICES[name])}"
    # Long columns repeat few values: each is converted once. A value that cannot be
    # hashed is neither a text nor a number.
    try:
        converted = {value: convert(value) for value in dict.fromkeys(values)}
    except TypeError:
        index = next(i for i, value in enumerate(values) if value.__hash__ is None)
        message = f"{place(index)}: `{name}` {rule}, got {values[index]!r}."
        raise ValueError(message) from None
    for value, result in converted.items():
        if result is None or not _allowed(name, result):
            index = values.index(value)
            raise ValueError(f"{place(index)}: `{name}` {rule}, got {value!r}.")
    return np.array([converted[value] for value in values], dtype=kind)


def _allowed(name: str, value: Any) -> bool:
    if name in CHOICES:
        return value in CHOICES[name]
    return name not in _SMALLEST or value >= _SMALLEST[name]


def _text(value: Any) -> str | None:
    return str(value).strip() or None if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    # Other people's tools write 3 as "3.0"; 3.5 and True are no counts.
    if isinstance(value, bool | np.bool_):
        return None
    try:
        whole = int(value)
        return whole if whole == value or isinstance(value, str) else None
    except (TypeError, ValueError, OverflowError):
        number = _number(value)
        return int(number) if number is not None and number.is_integer() else None


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if np.isinf(number) else number


def _check_counts(table: Table, place: Callable[[int], str]) -> None:
    """A mean exists exactly where episodes were counted."""
    wrong = np.isnan(table.mean_return) != (table.n_finished == 0)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise ValueError(
            f"{place(index)}: `mean_return` must be nan exactly where `n_finished` is "
            f"0, got {table.mean_return[index]} of {table.n_finished[index]} episodes."
        )


def _check_unique(table: Table, place: Callable[[int], str]) -> None:
    """One evaluation may stand in the table once."""
    keys = list(zip(*(getattr(table, name).tolist() for name in _KEY), strict=True))
    if len(set(keys)) == len(keys):
        return
    first: dict[tuple, int] = {}
    for index, key in enumerate(keys):
        earlier = first.setdefault(key, index)
        if earlier != index:
            what = ", ".join(f"{n} {v}" for n, v in zip(_KEY, key, strict=True))
            raise ValueError(
                f"{place(index)} repeats the evaluation of {place(earlier)} ({what}); "
                "keep one of the two runs."
            )
