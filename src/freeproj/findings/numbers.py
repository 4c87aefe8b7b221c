"""The paper's own numbers, as printed: Table 1 (results) and Table 2 (word lengths)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

__all__ = ["PAPER_LENGTHS", "PAPER_RESULTS", "PAPER_TASKS", "PaperResult"]


class _Numbers(NamedTuple):
    """Mean ± std, median and IQM over ten seeds."""

    mean: float
    std: float
    median: float
    iqm: float


class PaperResult(NamedTuple):
    """One row of Table 1, for episodes of 16 trials."""

    mmer: _Numbers
    raw: _Numbers


_PAPER = tomllib.loads(
    (Path(__file__).parent / "paper.toml").read_text(encoding="utf-8")
)

PAPER_TASKS = tuple(_PAPER)
# (task, "RP" or "FRP", memory): the row of Table 1.
PAPER_RESULTS = {
    (task, method, memory): PaperResult(
        _Numbers(*rows[method][:4]), _Numbers(*rows[method][4:])
    )
    for task, memories in _PAPER.items()
    for memory, rows in memories.items()
    for method in ("RP", "FRP")
}
# (task, memory): ℓ* of Table 2.
PAPER_LENGTHS = {
    (task, memory): int(rows["length"])
    for task, memories in _PAPER.items()
    for memory, rows in memories.items()
}
