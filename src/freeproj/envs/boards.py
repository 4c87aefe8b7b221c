"""Tasks on a square board, whose actions are its cells, and boards as text."""

# pyright: reportIncompatibleMethodOverride=false
import numpy as np

from freeproj.envs.base import Game, derived, static
from freeproj.projection.spaces import Discrete

__all__ = ["BoardTask", "draw_board"]


class BoardTask(Game):
    """A task on a square board; an action is a cell, row by row."""

    side: int = static(8, least=1)

    n_cells = derived(lambda self: self.side**2)
    action_space = derived(lambda self: Discrete(self.n_cells))

    @property
    def action_names(self) -> tuple[str, ...]:
        """The cells as on a chess board with row 1 on top: a1, b1, …"""
        rows, columns = range(1, self.side + 1), _columns(self.side)
        return tuple(f"{column}{row}" for row in rows for column in columns)


def draw_board(signs: np.ndarray, side: int, caption: str) -> str:
    """Draw one sign per cell, with names of rows and columns and a line below."""
    head = "   " + " ".join(_columns(side))
    rows = np.asarray(signs).reshape(side, side)
    lines = [f"{row:>2} {' '.join(line)}" for row, line in enumerate(rows, start=1)]
    return "\n".join([head, *lines, f"   {caption}"])


def _columns(side: int) -> list[str]:
    return [chr(ord("a") + column) for column in range(side)]
