"""Printing for commands: control characters from files of others are escaped.

Output in an encoding that lacks a character, such as Latin-1, gets the nearest one that
it has: `l` for `ℓ`.
"""

from __future__ import annotations

import codecs
import sys
import unicodedata

import click

from freeproj.storage.names import printable

__all__ = ["echo", "print_in_any_encoding"]

_NEAREST = str.maketrans(
    {
        **{"–": "-", "—": "-", "−": "-", "‑": "-", "·": ".", "×": "x", "±": "+-"},
        **{"→": "->", "↦": "->", "≤": "<=", "≥": ">=", "≈": "~", "∞": "inf"},
        **{"γ": "gamma", "λ": "lambda", "σ": "sigma", "α": "alpha", "Σ": "sum"},
        **{"“": '"', "”": '"', "‘": "'", "’": "'", "█": "#", "•": "*", "─": "-"},
    }
)


def echo(text: object = "", *, err: bool = False) -> None:
    """Print a text with its control characters escaped, but for line ends and tabs."""
    click.echo(printable(str(text), keep="\n\t"), err=err)


def print_in_any_encoding() -> None:
    """Let standard output and error replace what their encoding lacks."""
    codecs.register_error("nearest", _nearest)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a test's stream may have none
            reconfigure(errors="nearest")


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_NEAREST)
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "replace").decode()
    return plain, error.end
