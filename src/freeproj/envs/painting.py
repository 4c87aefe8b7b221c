"""What a task needs to paint a picture of itself: a canvas, its size and its colours.

A picture shows what a player may know: the open card, the cells clicked, the part of
the maze that was walked.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

__all__ = [
    "BLUE",
    "CAPTION",
    "CENTRE",
    "FAINT",
    "GREEN",
    "HEIGHT",
    "HIDDEN",
    "INK",
    "PAPER",
    "RED",
    "WIDTH",
    "Canvas",
    "paint_board",
]

WIDTH, HEIGHT, CAPTION = 320, 240, 24  # pixels; the caption stands below
CENTRE = WIDTH / 2, (HEIGHT - CAPTION) / 2
PAPER, INK, FAINT, HIDDEN = "#ffffff", "#22303c", "#8a97a3", "#c9d3db"
RED, BLUE, GREEN = "#c8453b", "#2f6f9f", "#3c8d5a"


@runtime_checkable
class Canvas(Protocol):
    """A sheet to paint on: `pen` draws shapes as PIL's `ImageDraw` does."""

    pen: Any

    def write(self, place: tuple, text: str, color: str, size: int) -> None:
        """Write a text whose middle is at a place."""


def paint_board(
    canvas: Canvas, side: int, fills: list, signs: list, line: str | None = INK
) -> None:
    """Paint a square board: a colour and a sign for each cell, row by row."""
    size = 200 // side
    left, top = (WIDTH - size * side) / 2, 8
    for place, (fill, sign) in enumerate(zip(fills, signs, strict=True)):
        row, column = divmod(place, side)
        x, y = left + size * column, top + size * row
        canvas.pen.rectangle((x, y, x + size, y + size), fill, line)
        if sign:
            canvas.write((x + size / 2, y + size / 2), sign, INK, size // 2)
