"""One style for all figures: sizes, colours, type.

The colours are Okabe and Ito's, which people with any kind of colour vision can tell
apart; `LENGTH_COLOURS` gives every word length the same colour in every figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from cycler import cycler

__all__ = [
    "COLUMN",
    "INK",
    "LENGTH_COLOURS",
    "PALETTE",
    "WIDE",
    "book_style",
    "length_colour",
    "math_word",
]

COLUMN = 3.4  # inches, one column of a paper
WIDE = 7.0  # inches, the full width

INK = "#22252a"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
LENGTH_COLOURS = {1: "#0072b2", 2: "#009e73", 4: "#e69f00", 8: "#d55e00"}

_SETTINGS: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8.5,
    "figure.constrained_layout.use": True,
    "figure.dpi": 120,
    "font.family": "serif",
    "font.serif": ["STIXGeneral", "DejaVu Serif"],
    "font.size": 8,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "mathtext.fontset": "stix",
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
    "svg.fonttype": "path",
    "svg.hashsalt": "freeproj",  # same numbers, same file
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.color": INK,
    "ytick.labelsize": 7,
    "ytick.major.width": 0.6,
}


@contextmanager
def book_style() -> Iterator[None]:
    """Draw in the house style, off screen, and leave matplotlib as it was."""
    with mpl.rc_context({"backend": "Agg", **_SETTINGS}):
        yield


def math_word(spelled: str) -> str:
    """Set a spelled word such as "ab⁻¹" in mathematical type."""
    return f"${spelled.replace('⁻¹', '^{-1}')}$"


def length_colour(length: int) -> str:
    """Return the colour of a word length; lengths without their own share the rest."""
    others = [colour for colour in PALETTE if colour not in LENGTH_COLOURS.values()]
    return LENGTH_COLOURS.get(length, others[length % len(others)])
