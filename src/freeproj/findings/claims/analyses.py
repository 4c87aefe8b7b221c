"""Claims about analyses: the averaged kernel, and linearly solvable MDPs.

They are judged on the numbers of the figures `effective-dimension`,
`kernel-spectra` and `lsmdp`.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from jaxtyping import Float

from freeproj.findings.answers import Answer, Finding, combine, decide
from freeproj.stats import LEVEL
from freeproj.storage.saved import Numbers

__all__ = ["effective_dimension_falls", "longer_words_help_lsmdp", "theory_matches"]

_SHOWN_RIDGE = 1e-2  # in the text
_SPACES = ("lattice", "tree")
_METRICS = ("KL of the policy", "L1 of the policy", "L2 of z", "L1 of z")


def effective_dimension_falls(numbers: Numbers) -> Answer:
    """Ask whether d_eff/d falls from each length to the next, at every ridge."""
    at = int(np.argmin(np.abs(np.log(numbers["ridges"] / _SHOWN_RIDGE))))
    first, *_, last = numbers["measured_per_dimension"][:, at]
    lengths = numbers["lengths"]
    return _answer(
        "effective-dimension",
        "The effective dimension of the averaged kernel falls with the word length ℓ, "
        "when the number of words stays the same.",
        "Kernel Analysis of FRP, Fig. 2 left",
        "Holds if the drop from each length to the next is above zero at every ridge, "
        "with simultaneous 95 % intervals; does not if one is below.",
        f"At γ = {numbers['ridges'][at]:.2g} d_eff falls from {first:.3f} d at ℓ = "
        f"{lengths[0]} to {last:.3f} d at ℓ = {lengths[-1]}.",
        [_drop(numbers, row) for row in range(len(lengths) - 1)],
    )


def theory_matches(dimension: Numbers, spectra: Numbers) -> Answer:
    """Ask whether measurements at finite d lie as near to the limit as d allows."""
    gaps = [_dimension_gap(dimension, row) for row in range(len(dimension["lengths"]))]
    widest = max(gap.value for gap in gaps)
    return _answer(
        "theory",
        "Free probability predicts what is measured: effective dimension and spectrum "
        "of the averaged kernel.",
        "Kernel Analysis of FRP, appendix C, Fig. 2",
        "The limit is for d → ∞; at finite d means differ by the order of one "
        "dimension. Holds if the largest gap is below one dimension of d_eff, and "
        "below 2/d between the distribution functions of √K, 95 % intervals included.",
        f"The measured mean is at most {widest:.2f} dimensions of {dimension['dim']} "
        "away from the limit.",
        gaps + [_spectrum_gap(spectra, row) for row in range(len(spectra["lengths"]))],
    )


def longer_words_help_lsmdp(numbers: Numbers) -> Answer:
    """Ask whether the longest words bring z and the policy nearer than ℓ = 1 does."""
    metrics = range(len(_METRICS))
    found = [_nearer(numbers, space, each) for space in _SPACES for each in metrics]
    falls = [finding.value for finding in found]
    return _answer(
        "lsmdp",
        "In linearly solvable MDPs longer words bring the averaged solution nearer to "
        "the optimum, on lattice and tree.",
        "Linearly Solvable MDP, appendix E, Fig. 4",
        "Holds if all four distances fall from ℓ = 1 to the longest word, in both "
        "state spaces, with 95 % intervals above zero; does not if one rises.",
        f"From ℓ = 1 to ℓ = {numbers['lengths'][-1]} distances change by "
        f"{-max(falls):+.1f} % to {-min(falls):+.1f} %.",
        found,
    )


def _answer(
    name: str, statement: str, source: str, rule: str, told: str, found: list[Finding]
) -> Answer:
    outcome = combine(finding.outcome for finding in found)
    return Answer(name, statement, source, rule, outcome, tuple(found), numbers=told)


def _drop(numbers: Numbers, row: int) -> Finding:
    """Return the drop from one length to the next, at the least certain ridge."""
    means = numbers["measured_per_dimension"]
    errors = numbers["deviation_per_dimension"] / np.sqrt(numbers["n_trials"])
    drop = means[row] - means[row + 1]
    width = _quantile((len(means) - 1) * drop.size) * np.hypot(
        errors[row], errors[row + 1]
    )
    at = int(np.argmin(drop - width))
    interval = (float((drop - width)[at]), float((drop + width)[at]))
    short, long = numbers["lengths"][[row, row + 1]]
    return Finding(
        about=f"ℓ = {short} to ℓ = {long}",
        outcome=decide(interval),
        value=float(drop[at]),
        interval=interval,
        unit="drop of d_eff/d",
        basis=f"The least certain of {drop.size} ridges, γ = "
        f"{numbers['ridges'][at]:.1g}; {numbers['n_trials']} independent draws of "
        f"data and matrices per length, d = {numbers['dim']}, p = "
        f"{numbers['n_samples']}.",
    )


def _dimension_gap(numbers: Numbers, row: int) -> Finding:
    dim = int(numbers["dim"])
    gaps = numbers["measured_per_dimension"][row] - numbers["limit_per_dimension"][row]
    errors = numbers["deviation_per_dimension"][row] / np.sqrt(numbers["n_trials"])
    # The claim needs every ridge to be near, so each is tested at the full level.
    width = _quantile(1) * errors
    at = int(np.argmax(np.abs(gaps) + width))
    value, width = dim * abs(float(gaps[at])), dim * float(width[at])
    return Finding(
        about=f"d_eff, ℓ = {numbers['lengths'][row]}",
        outcome=decide((1 - value - width, 1 - value + width)),
        value=value,
        interval=(max(0.0, value - width), value + width),
        unit=f"dimensions of {dim} between mean and limit",
        basis=f"The widest gap of {gaps.size} ridges, γ = {numbers['ridges'][at]:.1g}; "
        f"{numbers['n_trials']} trials; the tolerance is 1.",
        thresholds=(1.0,),
    )


def _spectrum_gap(numbers: Numbers, row: int) -> Finding:
    """Return Kolmogorov's distance at the edges of the bins, with Massart's band."""
    edges, heights = numbers["bin_edges"][row], numbers["histogram"][row]
    above = 1 - np.cumsum(heights * np.diff(edges))[:-1]
    limit = _mass_above(
        numbers["limit_places"][row], numbers["limit_density"][row], edges[1:-1]
    )
    value = float(np.abs(above - limit).max())
    n_values = int(numbers["n_trials"] * numbers["n_samples"])
    width = float(np.sqrt(np.log(2 / LEVEL) / (2 * n_values)))
    tolerance = 2 / float(numbers["dim"])
    return Finding(
        about=f"spectrum of √K, ℓ = {numbers['lengths'][row]}",
        outcome=decide((tolerance - value - width, tolerance - value + width)),
        value=value,
        interval=(max(0.0, value - width), value + width),
        unit="between the distribution functions",
        basis=f"{n_values} singular values of {numbers['n_trials']} trials in "
        f"{heights.size} bins; the tolerance is 2/d = {tolerance:.3f}.",
        thresholds=(tolerance,),
    )


def _nearer(numbers: Numbers, space: str, metric: int) -> Finding:
    """Return the fall in per cent over many seeds; the remark has the paper's few."""
    fall, interval = _fall(numbers, f"{space}_many", metric)
    _, few = _fall(numbers, space, metric)
    nothing = -100 * float(numbers[f"{space}_many_change"][metric, -1])
    nothing = round(nothing, 1) + 0.0  # no -0.0
    return Finding(
        about=f"{space}, {_METRICS[metric]}",
        outcome=decide(interval),
        value=fall,
        interval=interval,
        unit=f"% nearer at ℓ = {numbers['lengths'][-1]} than at ℓ = 1",
        basis=f"{numbers['n_seeds_many']} seeds in pairs, bootstrap; reading "
        f"'{numbers['reading']}' of the equation.",
        remark=f"With {numbers['n_seeds']} seeds, as in the paper: [{few[0]:.1f}, "
        f"{few[1]:.1f}] %. The constant z, which knows no solution: "
        f"{nothing:+.1f} %.",
    )


def _fall(
    numbers: Numbers, prefix: str, metric: int
) -> tuple[float, tuple[float, float]]:
    # The last column is z = const; the longest word stands before it.
    change, low, high = (
        100 * float(numbers[f"{prefix}_{name}"][metric, -2])
        for name in ("change", "change_low", "change_high")
    )
    return -change, (-high, -low)


def _mass_above(
    places: Float[np.ndarray, " n"],
    density: Float[np.ndarray, " n"],
    edges: Float[np.ndarray, " m"],
) -> Float[np.ndarray, " m"]:
    """Return ∫ density from each edge upwards, which avoids an infinite value at 0."""
    pieces = (density[1:] + density[:-1]) / 2 * np.diff(places)
    above = np.append(np.cumsum(pieces[::-1])[::-1], 0.0)
    return np.interp(edges, places, above)


def _quantile(n_looks: int) -> float:
    return NormalDist().inv_cdf(1 - LEVEL / (2 * n_looks))
