"""Roots of many increasing functions of one variable at once."""

from collections.abc import Callable

import numpy as np

from freeproj.spectra.checks import Computed, Values

__all__ = ["bracketed_root", "increasing_root"]

# Newton's error after a step δ is of the order of δ²: after one this small, one more is
# enough for float64.
_SMALL_STEP = 1e-5
_STEPS = 200


def increasing_root(
    residual: Callable[[Computed], tuple[Computed, Computed]], start: Computed
) -> Computed:
    """Return the u with h(u) = 0, element by element, from any start.

    `residual` is u ↦ (h(u), h'(u)), with h' ≥ 1 everywhere, so that |u - u*| ≤ |h(u)|:
    the first value brackets the root. Newton's method, which bisects wherever a step is
    not half the one before: plain, it runs in circles where the slope falls again.
    """
    u, last = start, np.full(start.shape, np.inf)
    value, slope = residual(u)
    low, high = u - np.abs(value), u + np.abs(value)
    for _ in range(_STEPS):
        step = value / slope
        size = np.abs(step)
        if size.max(initial=0) < _SMALL_STEP:
            value, slope = residual(u - step)
            return u - step - value / slope
        low, high = np.where(value < 0, u, low), np.where(value < 0, high, u)
        slow = (size > 0.5 * last) & (size > _SMALL_STEP)
        u, last = np.where(slow, 0.5 * (low + high), u - step), size
        value, slope = residual(u)
    n_left = np.sum(np.abs(value / slope) >= _SMALL_STEP)
    raise ArithmeticError(f"No root within {_STEPS} steps: {n_left} of {u.size} left.")


def bracketed_root(
    function: Callable, low: Values, high: Values, *parameters: Computed
) -> Computed:
    """Return the root of an increasing function(u, *parameters).

    Bounds that do not hold it are moved until they do.
    """
    from scipy.optimize import elementwise  # slow to import, and seldom needed

    around = elementwise.bracket_root(function, low, high, args=parameters)
    result = elementwise.find_root(function, around.bracket, args=parameters)
    if not np.all(result.success):
        raise ArithmeticError("No root between its bounds; are the arguments extreme?")
    return result.x
