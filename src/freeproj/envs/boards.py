"""Square boards for people: names of cells, and a drawing as text."""

from __future__ import annotations

import numpy as np

__all__ = ["cell_names", "draw_board"]


def cell_names(side: int) -> tuple[str, ...]:
    """Name the cells row by row as on a chess board with row 1 on top: a1, b1, …"""
    rows, columns = range(1, side + 1), range(side)
    return tuple(f"{chr(ord('a') + column)}{row}" for row in rows for column in columns)


def draw_board(signs: np.ndarray, side: int, caption: str) -> str:
    """Draw one sign per cell, with names of rows and columns and a line below."""
    head = "   " + " ".join(chr(ord("a") + column) for column in range(side))
    rows = np.asarray(signs).reshape(side, side)
    lines = [f"{row:>2} {' '.join(line)}" for row, line in enumerate(rows, start=1)]
    return "\n".join([head, *lines, f"   {caption}"])
