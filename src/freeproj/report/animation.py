"""An episode as a GIF: the task, what the agent sees, its actions and its returns.

The task is drawn as in `envs.drawing`: a pole is a pole.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageDraw, ImageFont

from freeproj.envs.drawing import draw_picture
from freeproj.learning.watch import Frame
from freeproj.storage.files import write_atomically

__all__ = ["draw_frame", "save_gif"]

_WIDTH, _MARGIN = 600, 20.0
_LINE, _CELL, _BAR = 16, 24, 76  # heights: of a line, of a cell, of the bars
_PICTURE = 240  # height of the task
_INK, _FAINT, _GOOD, _BAD = "#222222", "#767676", "#1a7f37", "#b42318"
_STEPS_PER_SECOND = 5
_MOST_FRAMES = 600
_MOST_CELLS = 64  # entries of an observation that are drawn
# Replacements for where no font with these signs is installed.
_PLAIN = str.maketrans("♠♦♣♥├─┤┴°∅", "SDCH|-|^'0")


def save_gif(
    path: str | Path, frames: Iterable[Frame], title: str, *, scale: float = 0.0
) -> Path:
    """Draw the frames of an episode into a GIF that repeats; return its path.

    Args:
        scale: the return of a trial that fills its bar; by default the largest there.
    """
    frames = _thinned(list(frames))
    seen = max(float(np.abs(frame.seen).max(initial=0)) for frame in frames) or 1.0
    most = scale or max(abs(r) for frame in frames for r in frame.returns) or 1.0
    images = [draw_frame(frame, title, seen, most).quantize(64) for frame in frames]
    milliseconds = 1000 // _STEPS_PER_SECOND
    # Hold the end of a trial for a moment, and the end of the episode for longer.
    times = [milliseconds * (3 if frame.trial_ended else 1) for frame in frames]
    times[-1] = 3000
    path = Path(path)
    write_atomically(
        path,
        lambda file: images[0].save(
            file,
            format="GIF",
            save_all=True,
            append_images=images[1:],
            duration=times,
            loop=0,
        ),
    )
    return path


def draw_frame(
    frame: Frame, title: str, seen_scale: float, scale: float
) -> Image.Image:
    """Draw one frame.

    Args:
        seen_scale: the largest entry of any observation, for the colours.
        scale: the return of a trial that fills its bar.
    """
    cells = 60.0 + _PICTURE + 1.5 * _LINE
    action, bars = cells + _CELL + 14, cells + _CELL + 44
    image = Image.new("RGB", (_WIDTH, int(bars + 2 * _LINE + _BAR + 24)), "white")
    draw = ImageDraw.Draw(image)
    _text(draw, _MARGIN, 12.0, title, _INK, 16)
    _text(draw, _MARGIN, 42.0, "the task (hidden from the agent)", _FAINT, 11)
    picture = Image.fromarray(draw_picture(frame.env, frame.state))
    image.paste(picture, ((_WIDTH - picture.width) // 2, 58))
    legend = "what the agent sees (red: positive, blue: negative)"
    _text(draw, _MARGIN, cells - _LINE, legend, _FAINT, 11)
    _cells(draw, cells, frame.seen, seen_scale)
    colour = _GOOD if frame.reward > 0 else _BAD if frame.reward < 0 else _INK
    done = f"action: {frame.action}   reward {frame.reward:+.3f}"
    _text(draw, _MARGIN, action, done, colour, 14)
    legend = f"return of each trial (a full bar is ±{scale:.2f})"
    _text(draw, _MARGIN, bars, legend, _FAINT, 11)
    _bars(draw, bars + 2 * _LINE, frame, scale)
    return image


def _cells(
    draw: ImageDraw.ImageDraw,
    top: float,
    seen: Float[np.ndarray, " d_in"],
    scale: float,
) -> None:
    """Draw an observation as coloured cells: blue below zero, red above."""
    values = seen[:_MOST_CELLS]
    side = min((_WIDTH - 2 * _MARGIN) / max(len(values), 1), 28)
    for place, value in enumerate(values / scale):
        paler = int(255 * (1 - min(abs(float(value)), 1)))
        colour = (255, paler, paler) if value > 0 else (paler, paler, 255)
        left = _MARGIN + place * side
        box = (left, top, left + side - 1, top + _CELL)
        draw.rectangle(box, fill=colour, outline=_FAINT)


def _bars(draw: ImageDraw.ImageDraw, top: float, frame: Frame, scale: float) -> None:
    """Draw the returns as bars from a line at zero, their numbers above them."""
    middle, half = top + _BAR / 2, _BAR / 2
    room = (_WIDTH - 2 * _MARGIN) / frame.n_trials
    draw.line((_MARGIN, middle, _WIDTH - _MARGIN, middle), fill=_FAINT)
    for trial in range(frame.n_trials):
        left = _MARGIN + trial * room
        colour = _INK if trial == frame.trial else _FAINT
        name = str(trial + 1)
        _text(draw, left + room / 2 - 3.5 * len(name), top + _BAR + 6, name, colour, 11)
        if trial >= len(frame.returns):
            continue
        value = frame.returns[trial]
        end = middle - half * max(-1.0, min(1.0, value / scale))
        box = (left + 4, min(middle, end), left + room - 4, max(middle, end))
        draw.rectangle(box, fill=_GOOD if value > 0 else _BAD)
        if room > 40:
            _text(draw, left + room / 2 - 16, top - _LINE, f"{value:+.2f}", _INK, 11)


def _text(
    draw: ImageDraw.ImageDraw, x: float, y: float, text: str, colour: str, size: int
) -> None:
    font = _font(size)
    if not isinstance(font, ImageFont.FreeTypeFont) or "DejaVu" not in str(
        font.getname()[0]
    ):
        text = text.translate(_PLAIN)
    draw.text((x, y), text, fill=colour, font=font)


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    try:
        return ImageFont.truetype("DejaVuSansMono.ttf", size)
    except OSError:
        return ImageFont.load_default(size)


def _thinned(frames: list[Frame]) -> list[Frame]:
    """Leave out frames of long episodes, but never the end of a trial."""
    step = -(-len(frames) // _MOST_FRAMES)
    last = len(frames) - 1
    return [
        frame
        for number, frame in enumerate(frames)
        if number % step == 0 or frame.trial_ended or number == last
    ]
