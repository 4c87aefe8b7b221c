"""The paper's own numbers, as printed: Table 1 (results) and Table 2 (word lengths)."""

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


_PAPER = tomllib.loads(Path(__file__).with_name("paper.toml").read_text("utf-8"))
_ROWS = {
    (task, memory): _PAPER[task][memory] for task in _PAPER for memory in _PAPER[task]
}

PAPER_TASKS = tuple(_PAPER)
# (task, memory): ℓ* of Table 2.
PAPER_LENGTHS = {place: int(rows["length"]) for place, rows in _ROWS.items()}
# (task, "RP" or "FRP", memory): the row of Table 1.
PAPER_RESULTS = {
    (task, name, memory): PaperResult(
        _Numbers(*rows[name][:4]), _Numbers(*rows[name][4:])
    )
    for (task, memory), rows in _ROWS.items()
    for name in ("RP", "FRP")
}
