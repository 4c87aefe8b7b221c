"""From a learning curve to one number per run, and from columns to cells of seeds.

A verdict rests on the mean of the last evaluations. MMER, the largest mean return over
all evaluations, is the paper's; as a maximum over noisy numbers it exceeds what the
agent earns (see `freeproj.stats.chance`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

__all__ = ["REDUCTIONS", "contrast", "group_by", "last", "mmer", "running_maximum"]


def last(
    curve: ArrayLike, n_evaluations: int = 3
) -> Float[np.ndarray, "..."] | np.floating:
    """Mean of the last evaluations along the last axis.

    Evaluations in which nothing finished (nan) are left out; nan if all of them are.
    """
    if n_evaluations < 1:
        raise ValueError(f"`n_evaluations` must be at least 1, got {n_evaluations}.")
    ends = np.asarray(curve, float)[..., -n_evaluations:]
    seen = ~np.isnan(ends)
    total, n = np.where(seen, ends, 0).sum(axis=-1), seen.sum(axis=-1)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)[()]


def mmer(curve: ArrayLike) -> Float[np.ndarray, "..."] | np.floating:
    """Largest evaluation along the last axis; nan if no evaluation has data."""
    curve = np.asarray(curve, float)
    if curve.shape[-1] == 0:
        return np.full(curve.shape[:-1], np.nan)[()]
    return np.fmax.reduce(curve, axis=-1)


def running_maximum(curve: ArrayLike) -> Float[np.ndarray, "..."]:
    """Largest evaluation so far, which ends at MMER."""
    return np.fmax.accumulate(np.asarray(curve, float), axis=-1)


# How a curve becomes a number; "final" is the last evaluation alone.
REDUCTIONS = {"last3": last, "final": lambda curve: last(curve, 1), "max": mmer}


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
