"""What the questions say, from `questions.toml`."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from freeproj.findings.questions import Question

__all__ = ["stated", "value_of"]

_TEXTS = tomllib.loads(
    (Path(__file__).parent / "questions.toml").read_text(encoding="utf-8")
)


def stated(
    name: str, select: Callable, contrasts: Any, values: Callable | None = None
) -> Question:
    """Return the question of that name about the runs of a selection."""
    text = _TEXTS[name]
    return Question(name, select=select, contrasts=contrasts, values=values, **text)


def value_of(value: float) -> str:
    """Write a return per trial; a dash without data."""
    return "–" if math.isnan(value) else f"{value:z.2f}"
