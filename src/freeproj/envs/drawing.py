"""Pictures of the tasks, for `render_mode="rgb_array"`.

Every task paints itself (`Environment.paint`); one that does not is drawn as its text.
All pictures have one size, so that a film can be made of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFont

from freeproj.envs import Environment
from freeproj.envs.painting import CAPTION, FAINT, HEIGHT, INK, PAPER, WIDTH

__all__ = ["draw_picture"]


class _Canvas:
    """A sheet of PIL's to paint on."""

    def __init__(self, image: Image.Image):
        self.pen: Any = ImageDraw.Draw(image)

    def write(self, place: tuple, text: str, color: str, size: int) -> None:
        self.pen.text(place, text, color, _font(size), anchor="mm")


def draw_picture(
    env: Environment, state: Any, caption: str = ""
) -> UInt8[np.ndarray, "height width 3"]:
    """Draw a state of a task; the caption stands below, before the step's number."""
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    canvas = _Canvas(image)
    if not env.paint(canvas, state):
        canvas.pen.multiline_text((8, 8), env.render(state), INK, _font(14))
    step = getattr(state, "time", getattr(state, "position", None))
    parts = [env.name, caption, "" if step is None else f"step {int(step)}"]
    line = "   ".join(part for part in parts if part)
    canvas.pen.text((8, HEIGHT - CAPTION + 4), line, FAINT, _font(14))
    return np.asarray(image).copy()


def _font(size: int) -> Any:
    return ImageFont.load_default(size)
