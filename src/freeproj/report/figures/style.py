"""One style for all figures: sizes, colours, type, scales.

The colours are Okabe and Ito's, which people with any kind of colour vision can tell
apart; `length_colour` gives every word length the same colour in every figure.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes

__all__ = ["COLUMN", "INK", "PALETTE", "WIDE"]
__all__ += ["book_style", "length_colour", "math_word", "same_limits"]

COLUMN = 3.4  # inches, one column of a paper
WIDE = 7.0  # inches, the full width

INK = "#22252a"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_LENGTH_COLOURS = {1: "#0072b2", 2: "#009e73", 4: "#e69f00", 8: "#d55e00"}


@contextmanager
def book_style() -> Iterator[None]:
    """Draw in the house style, off screen, and leave matplotlib as it was."""
    with mpl.rc_context({"backend": "Agg"}):
        mpl.rc("axes", edgecolor=INK, labelcolor=INK, labelsize=8, linewidth=0.6)
        mpl.rc("axes", titlesize=8.5, prop_cycle=cycler(color=PALETTE))
        mpl.rc("axes.spines", right=False, top=False)
        mpl.rc("figure", dpi=120, **{"constrained_layout.use": True})
        mpl.rc("font", family="serif", size=8, serif=["STIXGeneral", "DejaVu Serif"])
        mpl.rc("legend", fontsize=7, frameon=False)
        mpl.rc("lines", linewidth=1.2, markersize=3.5)
        mpl.rc("mathtext", fontset="stix")
        mpl.rc("pdf", fonttype=42)
        mpl.rc("savefig", dpi=300)
        mpl.rc("svg", fonttype="path", hashsalt="freeproj")  # same numbers, same file
        mpl.rc("text", color=INK)
        for axis in ("xtick", "ytick"):
            mpl.rc(axis, color=INK, labelsize=7, **{"major.width": 0.6})
        yield


def math_word(spelled: str) -> str:
    """Set a spelled word such as "ab⁻¹" in mathematical type."""
    return f"${spelled.replace('⁻¹', '^{-1}')}$"


def length_colour(length: int) -> str:
    """Return the colour of a word length; lengths without their own share the rest."""
    others = [colour for colour in PALETTE if colour not in _LENGTH_COLOURS.values()]
    return _LENGTH_COLOURS.get(length, others[length % len(others)])


def same_limits(panels: Sequence[Axes]) -> None:
    """Give all panels the y axis that shows what each of them shows."""
    ends = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
