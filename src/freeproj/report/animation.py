"""An episode as a GIF: the task, what the agent sees, its actions and its returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageDraw, ImageFont

from freeproj.files import write_atomically
from freeproj.watching import Frame

__all__ = ["draw_frame", "save_gif"]

_WIDTH, _HEIGHT = 560, 320
_MARGIN = 20.0
_INK, _FAINT, _GOOD, _BAD = "#222222", "#9a9a9a", "#1a7f37", "#b42318"
_STEPS_PER_SECOND = 5
_MOST_FRAMES = 600
_MOST_CELLS = 64  # entries of an observation that are drawn
# Where no font with these signs is installed.
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
    # The end of a trial is to be noticed, the end of the episode to be read.
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
    image = Image.new("RGB", (_WIDTH, _HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    _text(draw, _MARGIN, 12.0, title, _INK, 16)
    _text(draw, _MARGIN, 44.0, "the task (hidden from the agent)", _FAINT, 11)
    for row, line in enumerate(frame.task.splitlines()[:6]):
        _text(draw, _MARGIN, 60.0 + 16 * row, line, _INK, 14)
    _text(draw, _MARGIN, 110.0, "what the agent sees", _FAINT, 11)
    _cells(draw, frame.seen, seen_scale)
    if frame.action:
        colour = _GOOD if frame.reward > 0 else _BAD if frame.reward < 0 else _INK
        done = f"action: {frame.action}   reward {frame.reward:+.3f}"
        _text(draw, _MARGIN, 164.0, done, colour, 14)
    _text(draw, _MARGIN, 194.0, "return of each trial", _FAINT, 11)
    _bars(draw, frame.returns, frame.n_trials, scale)
    return image


def _cells(
    draw: ImageDraw.ImageDraw, seen: Float[np.ndarray, " d_in"], scale: float
) -> None:
    """Draw an observation as coloured cells: blue below zero, red above."""
    values = seen[:_MOST_CELLS]
    side = min((_WIDTH - 2 * _MARGIN) / max(len(values), 1), 28)
    for place, value in enumerate(values / scale):
        paler = int(255 * (1 - min(abs(float(value)), 1)))
        colour = (255, paler, paler) if value > 0 else (paler, paler, 255)
        left = _MARGIN + place * side
        draw.rectangle((left, 126, left + side - 1, 150), fill=colour, outline=_FAINT)


def _bars(
    draw: ImageDraw.ImageDraw, returns: Sequence[float], n_trials: int, scale: float
) -> None:
    """Draw the returns as bars from a line at zero."""
    top, bottom = 212.0, _HEIGHT - 24.0
    middle, half = (top + bottom) / 2, (bottom - top) / 2
    room = (_WIDTH - 2 * _MARGIN) / n_trials
    draw.line((_MARGIN, middle, _WIDTH - _MARGIN, middle), fill=_FAINT)
    for trial in range(n_trials):
        left = _MARGIN + trial * room
        _text(draw, left + room / 2 - 4, bottom + 4, str(trial + 1), _FAINT, 11)
        if trial >= len(returns):
            continue
        end = middle - half * max(-1.0, min(1.0, returns[trial] / scale))
        colour = _GOOD if returns[trial] > 0 else _BAD
        box = (left + 4, min(middle, end), left + room - 4, max(middle, end))
        draw.rectangle(box, fill=colour)
        if room > 40:
            _text(draw, left + room / 2 - 14, top, f"{returns[trial]:+.2f}", _INK, 11)


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
