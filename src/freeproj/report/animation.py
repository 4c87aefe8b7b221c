"""An episode as a GIF: the task, what the agent sees, its actions and its returns.

The task is drawn as in `envs.drawing`: a pole is a pole.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageDraw, ImageFont
from PIL.ImageDraw import ImageDraw as Pen

from freeproj.envs.drawing import draw_picture
from freeproj.learning.watch import Frame
from freeproj.storage.files import write_atomically

__all__ = ["save_gif"]

_WIDTH, _MARGIN = 600, 20.0
_LINE, _CELL, _BAR = 16, 24, 76  # heights: of a line, of a cell, of the bars
_PICTURE = 240  # height of the task
_INK, _FAINT, _GOOD, _BAD = "#222222", "#767676", "#1a7f37", "#b42318"
_MILLISECONDS = 200  # for each step
_MOST_FRAMES = 600
_MOST_CELLS = 64  # entries of an observation that are drawn
# Replacements for where no font with these signs is installed.
_PLAIN = str.maketrans("♠♦♣♥├─┤┴°∅", "SDCH|-|^'0")


def save_gif(
    path: str | Path, frames: Iterable[Frame], title: str, *, scale: float = 0.0
) -> Path:
    """Draw the frames of an episode into a GIF that repeats; return its path.

    A return of `scale`, by default the largest there, fills the bar of its trial.
    """
    path, frames = Path(path), _thinned(list(frames))
    seen = max(float(np.abs(frame.seen).max(initial=0)) for frame in frames) or 1.0
    most = scale or max(abs(r) for frame in frames for r in frame.returns) or 1.0
    first, *rest = (
        _draw_frame(each, title, seen, most).quantize(64) for each in frames
    )
    # Hold the end of a trial for a moment, and the end of the episode for longer.
    times = [_MILLISECONDS * (3 if frame.trial_ended else 1) for frame in frames]
    how = {"save_all": True, "duration": [*times[:-1], 3000], "loop": 0}
    write_atomically(
        path, lambda file: first.save(file, "GIF", append_images=rest, **how)
    )
    return path


def _thinned(frames: list[Frame]) -> list[Frame]:
    """Leave out frames of long episodes, but never the end of a trial."""
    step, end = -(-len(frames) // _MOST_FRAMES), len(frames) - 1
    return [
        frame
        for place, frame in enumerate(frames)
        if place % step == 0 or frame.trial_ended or place == end
    ]


def _draw_frame(frame: Frame, title: str, largest: float, scale: float) -> Image.Image:
    """Draw one frame; `largest` is the largest entry of any observation."""
    cells = 60.0 + _PICTURE + 1.5 * _LINE
    action, bars = cells + _CELL + 14, cells + _CELL + 44
    image = Image.new("RGB", (_WIDTH, int(bars + 2 * _LINE + _BAR + 24)), "white")
    pen = ImageDraw.Draw(image)
    picture = Image.fromarray(draw_picture(frame.env, frame.state))
    image.paste(picture, ((_WIDTH - picture.width) // 2, 58))
    colour = _GOOD if frame.reward > 0 else _BAD if frame.reward < 0 else _INK
    done = f"action: {frame.action}   reward {frame.reward:+.3f}"
    legend = "what the agent sees (red: positive, blue: negative)"
    for top, text, ink, size in (
        (12.0, title, _INK, 16),
        (42.0, "the task (hidden from the agent)", _FAINT, 11),
        (cells - _LINE, legend, _FAINT, 11),
        (action, done, colour, 14),
        (bars, f"return of each trial (a full bar is ±{scale:.2f})", _FAINT, 11),
    ):
        _text(pen, _MARGIN, top, text, ink, size)
    _draw_cells(pen, cells, frame.seen[:_MOST_CELLS] / largest)
    _draw_bars(pen, bars + 2 * _LINE, frame, scale)
    return image


def _draw_cells(pen: Pen, top: float, values: Float[np.ndarray, " n"]) -> None:
    """Draw an observation as coloured cells: blue below zero, red above."""
    side = min((_WIDTH - 2 * _MARGIN) / max(len(values), 1), 28)
    for place, value in enumerate(values):
        paler = int(255 * (1 - min(abs(float(value)), 1)))
        colour = (255, paler, paler) if value > 0 else (paler, paler, 255)
        left = _MARGIN + place * side
        box = (left, top, left + side - 1, top + _CELL)
        pen.rectangle(box, fill=colour, outline=_FAINT)


def _draw_bars(pen: Pen, top: float, frame: Frame, scale: float) -> None:
    """Draw the returns as bars from a line at zero, their numbers above them."""
    middle, half = top + _BAR / 2, _BAR / 2
    room = (_WIDTH - 2 * _MARGIN) / frame.n_trials
    pen.line((_MARGIN, middle, _WIDTH - _MARGIN, middle), fill=_FAINT)
    lefts = [_MARGIN + trial * room for trial in range(frame.n_trials)]
    for trial, left in enumerate(lefts):
        name, colour = str(trial + 1), _INK if trial == frame.trial else _FAINT
        _text(pen, left + room / 2 - 3.5 * len(name), top + _BAR + 6, name, colour, 11)
    for left, value in zip(lefts, frame.returns, strict=False):
        end = middle - half * max(-1.0, min(1.0, value / scale))
        box = (left + 4, min(middle, end), left + room - 4, max(middle, end))
        pen.rectangle(box, fill=_GOOD if value > 0 else _BAD)
        if room > 40:
            _text(pen, left + room / 2 - 16, top - _LINE, f"{value:+.2f}", _INK, 11)


def _text(pen: Pen, x: float, y: float, text: str, colour: str, size: int) -> None:
    try:
        font = ImageFont.truetype("DejaVuSansMono.ttf", size)
    except OSError:
        font, text = ImageFont.load_default(size), text.translate(_PLAIN)
    pen.text((x, y), text, fill=colour, font=font)
