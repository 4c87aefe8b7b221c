"""Roots of many increasing functions of one variable at once.

All equations of this package can be written so that the unknown u runs over the whole
line and the left side h(u) has a slope of at least one. Then |u - u*| ≤ |h(u)|: every
value brackets its root, and Newton's steps need no bounds to be guessed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from freeproj.spectra.checks import Computed

__all__ = ["increasing_root"]

# Newton's error after a step δ is of the order of δ²: after one this small, one more is
# enough for float64.
_SMALL_STEP = 1e-5
_NEWTON_STEPS = 8
_GUARDED_STEPS = 200

_Residual = Callable[[Computed], tuple[Computed, Computed]]


def increasing_root(residual: _Residual, start: Computed) -> Computed:
    """Return the u with h(u) = 0, element by element, from any start.

    `residual` is u ↦ (h(u), h'(u)), with h' ≥ 1 everywhere.
    """
    u = start
    for _ in range(_NEWTON_STEPS):
        value, slope = residual(u)
        step = value / slope
        u = u - step
        if np.abs(step).max(initial=0) < _SMALL_STEP:
            break
    else:
        u = _guarded_root(residual, start)
    value, slope = residual(u)
    return u - value / slope


def _guarded_root(residual: _Residual, start: Computed) -> Computed:
    """Newton's method that bisects wherever a step is not half the one before.

    Plain Newton runs in circles where the slope falls again, as it does for aspects
    just below one.
    """
    u, last = start, np.full(start.shape, np.inf)
    size = last
    value, slope = residual(u)
    low, high = u - np.abs(value), u + np.abs(value)
    for _ in range(_GUARDED_STEPS):
        step = value / slope
        size = np.abs(step)
        if size.max() < _SMALL_STEP:
            return u - step
        low, high = np.where(value < 0, u, low), np.where(value < 0, high, u)
        slow = (size > 0.5 * last) & (size > _SMALL_STEP)
        u, last = np.where(slow, 0.5 * (low + high), u - step), size
        value, slope = residual(u)
    raise ArithmeticError(
        f"No root within {_GUARDED_STEPS} steps: {np.sum(size >= _SMALL_STEP)} of "
        f"{size.size} left."
    )
