"""Small plots for the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

__all__ = ["plot"]

_MARKS = "●○×+◆◇"


def plot(
    series: Mapping[str, Sequence[float]],
    *,
    x_name: str = "",
    x_ends: tuple[str, str] = ("", ""),
    width: int = 60,
    height: int = 10,
) -> str:
    """Draw lines of numbers into a box of characters; nan is left out.

    Where several numbers fall on one spot, the first is drawn. `x_ends` label the two
    ends of the x axis.
    """
    known = [v for values in series.values() for v in values if math.isfinite(v)]
    if not known:
        return "(nothing to plot: there are no numbers yet)"
    low, high = min(known), max(known)
    span = (high - low) or 1.0
    grid = [[" "] * width for _ in range(height)]
    for mark, values in reversed(list(zip(_MARKS, series.values(), strict=False))):
        for place, value in enumerate(values):
            if math.isfinite(value):
                column = round(place / max(len(values) - 1, 1) * (width - 1))
                row = round((high - value) / span * (height - 1))
                grid[row][column] = mark
    labels = [""] * height
    labels[0], labels[-1] = f"{high:.2f}", f"{low:.2f}"
    lines = [
        f"{label:>8} ┤{''.join(row)}" for label, row in zip(labels, grid, strict=True)
    ]
    inner = x_name.center(width - len(x_ends[0]) - len(x_ends[1]))
    lines.append(f"{'':>8} └{'─' * width}")
    lines.append(f"{'':>10}{x_ends[0]}{inner}{x_ends[1]}")
    legend = "   ".join(
        f"{mark} {name}" for mark, name in zip(_MARKS, series, strict=False)
    )
    return "\n".join([*(line.rstrip() for line in lines), f"{'':>10}{legend}"])
