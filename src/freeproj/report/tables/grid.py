"""A table of texts, and its forms: terminal, Markdown, LaTeX (booktabs).

The cells are written with the signs that people read (±, ℓ, –); LaTeX gets its own. On
a terminal that is too narrow some columns are left out, and a note names them.
"""

import io
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from freeproj.findings.labels import number_text
from freeproj.stats.intervals import Summary
from freeproj.storage.names import printable

__all__ = ["NONE", "NOTES", "Column", "Grid", "Row", "flat_summary", "interval_text"]
__all__ += ["to_latex", "to_markdown", "to_terminal"]

NONE = "–"  # no data; a note says why
NOTES = tomllib.loads((Path(__file__).parent / "notes.toml").read_text("utf-8"))

_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"±": r"$\pm$", "ℓ": r"$\ell$", "×": r"$\times$", "≥": r"$\ge$", "−": "$-$"}
    | {"—": "---", "–": "--", "…": r"\ldots{}"}
)
_TABULAR = (
    "\\begin{table}\n\\centering\n\\caption{%s}\n\\begin{tabular}{%s}\n\\toprule\n"
    "%s\n\\bottomrule\n\\end{tabular}\n\\end{table}\n"
)


def interval_text(summary: Summary) -> str:
    """Write the 95 % interval; a dash below three seeds."""
    low, high = map(number_text, summary.ends)
    return NONE if summary.interval is None else f"[{low}, {high}]"


def flat_summary(name: str, summary: Summary, *fields: str) -> dict[str, Any]:
    """Return plain columns of a summary: its interval and these fields."""
    found = {f"{name}_{field}": getattr(summary, field) for field in fields}
    return found | {f"{name}_low": summary.ends[0], f"{name}_high": summary.ends[1]}


Row = tuple[str, ...]


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
    groups: Sequence[Sequence[Row]]
    notes: Sequence[str] = ()

    def __post_init__(self):
        n = len(self.columns)
        for row in self.rows:
            if len(row) != n:
                raise ValueError(f"A row must have {n} cells, got {len(row)}: {row}.")

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group]

    def without_empty(self) -> "Grid":
        """Drop the columns that are empty in every row."""
        rows = [row for row in self.rows if any(row[1:])]
        return self._keep(
            i
            for i, column in enumerate(self.columns)
            if not column.rank or any(row[i] not in ("", NONE) for row in rows)
        )

    def within(self, width: int) -> "Grid":
        """Drop columns until the rest fits, and what notes say of them; name them."""
        rows = [row for row in self.rows if any(row[1:])]
        names = [column.name for column in self.columns]
        widths = [2 + max(map(len, cells)) for cells in zip(names, *rows, strict=True)]
        kept = list(range(len(self.columns)))
        while 1 + sum(widths[i] for i in kept) > width:
            rank, i = max((self.columns[i].rank, i) for i in kept)
            if not rank:
                break
            kept.remove(i)
        dropped = [name for i, name in enumerate(names) if i not in kept]
        if not dropped:
            return self
        about = tuple(f"{name[:1].upper()}{name[1:]}: " for name in dropped)
        told = [re.split(r"(?<=\.) (?=[A-Z])", note) for note in self.notes]
        notes = [" ".join(s for s in t if not s.startswith(about)) for t in told]
        note = f"Not shown at this width: {', '.join(dropped)} (--wide shows all)."
        return replace(self._keep(kept), notes=[*filter(None, notes), note])

    def _keep(self, places: Iterable[int]) -> "Grid":
        kept = list(places)
        cut = [[tuple(row[i] for i in kept) for row in group] for group in self.groups]
        return replace(self, columns=tuple(self.columns[i] for i in kept), groups=cut)

    def printable(self) -> "Grid":
        """Escape control characters and line ends: names come from files of others."""
        columns = (each._replace(name=printable(each.name)) for each in self.columns)
        groups = [[tuple(map(printable, row)) for row in g] for g in self.groups]
        notes, title = list(map(printable, self.notes)), printable(self.title)
        return type(self)(title, tuple(columns), groups, notes)


def to_terminal(grid: Grid, width: int = 80) -> str:
    """Return the table as plain text, at most `width` columns wide."""
    grid = grid.printable().within(width)
    left: Any = {"title_justify": "left", "caption_justify": "left"}
    look: Any = {"box": box.SIMPLE_HEAD, "padding": (0, 1, 0, 0), "pad_edge": False}
    table = RichTable(title=grid.title, caption="\n".join(grid.notes), **left, **look)
    for name, is_text, _ in grid.columns:
        table.add_column(name, justify="left" if is_text else "right", no_wrap=True)
    headings = []  # short placeholders stand for them, which widen no column
    for group in grid.groups:
        for row in group:
            if not any(row[1:]):
                headings.append(row[0])
                row = (f"§{len(headings) - 1}§",)
            table.add_row(*row)
        table.add_section()
    console = Console(file=io.StringIO(), width=width, color_system=None, markup=False)
    with console.capture() as shown:
        console.print(table)
    text = shown.get()
    for place, heading in enumerate(headings):
        text = text.replace(f"§{place}§", heading)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


def to_markdown(grid: Grid) -> str:
    """Return a pipe table with title and notes."""
    grid = grid.printable()
    marks = [":--" if column.is_text else "--:" for column in grid.columns]
    heads = [column.name for column in grid.columns]
    lines = [
        "| " + " | ".join(_markdown(cell) for cell in row) + " |"
        for row in (heads, marks, *grid.rows)
    ]
    notes = [f"- {_markdown(note)}" for note in grid.notes]
    title = f"**{_markdown(grid.title)}**"
    return "\n".join([title, "", *lines, "", *notes]).rstrip() + "\n"


def _markdown(text: str) -> str:
    # Markdown passes HTML on.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def to_latex(grid: Grid) -> str:
    """Return a `table` environment; it needs the booktabs package, and no other."""
    grid = grid.printable()
    align = "".join("l" if column.is_text else "r" for column in grid.columns)
    caption = " ".join((grid.title + ".", *grid.notes)).translate(_LATEX)
    groups = ["\n".join("  " + _latex_row(row) for row in g) for g in grid.groups]
    head = _latex_row([column.name for column in grid.columns])
    return _TABULAR % (caption, align, "\n\\midrule\n".join([head, *groups]))


def _latex_row(row: Sequence[str]) -> str:
    # A number's minus is a hyphen in our texts and a minus in mathematics; a cell that
    # begins with "[" would be read as an argument of the line break before it.
    cells = (
        re.sub(r"(^| )(\[*)-(?=\d)", r"\1\2$-$", text.translate(_LATEX)) for text in row
    )
    return " & ".join("{}" * cell.startswith("[") + cell for cell in cells) + r" \\"
