"""Curves of a study, whatever its axes: a panel for each task, a line for each cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.experiments.measures import Curve, Curves
from freeproj.report.figures.style import book_style
from freeproj.stats import interval

__all__ = ["draw_study_curves"]


def draw_study_curves(curves: Curves, metric: str) -> Figure:
    """Draw means over seeds with 95 % intervals; no band below three seeds."""
    by_task = "task" in curves.axes
    place = curves.axes.index("task") if by_task else None
    panels: dict[str, list[tuple[str, Curve]]] = {}
    for cell, curve in curves.cells.items():
        task = "" if place is None else str(cell[place])
        panels.setdefault(task, []).append((_label(curves.axes, cell), curve))
    n_panels = max(len(panels), 1)
    with book_style():
        figure = Figure(figsize=(1 + 3 * n_panels, 2.8))
        axes = figure.subplots(1, n_panels, squeeze=False)[0]
        for panel, (task, lines) in zip(axes, panels.items(), strict=False):
            for label, curve in lines:
                _draw(panel, label, curve)
            panel.set(title=task, xlabel="update", ylabel=metric)
            if len(lines) > 1:
                panel.legend()
    return figure


def _label(axes: Sequence[str], cell: Sequence[Any]) -> str:
    pairs = zip(axes, cell, strict=True)
    return ", ".join(f"{axis} = {value}" for axis, value in pairs if axis != "task")


def _draw(panel: Axes, label: str, curve: Curve) -> None:
    there = ~np.isnan(curve.values).all(0)
    updates, values = curve.updates[there], curve.values[:, there]
    (line,) = panel.plot(
        updates, np.nanmean(values, 0) if updates.size else [], label=label
    )
    ends = [each for each in map(interval, values.T) if each is not None]
    if ends and len(ends) == len(updates):
        low, high = [each.low for each in ends], [each.high for each in ends]
        panel.fill_between(updates, low, high, color=line.get_color(), alpha=0.15, lw=0)
