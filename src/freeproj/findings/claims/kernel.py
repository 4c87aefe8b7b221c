"""Claims about the averaged kernel: its effective dimension and its spectrum.

The numbers are those of the figures `effective-dimension` and `kernel-spectra`.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from jaxtyping import Float

from freeproj.findings.answers import (
    Answer,
    Finding,
    combine,
    decide,
    unknown,
)
from freeproj.stats import LEVEL
from freeproj.storage.saved import Numbers

__all__ = ["effective_dimension_falls", "theory_matches"]

_SHOWN_RIDGE = 1e-2  # for the text
_MISSING = "Not computed; `freeproj figure {}` does."


def effective_dimension_falls(numbers: Numbers | None) -> Answer:
    """Ask whether d_eff/d falls from each length to the next, at every ridge."""
    findings = [unknown("all lengths", _MISSING.format("effective-dimension"))]
    if numbers is not None:
        findings = [_drop(numbers, row) for row in range(len(numbers["lengths"]) - 1)]
    return Answer(
        name="effective-dimension",
        statement="The effective dimension of the averaged kernel falls with the word "
        "length ℓ, when the number of words stays the same.",
        source="Kernel Analysis of FRP, Fig. 2 left",
        rule="Holds if the drop from each length to the next is above zero at every "
        "ridge, with simultaneous 95 % intervals; does not if one is below.",
        numbers=_told(numbers),
        findings=tuple(findings),
        outcome=combine(finding.outcome for finding in findings),
    )


def theory_matches(dimension: Numbers | None, spectra: Numbers | None) -> Answer:
    """Ask whether measurements at finite d lie as near to the limit as d allows."""
    findings = [unknown("effective dimension", _MISSING.format("effective-dimension"))]
    if dimension is not None:
        rows = range(len(dimension["lengths"]))
        findings = [_dimension_gap(dimension, row) for row in rows]
    if spectra is None:
        findings.append(unknown("spectra", _MISSING.format("kernel-spectra")))
    else:
        rows = range(len(spectra["lengths"]))
        findings += [_spectrum_gap(spectra, row) for row in rows]
    gaps = [f.value for f in findings if f.unit.startswith("dimensions")]
    told = (
        f"The measured mean is at most {max(gaps):.2f} dimensions of "
        f"{dimension['dim']} away from the limit."
        if dimension is not None
        else "No numbers."
    )
    return Answer(
        name="theory",
        statement="Free probability predicts what is measured: effective dimension and "
        "spectrum of the averaged kernel.",
        source="Kernel Analysis of FRP, appendix C, Fig. 2",
        rule="The limit is for d → ∞; at finite d means differ by the order of one "
        "dimension. Holds if the largest gap is below one dimension of d_eff, and "
        "below 2/d between the distribution functions of √K, 95 % intervals included.",
        numbers=told,
        findings=tuple(findings),
        outcome=combine(finding.outcome for finding in findings),
    )


def _told(numbers: Numbers | None) -> str:
    if numbers is None:
        return "No numbers."
    at = int(np.argmin(np.abs(np.log(numbers["ridges"] / _SHOWN_RIDGE))))
    first, *_, last = numbers["measured_per_dimension"][:, at]
    lengths = numbers["lengths"]
    return (
        f"At γ = {numbers['ridges'][at]:.2g} d_eff falls from {first:.3f} d at ℓ = "
        f"{lengths[0]} to {last:.3f} d at ℓ = {lengths[-1]}."
    )


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
