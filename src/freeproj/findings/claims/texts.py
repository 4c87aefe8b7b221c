"""What the questions say, from `questions.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from freeproj.findings.questions import Question

__all__ = ["stated"]

_TEXTS = tomllib.loads(
    (Path(__file__).parent / "questions.toml").read_text(encoding="utf-8")
)


def stated(
    name: str, select: Callable, contrasts: Any, numbers: Callable | None = None
) -> Question:
    """Return the question of that name about the runs of a selection."""
    text = _TEXTS[name]
    return Question(name, select=select, contrasts=contrasts, numbers=numbers, **text)
