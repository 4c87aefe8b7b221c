"""A table of texts, and its forms: terminal, Markdown, LaTeX (booktabs).

The cells are written with the signs that people read (±, ℓ, –); LaTeX gets its own. On
a terminal that is too narrow some columns are left out, and a note names them.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from freeproj.stats.intervals import Summary
from freeproj.storage.names import printable

__all__ = [
    "NONE",
    "Column",
    "Grid",
    "flat_summary",
    "number_text",
    "to_latex",
    "to_markdown",
    "to_terminal",
]

NONE = "–"  # no data; a note says why

_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "ℓ": r"$\ell$",
    "—": "---",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
    "≥": r"$\ge$",
    "…": r"\ldots{}",
}


def number_text(value: float, digits: int = 2) -> str:
    """Write a number with some decimals, and no data as a dash."""
    return NONE if math.isnan(value) else f"{value:z.{digits}f}"  # z: no -0.00


def flat_summary(name: str, summary: Summary, *fields: str) -> dict[str, Any]:
    """Return plain columns of a summary: its interval and these fields."""
    low, high = (summary.interval or (math.nan, math.nan))[:2]
    found = {f"{name}_{field}": getattr(summary, field) for field in fields}
    return found | {f"{name}_low": low, f"{name}_high": high}


_TABULAR = r"""\begin{table}
\centering
\caption{%s}
\begin{tabular}{%s}
\toprule
%s
\midrule
%s
\bottomrule
\end{tabular}
\end{table}
"""


class Column(NamedTuple):
    """A column's header; the highest `rank` is dropped first, rank 0 never."""

    name: str
    is_text: bool = False
    rank: int = 0


@dataclass(frozen=True)
class Grid:
    """Rows in groups under one header; a row with its first cell only is a heading."""

    title: str
    columns: tuple[Column, ...]
    groups: Sequence[Sequence[tuple[str, ...]]]
    notes: Sequence[str] = ()

    def __post_init__(self):
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"A row must have {len(self.columns)} cells, got {len(row)}: {row}."
                )

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """All rows."""
        return [row for group in self.groups for row in group]

    def without_empty(self) -> Grid:
        """Drop the columns that are empty in every row."""
        rows = [row for row in self.rows if any(row[1:])]
        empty = {
            i
            for i, column in enumerate(self.columns)
            if column.rank and all(row[i] in ("", NONE) for row in rows)
        }
        return self._keep([i for i in range(len(self.columns)) if i not in empty])

    def within(self, width: int) -> Grid:
        """Drop columns until the rest fits; a note names them."""
        kept = list(range(len(self.columns)))
        while self._width(kept) > width and any(self.columns[i].rank for i in kept):
            kept.remove(max(kept, key=lambda i: (self.columns[i].rank, i)))
        dropped = [c.name for i, c in enumerate(self.columns) if i not in kept]
        if not dropped:
            return self
        said = f"Not shown at this width: {', '.join(dropped)} (--wide shows all)."
        narrow = self._keep(kept)
        return replace(narrow, notes=[*narrow.notes, said])

    def _keep(self, kept: list[int]) -> Grid:
        cut = [[tuple(row[i] for i in kept) for row in group] for group in self.groups]
        return replace(self, columns=tuple(self.columns[i] for i in kept), groups=cut)

    def _width(self, kept: list[int]) -> int:
        rows = [row for row in self.rows if any(row[1:])]
        heads = [column.name for column in self.columns]
        longest = (max(len(heads[i]), *(len(row[i]) for row in rows), 0) for i in kept)
        return 1 + sum(2 + width for width in longest)


def _rich(grid: Grid) -> RichTable:
    table = RichTable(
        title=grid.title,
        caption="\n".join(grid.notes),
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption_justify="left",
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for column in grid.columns:
        justify = "left" if column.is_text else "right"
        table.add_column(column.name, justify=justify, no_wrap=True)
    for group in grid.groups:
        for i, row in enumerate(group):
            table.add_row(*row, end_section=i == len(group) - 1)
    return table


def to_terminal(grid: Grid, width: int = 80) -> str:
    """Return the table as plain text, at most `width` columns wide.

    Headings stand above the columns' grid, so they are printed as they are.
    """
    grid = _printable(grid).within(width)
    console = Console(file=io.StringIO(), width=width, color_system=None, markup=False)
    console.print(_rich(_fold(grid)))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for mark, heading in _headings(grid).items():
        text = text.replace(mark, heading)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


def to_markdown(grid: Grid) -> str:
    """Return a pipe table with title and notes."""
    grid = _printable(grid)
    marks = [":--" if column.is_text else "--:" for column in grid.columns]
    heads = [column.name for column in grid.columns]
    lines = [
        "| " + " | ".join(_markdown(cell) for cell in row) + " |"
        for row in (heads, marks, *grid.rows)
    ]
    notes = [f"- {_markdown(note)}" for note in grid.notes]
    title = f"**{_markdown(grid.title)}**"
    return "\n".join([title, "", *lines, "", *notes]).rstrip() + "\n"


def to_latex(grid: Grid) -> str:
    """Return a `table` environment; it needs the booktabs package, and no other."""
    grid = _printable(grid)
    align = "".join("l" if column.is_text else "r" for column in grid.columns)
    groups = ["\n".join(_latex_row(row, "  ") for row in g) for g in grid.groups]
    return _TABULAR % (
        _latex(" ".join((grid.title + ".", *grid.notes))),
        align,
        _latex_row([column.name for column in grid.columns]),
        "\n\\midrule\n".join(groups),
    )


def _headings(grid: Grid) -> dict[str, str]:
    """Return short placeholders for heading rows, which must not widen a column."""
    found = [row[0] for row in grid.rows if not any(row[1:])]
    return {f"§{i}§": heading for i, heading in enumerate(found)}


def _fold(grid: Grid) -> Grid:
    marks = {heading: mark for mark, heading in _headings(grid).items()}
    groups = [
        [row if any(row[1:]) else (marks[row[0]], *row[1:]) for row in group]
        for group in grid.groups
    ]
    return replace(grid, groups=groups)


def _printable(grid: Grid) -> Grid:
    """Escape control characters and line ends: names come from files of others."""
    columns = [each._replace(name=printable(each.name)) for each in grid.columns]
    groups = [[tuple(map(printable, row)) for row in group] for group in grid.groups]
    notes = [printable(note) for note in grid.notes]
    return Grid(printable(grid.title), tuple(columns), groups, notes)


def _markdown(text: str) -> str:
    # Markdown passes HTML on.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _latex_row(row: Sequence[str], indent: str = "") -> str:
    return indent + " & ".join(_latex_cell(cell) for cell in row) + r" \\"


def _latex_cell(text: str) -> str:
    # A number's minus is a hyphen in our texts and a minus in mathematics; a cell that
    # begins with "[" would be read as an argument of the line break before it.
    words = (
        word.replace("-", "$-$", 1) if _is_negative(word) else word
        for word in _latex(text).split(" ")
    )
    joined = " ".join(words)
    return f"{{}}{joined}" if joined.startswith("[") else joined


def _is_negative(word: str) -> bool:
    body = word.lstrip("[")
    return body[:1] == "-" and body[1:2].isdigit()
