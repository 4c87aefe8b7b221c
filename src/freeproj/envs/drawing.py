"""Pictures of the tasks, for `render_mode="rgb_array"`.

Every task paints itself (`Environment.paint`) on a canvas of one size, in the colours
below. A picture shows what a player may know: the open card, the cells clicked, the
part of the maze that was walked.
"""

from typing import Any

import numpy as np
from jaxtyping import UInt8

__all__ = ["BLUE", "CENTRE", "FAINT", "GREEN", "HIDDEN", "INK", "PAPER", "RED", "WIDTH"]
__all__ += ["Canvas", "draw_picture", "paint_board"]

WIDTH, _HEIGHT, _CAPTION = 320, 240, 24  # pixels; the caption stands below
CENTRE = WIDTH / 2, (_HEIGHT - _CAPTION) / 2
PAPER, INK, FAINT, HIDDEN = "#ffffff", "#22303c", "#8a97a3", "#c9d3db"
RED, BLUE, GREEN = "#c8453b", "#2f6f9f", "#3c8d5a"


class Canvas:
    """An image to paint on: `pen` is its `ImageDraw`, of PIL."""

    def __init__(self, image: Any):
        from PIL import ImageDraw

        self.pen: Any = ImageDraw.Draw(image)

    def write(self, place: tuple, text: str, color: str, size: int) -> None:
        """Write a text whose middle is at a place."""
        self.pen.text(place, text, color, _font(size), anchor="mm")

    def print(self, text: str) -> None:
        """Write the lines of a text from the top left corner on."""
        self.pen.multiline_text((8, 8), text, INK, _font(14))


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


def draw_picture(
    env: Any, state: Any, caption: str = ""
) -> UInt8[np.ndarray, "height width 3"]:
    """Draw a state of a task; the caption stands below, before the step's number."""
    from PIL import Image

    image = Image.new("RGB", (WIDTH, _HEIGHT), PAPER)
    canvas = Canvas(image)
    env.paint(canvas, state)
    step = getattr(state, "time", None)
    parts = [env.name, caption, "" if step is None else f"step {int(step)}"]
    line = "   ".join(part for part in parts if part)
    canvas.pen.text((8, _HEIGHT - _CAPTION + 4), line, FAINT, _font(14))
    return np.asarray(image).copy()


def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)
