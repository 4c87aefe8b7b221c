"""What the questions say, from `questions.toml`, and the numbers they say it with."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from freeproj.findings.cells import Cells, Keep
from freeproj.findings.labels import number_text
from freeproj.findings.questions import Question

__all__ = ["TEXTS", "earned", "earned_along", "stated"]

TEXTS = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))


def stated(name: str, select: Callable, contrasts: Any, values: Any = None) -> Question:
    """Return the question of that name about the runs of a selection."""
    more = {"select": select, "contrasts": contrasts, "values": values}
    return Question(name, **TEXTS[name], **more)


def earned(cells: Cells, on: str, keep: Keep = lambda settings: True) -> str:
    """Write the mean return per trial of all cells with such settings."""
    return number_text(cells.mean_return(on, keep))


def earned_along(cells: Cells, axis: str) -> tuple[list[str], list[str]]:
    """Write the values of an axis, and the return on random projections at each."""
    values = sorted({cells.get(key, axis) for key in cells.runs})
    told = [earned(cells, "random", lambda s, v=v: s[axis] == v) for v in values]
    return [*map(str, values)], told
