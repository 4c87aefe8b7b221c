"""A table of texts, and its forms: terminal, Markdown, LaTeX (booktabs).

The cells are written with the signs that people read (±, ℓ, —); LaTeX gets its own.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

__all__ = ["Grid", "to_latex", "to_markdown", "to_rich", "to_terminal"]

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
}


@dataclass(frozen=True)
class Grid:
    """Rows in groups under one header; the first `n_text` columns hold names."""

    title: str
    columns: tuple[str, ...]
    groups: Sequence[Sequence[tuple[str, ...]]]
    notes: Sequence[str] = ()
    n_text: int = 1

    def __post_init__(self):
        for row in (row for group in self.groups for row in group):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"A row must have {len(self.columns)} cells, got {len(row)}: {row}."
                )


def to_rich(grid: Grid) -> RichTable:
    """Returns the table for a rich console."""
    table = RichTable(
        title=grid.title,
        caption="\n".join(grid.notes),
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption_justify="left",
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for i, name in enumerate(grid.columns):
        justify = "left" if i < grid.n_text else "right"
        table.add_column(name, justify=justify, no_wrap=i == 0)
    for group in grid.groups:
        for i, row in enumerate(group):
            table.add_row(*row, end_section=i == len(group) - 1)
    return table


def to_terminal(grid: Grid, width: int = 200) -> str:
    """Returns the table as plain text, at most `width` columns wide."""
    console = Console(file=io.StringIO(), width=width, color_system=None, markup=False)
    console.print(to_rich(grid))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


def to_markdown(grid: Grid) -> str:
    """Returns a pipe table with title and notes."""
    marks = [":--" if i < grid.n_text else "--:" for i in range(len(grid.columns))]
    rows = [grid.columns, marks, *(row for group in grid.groups for row in group)]
    lines = ["| " + " | ".join(_markdown(cell) for cell in row) + " |" for row in rows]
    notes = [f"- {_markdown(note)}" for note in grid.notes]
    return "\n".join([f"**{grid.title}**", "", *lines, "", *notes]).rstrip() + "\n"


def to_latex(grid: Grid) -> str:
    """Returns a `table` environment; it needs the booktabs package, and no other."""
    align = "l" * grid.n_text + "r" * (len(grid.columns) - grid.n_text)
    groups = [
        "\n".join(_latex_row(row, indent="  ") for row in group)
        for group in grid.groups
    ]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex(' '.join((grid.title + '.', *grid.notes)))}}}",
            rf"\begin{{tabular}}{{{align}}}",
            r"\toprule",
            _latex_row(grid.columns),
            r"\midrule",
            "\n\\midrule\n".join(groups),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _markdown(text: str) -> str:
    return text.replace("|", "\\|")


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
