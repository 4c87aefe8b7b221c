"""Pictures of the tasks, for `render_mode="rgb_array"`.

Every picture shows what a player may know: the open card, the cells clicked, the part
of the maze that was walked. All have one size, so that a film can be made of them. Your
own task is drawn as its text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFont

from freeproj.envs import (
    Autoencode,
    Battleship,
    Concentration,
    CountRecall,
    Environment,
    Minesweeper,
    MultiarmedBandit,
)
from freeproj.envs.cards import KINDS, CardTask
from freeproj.envs.cartpole import MAX_POSITION, CartPole
from freeproj.envs.labyrinth import Labyrinth, near_explored
from freeproj.envs.mazes import FREE, GOAL, START, WALL
from freeproj.envs.pendulum import StatelessPendulum

__all__ = ["draw_picture"]

_WIDTH, _HEIGHT, _CAPTION = 320, 240, 24
_PAPER, _INK, _FAINT, _HIDDEN = "#ffffff", "#22303c", "#8a97a3", "#c9d3db"
_RED, _BLUE, _GREEN = "#c8453b", "#2f6f9f", "#3c8d5a"
_CENTRE = _WIDTH / 2, (_HEIGHT - _CAPTION) / 2


def draw_picture(
    env: Environment, state: Any, caption: str = ""
) -> UInt8[np.ndarray, "height width 3"]:
    """Draw a state of a task; the caption stands below, before the step's number."""
    image = Image.new("RGB", (_WIDTH, _HEIGHT), _PAPER)
    canvas = ImageDraw.Draw(image)
    painters = (painter for kind, painter in _PAINTERS if isinstance(env, kind))
    next(painters, _paint_text)(canvas, env, state)
    step = getattr(state, "time", getattr(state, "position", None))
    parts = [env.name, caption, "" if step is None else f"step {int(step)}"]
    line = "   ".join(part for part in parts if part)
    canvas.text((8, _HEIGHT - _CAPTION + 4), line, _FAINT, _font(14))
    return np.asarray(image).copy()


def _font(size: int) -> Any:
    return ImageFont.load_default(size)


def _write(canvas: Any, place: tuple, text: str, color: str, size: int) -> None:
    canvas.text(place, text, color, _font(size), anchor="mm")


def _paint_text(canvas: Any, env: Environment, state: Any) -> None:
    canvas.multiline_text((8, 8), env.render(state), _INK, _font(14))


# Cards


def _paint_card(canvas: Any, env: CardTask, state: Any) -> None:
    _card(canvas, _CENTRE, int(state.deck[int(state.position)]))


def _paint_autoencode(canvas: Any, env: Autoencode, state: Any) -> None:
    watching = int(state.position) < env.n_cards
    card = int(state.deck[int(state.position)]) if watching else None
    _card(canvas, _CENTRE, card)


def _card(canvas: Any, centre: tuple[float, float], card: int | None) -> None:
    """Draw a card by its number, or its back with a question mark."""
    x, y = centre
    corner = (x - 55, y - 80, x + 55, y + 80)
    canvas.rounded_rectangle(corner, 10, _PAPER, _INK, 2)
    if card is None:
        _write(canvas, centre, "?", _FAINT, 72)
        return
    rank, suit = divmod(card, 4)
    color = _RED if suit % 2 else _INK
    _write(canvas, (x, y - 42), KINDS["rank"].names[rank], color, 44)
    _suit(canvas, (x, y + 30), suit, color)


def _suit(canvas: Any, centre: tuple[float, float], suit: int, color: str) -> None:
    x, y = centre
    if suit == 1:  # diamonds
        canvas.polygon([(x, y - 30), (x + 22, y), (x, y + 30), (x - 22, y)], color)
        return
    up = -1 if suit == 3 else 1  # hearts stand on their point
    if suit == 2:  # clubs
        dots = [(x, y - 14), (x - 14, y + 6), (x + 14, y + 6)]
    else:
        dots = [(x - 11, y + 4 * up), (x + 11, y + 4 * up)]
        sides = [(x - 23, y + 8 * up), (x + 23, y + 8 * up)]
        canvas.polygon([(x, y - 26 * up), *sides], color)
    for dot in dots:
        canvas.circle(dot, 13, color)
    if suit != 3:
        canvas.polygon([(x, y), (x - 9, y + 28), (x + 9, y + 28)], color)


def _paint_counts(canvas: Any, env: CountRecall, state: Any) -> None:
    names, place = KINDS[env.kind].names, int(state.position)
    dealt, asked = names[int(state.dealt[place])], names[int(state.queries[place])]
    for row, (head, name) in enumerate((("dealt", dealt), ("how many", asked))):
        y = 60 + 90 * row
        _write(canvas, (_CENTRE[0], y - 26), head, _FAINT, 16)
        color = _RED if name in ("red", "diamonds", "hearts") else _INK
        _write(canvas, (_CENTRE[0], y + 6), name, color, 34)


def _paint_concentration(canvas: Any, env: Concentration, state: Any) -> None:
    kinds, columns = np.asarray(state.kinds), 13
    width, height = 22, 196 / (len(kinds) / columns)
    signs, shown = KINDS[env.kind].signs, np.asarray(state.shown)
    for place, kind in enumerate(kinds.tolist()):
        row, column = divmod(place, columns)
        x, y = 17 + width * column, 10 + height * row
        fill = _PAPER if shown[place] else _HIDDEN
        canvas.rectangle((x + 2, y + 2, x + width - 2, y + height - 2), fill, _INK)
        if shown[place]:
            color = _RED if signs[kind] == "r" else _INK
            middle = x + width / 2, y + height / 2
            _write(canvas, middle, signs[kind], color, 13)


# Boards and mazes


def _paint_mines(canvas: Any, env: Minesweeper, state: Any) -> None:
    clicked, mines = np.asarray(state.clicked), np.asarray(state.mines)
    fills = np.where(clicked, np.where(mines, _RED, _PAPER), _HIDDEN)
    signs = np.where(clicked & ~mines, np.asarray(state.counts).astype(str), "")
    _board(canvas, env.side, fills.tolist(), signs.tolist())


def _paint_ships(canvas: Any, env: Battleship, state: Any) -> None:
    shot, ships = np.asarray(state.shot), np.asarray(state.ships)
    fills = np.where(shot, np.where(ships, _RED, _BLUE), _HIDDEN)
    _board(canvas, env.side, fills.tolist(), [""] * len(fills))


def _paint_maze(canvas: Any, env: Labyrinth, state: Any) -> None:
    cells, explored = np.asarray(state.cells), np.asarray(state.explored)
    colors = {FREE: _PAPER, WALL: _INK, START: _BLUE, GOAL: _GREEN}
    fills = np.array([colors[kind] for kind in range(4)], object)[cells]
    fills = np.where(explored & (cells == FREE), "#dcebf5", fills)
    fills = np.where(near_explored(explored), fills, _HIDDEN)
    row, column = np.asarray(state.position)
    fills[row, column] = _RED
    _board(canvas, env.side, fills.ravel().tolist(), [""] * fills.size, line=None)


def _board(
    canvas: Any, side: int, fills: list, signs: list, line: str | None = _INK
) -> None:
    """Draw a square board: a colour and a sign for each cell, row by row."""
    size = 200 // side
    left, top = (_WIDTH - size * side) / 2, 8
    for place, (fill, sign) in enumerate(zip(fills, signs, strict=True)):
        row, column = divmod(place, side)
        x, y = left + size * column, top + size * row
        canvas.rectangle((x, y, x + size, y + size), fill, line)
        if sign:
            _write(canvas, (x + size / 2, y + size / 2), sign, _INK, size // 2)


# Arms, carts and pendulums


def _paint_bandit(canvas: Any, env: MultiarmedBandit, state: Any) -> None:
    paid, pulled = bool(state.paid), int(state.time) > 0
    color = (_GREEN if paid else _RED) if pulled else _HIDDEN
    canvas.circle(_CENTRE, 60, color, _INK, 2)
    word = ("paid" if paid else "nothing") if pulled else "?"
    _write(canvas, _CENTRE, word, _PAPER, 26)
    _write(canvas, (_CENTRE[0], 200), f"{env.n_arms} arms", _FAINT, 16)


def _paint_cart(canvas: Any, env: CartPole, state: Any) -> None:
    ground, scale = 175, 140 / MAX_POSITION
    x, angle = _CENTRE[0] + scale * float(state.position), float(state.angle)
    canvas.line((10, ground, _WIDTH - 10, ground), _FAINT, 2)
    canvas.rectangle((x - 24, ground - 26, x + 24, ground), _INK)
    tip = x + 110 * math.sin(angle), ground - 26 - 110 * math.cos(angle)
    canvas.line((x, ground - 26, *tip), _RED, 7)


def _paint_pendulum(canvas: Any, env: StatelessPendulum, state: Any) -> None:
    (x, y), angle = _CENTRE, float(state.angle)
    tip = x - 85 * math.sin(angle), y - 85 * math.cos(angle)
    canvas.circle(_CENTRE, 92, None, _HIDDEN, 2)
    canvas.line((x, y, *tip), _RED, 12)
    canvas.circle(_CENTRE, 8, _INK)


# The first class that a task is an instance of decides how it is painted.
_PAINTERS: tuple[tuple[type, Callable], ...] = (
    (Autoencode, _paint_autoencode),
    (CardTask, _paint_card),
    (CountRecall, _paint_counts),
    (Concentration, _paint_concentration),
    (Minesweeper, _paint_mines),
    (Battleship, _paint_ships),
    (Labyrinth, _paint_maze),
    (MultiarmedBandit, _paint_bandit),
    (CartPole, _paint_cart),
    (StatelessPendulum, _paint_pendulum),
)
