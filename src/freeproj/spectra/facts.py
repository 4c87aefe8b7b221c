"""Atoms, density, support, moments and samples of any law of `freeproj.spectra.laws`.

    density(WordLaw(4, 4), x);  moment(free_product(WordLaw(4, 4), Atoms(t)), 3)

Word laws, Marchenko–Pastur and their product have closed forms or the curve of
`freeproj.spectra.density`. Of other laws the atoms are known exactly; the density of
the rest is the boundary value of the Cauchy transform, less what the atoms add to it.

Atoms of free convolutions (Bercovici–Voiculescu; Belinschi): the product has one at
u·v > 0, the sum at u + v, where the masses of u and v add up to more than 1; its mass
is the excess. The product's mass at zero is the larger of both.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import cumulative_trapezoid

from freeproj.spectra.checks import Values, as_given, real_array, whole
from freeproj.spectra.density import density_curve, word_density, word_edges

if TYPE_CHECKING:
    from freeproj.spectra.laws import FreeProduct, FreeSum
    from freeproj.spectra.transforms import Law

__all__ = ["PointMasses", "density", "moment", "sample", "support"]

_ANGLE = 1e-9  # between x and the point off the axis where the density is read
_FAINT = 1e-6  # densities of log x below this count as zero
_DEEPEST = 1e-10  # smallest x of a grid, in units of the largest
_GRID, _INSERTED = 160, 60  # points at first, and added in each round
_ROUNDS, _MOST_ROUNDS = 3, 12
_CURVE = 4000


class PointMasses(NamedTuple):
    """The atoms of a law: where, ascending, and how much of the mass."""

    points: Float[np.ndarray, " n_atoms"]
    weights: Float[np.ndarray, " n_atoms"]


def density(law: Law, x: Values) -> Any:
    """Return the density of the continuous part at x: atoms do not show in it."""
    x = real_array(x, "x")
    if law.atoms().weights.sum() > 1 - 1e-12:
        raise ValueError("This law has no density: it is a sum of points (`atoms`).")
    if (words := law.as_words()) is not None:
        return word_density(x, *words)
    found = np.zeros(x.shape)
    values = _boundary(law, x[x > 0], _ANGLE)
    found[x > 0] = np.where(values > _FAINT, values, 0.0) / x[x > 0]
    return as_given(found)


def support(law: Law) -> tuple[float, float]:
    """Return the ends of the smallest interval that holds the law, atoms included."""
    points, weights = law.atoms()
    if weights.sum() > 1 - 1e-12:
        return float(points.min()), float(points.max())
    if (words := law.as_words()) is not None:
        low, high = word_edges(*words)
    else:
        low, high, *_ = _scan(law)
    every = [low, high, *points.tolist()]
    return min(every), max(every)


def moment(law: Law, order: int) -> float:
    """Return the moment m_k = ∫ x^k dμ."""
    return float(law.moments(whole(order, "order"))[order])


def sample(law: Law, n_points: int, *, seed: int) -> Float[np.ndarray, " n_points"]:
    """Draw independent points from the law, atoms included."""
    rng = np.random.default_rng(seed)
    points, weights = law.atoms()
    rest = 1 - weights.sum()
    if rest < 1e-12:
        return rng.choice(points, n_points, p=weights / weights.sum())
    log_x, cumulative = _distribution(law, rest)
    drawn = np.exp(np.interp(rng.uniform(0, rest, n_points), cumulative, log_x))
    if not len(points):
        return drawn
    at_atoms = rng.choice(points, n_points, p=weights / weights.sum())
    return np.where(rng.uniform(size=n_points) < rest, drawn, at_atoms)


def _boundary(law: Law, x: np.ndarray, angle: float | np.ndarray) -> np.ndarray:
    """Return x times the density at x > 0, read at x·exp(i·angle)."""
    z = x * np.exp(1j * angle)
    points, weights = law.atoms()
    smeared = (weights / (z[:, None] - points)).sum(axis=1)
    return -np.imag(z * (law.cauchy(z) - smeared)) / np.pi


@functools.lru_cache(maxsize=8)
def _scan(law: FreeProduct | FreeSum) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Return the edges of the continuous part, log x between them, its density.

    The left edge is the law's lower bound where the density does not end before.

    The mass of the continuous part is known: while the sum misses it, points are added
    where it bends, and in the gaps, where atoms far from the others have narrow bands.
    """
    mass = 1 - law.atoms().weights.sum()
    log_x = np.log(_grid(law))  # the first and the last point are bounds of the law
    values = np.pad(_boundary(law, np.exp(log_x[1:-1]), _ANGLE), 1)
    for turn in range(_MOST_ROUNDS):
        missing = mass - np.trapezoid(values, log_x) - _mass_below(log_x, values)
        if turn >= _ROUNDS and abs(missing) < 5e-4:
            break
        log_x, values = _refined(law, log_x, values, gaps=bool(missing > 5e-4))
    inside = np.flatnonzero(values > _FAINT)
    if len(inside) == 0:
        raise ArithmeticError("The continuous part is too narrow to be found.")
    first, last = inside[0], inside[-1]
    ends = _sections(law, log_x[[first, last]], log_x[[first - 1, last + 1]])
    between = slice(first, last + 1)
    at_ends = _boundary(law, np.exp(ends), _ANGLE)
    log_x, kept = np.unique(np.r_[ends, log_x[between]], return_index=True)
    values = np.r_[at_ends, values[between]][kept]
    touches = first == 1 and values[0] > _FAINT
    low, high = np.exp(ends).tolist()
    values = np.where(values > _FAINT, values, 0.0)
    low = float(law.bounds()[0]) if touches else low
    return low, high, log_x, values


def _mass_below(log_x: np.ndarray, values: np.ndarray) -> float:
    """Return the mass below a grid that ends within the law, from its last power."""
    if values[1] < _FAINT:
        return 0.0
    power = np.log(values[9] / values[1]) / (log_x[9] - log_x[1])
    return values[1] / power if power > 0 else 0.0


def _grid(law: FreeProduct | FreeSum) -> np.ndarray:
    """Return points over all the law but its atom at zero, denser towards both ends."""
    low, high = law.bounds()
    near = np.geomspace(1e-7, 0.1, _GRID // 4)
    start = max(low, _DEEPEST * high)
    parts = [np.geomspace(start, high, _GRID)[1:-1], high * (1 - near)]
    parts += [low * (1 + near)] if low == start else []
    x = np.unique(np.concatenate(parts))
    # Too close to an atom, nothing but rounding is left beside it.
    points = law.atoms().points
    apart = (np.abs(x[:, None] - points) > 1e-5 * x[:, None]).all(axis=1)
    return np.concatenate([[start], x[apart & (x > start) & (x < high)], [high]])


def _sections(law: Law, inner: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """Return log x of the edges between points inside and outside.

    Outside the support the boundary value is proportional to the angle, inside it does
    not depend on it, at an edge it goes with the square root.
    """
    shares = np.arange(1, 4)[:, None] / 4
    for _ in range(14):
        log_x = np.concatenate([inner + shares * (outer - inner)] * 2)
        angles = np.repeat([_ANGLE, _ANGLE / 4], 6)
        coarse, fine = _boundary(law, np.exp(log_x).ravel(), angles).reshape(2, 3, 2)
        n_inside = np.cumprod(coarse < 2 * fine, axis=0).sum(axis=0)
        width = (outer - inner) / 4
        inner = inner + n_inside * width
        outer = inner + width
    return inner


def _distribution(law: Law, mass: float) -> tuple[np.ndarray, np.ndarray]:
    """Return log x and the continuous part's cumulative distribution there."""
    if (words := law.as_words()) is not None:
        x, f = density_curve(*words, n_points=_CURVE)
        log_x, values = np.log(x), f * x
    else:
        _, _, log_x, values = _scan(law)
    cumulative = cumulative_trapezoid(values, log_x, initial=0)
    if values[0] > 0 and cumulative[-1] < mass:  # a pole at zero: the rest is below
        return log_x, cumulative + mass - cumulative[-1]
    return log_x, cumulative * mass / cumulative[-1]


def _refined(law: Law, log_x: np.ndarray, values: np.ndarray, *, gaps: bool) -> tuple:
    """Halve the intervals where the trapezoid rule errs most, and perhaps all gaps."""
    slopes = np.diff(values) / np.diff(log_x)
    bend = np.abs(np.diff(slopes))
    error = np.diff(log_x) ** 2 * (np.append(bend, 0) + np.insert(bend, 0, 0))
    halved = np.zeros(len(error), bool)
    halved[np.argsort(error)[-_INSERTED:]] = True
    if gaps:
        halved |= np.maximum(values[1:], values[:-1]) < _FAINT
    worst = np.flatnonzero(halved & (np.diff(log_x) > 1e-7))
    added = 0.5 * (log_x[worst] + log_x[worst + 1])
    found = _boundary(law, np.exp(added), _ANGLE)
    return np.insert(log_x, worst + 1, added), np.insert(values, worst + 1, found)
