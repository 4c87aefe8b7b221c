"""Printing for commands: control characters from files of others are escaped.

Output in an encoding that lacks a character, such as Latin-1, gets the nearest one that
it has: `l` for `ℓ`.
"""

import codecs
import json
import math
import re
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any

import click

from freeproj.storage.names import printable

__all__ = ["answer_facts", "columns", "echo", "fill", "number"]
__all__ += ["print_in_any_encoding", "show"]

_NUMBER = re.compile(r"[-+~≤≥]?\d[\d.,/]*( (s|min|h|d)| (to|of) -?[\d.]+)?$|–$|$")
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


def show(facts: object, text: object, as_json: bool) -> None:
    """Print facts as JSON, or else what says them in text: one, or a list of lines."""
    if as_json:  # nan, which JSON lacks, is null, and infinity a text
        echo(json.dumps(_plain(facts), indent=2, ensure_ascii=False))
    else:
        echo("\n".join(text) if isinstance(text, list) else text)


def _plain(value: Any) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def answer_facts(answer: Any) -> dict[str, Any]:
    """Return what JSON says of an answer."""
    names = ("status", "sentence", "selection", "unit")
    pooled = answer.pooled
    return {
        "question": answer.name,
        "outcome": str(answer.outcome),
        "answer": str(answer),
        **{name: getattr(answer, name) for name in names},
        "mean": pooled and pooled.mean,
        "interval": pooled and pooled.interval and pooled.interval[:2],
        "comparisons": len(answer.findings),
    }


def fill(text: str, width: int = 79, indent: int = 0) -> str:
    """Break a text into lines; all but the first are indented."""
    wrapped = {"width": width, "subsequent_indent": indent * " "}
    return textwrap.fill(text, break_on_hyphens=False, **wrapped)


def number(value: Any, digits: int = 2) -> str:
    """Write a number with some decimals, and no data as a dash."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{float(value):z.{digits}f}"


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Set rows of texts, the first of which is the head, in columns; numbers right."""
    filled = []
    for column in zip(*rows, strict=True):
        width, to_right = max(map(len, column)), all(map(_NUMBER.match, column[1:]))
        filled.append([c.rjust(width) if to_right else c.ljust(width) for c in column])
    return "\n".join("  ".join(row).rstrip() for row in zip(*filled, strict=True))


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
