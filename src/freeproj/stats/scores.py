"""From columns to cells of seeds, and from cells to differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["contrast", "group_by"]


def group_by(
    columns: Mapping[str, Sequence | np.ndarray],
    *axes: str,
    value: str = "value",
    seed: str = "seed",
) -> dict[tuple, dict[Any, float]]:
    """Collect a tidy table into cells: axis values, then seed to value.

    Cells come in the order of their first row. One run per cell and seed: two rows
    that differ in no axis are refused, since one of them would be lost.
    """
    for name in (*axes, value, seed):
        if name not in columns:
            known = ", ".join(columns)
            raise ValueError(f"No column {name!r}. Known: {known}.")
    rows = zip(*(columns[name] for name in (*axes, seed, value)), strict=True)
    cells: dict[tuple, dict[Any, float]] = {}
    for *cell, row_seed, number in rows:
        seeds = cells.setdefault(tuple(cell), {})
        if row_seed in seeds:
            what = ", ".join(f"{a} {c}" for a, c in zip(axes, cell, strict=True))
            raise ValueError(
                f"Two runs of seed {row_seed} in the cell {what or 'of all runs'}: "
                "group by the setting in which they differ."
            )
        seeds[row_seed] = float(number)
    return cells


def contrast(
    cells: Mapping[tuple, Mapping[Any, float]], place: int, reference: Any
) -> dict[tuple, dict[Any, float]]:
    """Return each cell minus its partner, seed by seed.

    The partner has `reference` at position `place` and is otherwise equal. Cells
    without a partner are left out, and so are the partners themselves.
    """
    found = {}
    for cell, scores in cells.items():
        partner = (*cell[:place], reference, *cell[place + 1 :])
        if partner != cell and partner in cells:
            other = cells[partner]
            both = {s: scores[s] - other[s] for s in scores if s in other}
            found[cell] = {s: float(d) for s, d in both.items() if not np.isnan(d)}
    return found
