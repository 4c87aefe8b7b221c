"""Claims about analyses, judged on figures' numbers: the averaged kernel, LSMDPs."""

from statistics import NormalDist
from typing import Any

import numpy as np

from freeproj.findings.answers import Answer, Finding, said
from freeproj.findings.questions import TEXTS
from freeproj.stats.verdicts import LEVEL, Outcome, combine
from freeproj.storage.saved import Numbers

__all__ = ["effective_dimension_falls", "longer_words_help_lsmdp", "theory_matches"]

_SHOWN_RIDGE = 1e-2  # in the text
_METRICS = ("KL of the policy", "L1 of the policy", "L2 of z", "L1 of z")


def effective_dimension_falls(numbers: Numbers) -> Answer:
    """Ask whether d_eff/d falls from each length to the next, at every ridge."""
    at = int(np.argmin(np.abs(np.log(numbers["ridges"] / _SHOWN_RIDGE))))
    first, *_, last = numbers["measured_per_dimension"][:, at]
    lengths, ridge = numbers["lengths"], numbers["ridges"][at]
    found = [_drop(numbers, row) for row in range(len(lengths) - 1)]
    ends = {"shortest": lengths[0], "longest": lengths[-1]}
    values = {"ridge": ridge, "first": first, "last": last, **ends}
    return _answer("effective-dimension", found, **values)


def theory_matches(dimension: Numbers, spectra: Numbers) -> Answer:
    """Ask whether measurements at finite d lie as near to the limit as d allows."""
    gaps = [_dimension_gap(dimension, row) for row in range(len(dimension["lengths"]))]
    widest = max(gap.value for gap in gaps)
    gaps += [_spectrum_gap(spectra, row) for row in range(len(spectra["lengths"]))]
    return _answer("theory", gaps, widest=widest, dim=dimension["dim"])


def longer_words_help_lsmdp(numbers: Numbers) -> Answer:
    """Ask whether the longest words bring z and the policy nearer than ℓ = 1 does."""
    each = ((space, m) for space in ("lattice", "tree") for m in range(len(_METRICS)))
    found = [_nearer(numbers, space, metric) for space, metric in each]
    changes = [-finding.value for finding in found]
    ends = {"least": min(changes), "most": max(changes)}
    return _answer("lsmdp", found, length=numbers["lengths"][-1], **ends)


def _answer(name: str, found: list[Finding], **values: Any) -> Answer:
    """Return the answer whose texts are in `questions.toml`."""
    outcome = combine(finding.outcome for finding in found)
    parts = TEXTS[name] | {"numbers": TEXTS[name]["numbers"].format(**values)}
    parts["said"] = said(parts["statement"], outcome)
    return Answer(name, outcome=outcome, findings=tuple(found), **parts)


def _drop(numbers: Numbers, row: int) -> Finding:
    """Return the drop from one length to the next, at the least certain ridge."""
    means = numbers["measured_per_dimension"]
    errors = numbers["deviation_per_dimension"] / np.sqrt(numbers["n_trials"])
    drop = means[row] - means[row + 1]
    error = np.hypot(errors[row], errors[row + 1])
    width = _quantile((len(means) - 1) * drop.size) * error
    at = int(np.argmin(drop - width))
    short, long = numbers["lengths"][[row, row + 1]]
    ends = (float((drop - width)[at]), float((drop + width)[at]))
    return Finding(
        f"ℓ = {short} to ℓ = {long}",
        *(_decide(*ends), float(drop[at]), ends, "drop of d_eff/d"),
        f"The least certain of {drop.size} ridges, γ = {numbers['ridges'][at]:.1g}; "
        f"{numbers['n_trials']} independent draws of data and matrices per length, "
        f"d = {numbers['dim']}, p = {numbers['n_samples']}.",
    )


def _dimension_gap(numbers: Numbers, row: int) -> Finding:
    dim = int(numbers["dim"])
    gaps = numbers["measured_per_dimension"][row] - numbers["limit_per_dimension"][row]
    errors = numbers["deviation_per_dimension"][row] / np.sqrt(numbers["n_trials"])
    # The claim needs every ridge to be near, so each is tested at the full level.
    width = _quantile(1) * errors
    at = int(np.argmax(np.abs(gaps) + width))
    return _near(
        f"d_eff, ℓ = {numbers['lengths'][row]}",
        dim * abs(float(gaps[at])),
        dim * float(width[at]),
        1.0,
        f"dimensions of {dim} between mean and limit",
        f"The widest gap of {gaps.size} ridges, γ = {numbers['ridges'][at]:.1g}; "
        f"{numbers['n_trials']} trials; the tolerance is 1.",
    )


def _spectrum_gap(numbers: Numbers, row: int) -> Finding:
    """Return Kolmogorov's distance at the edges of the bins, with Massart's band."""
    edges, heights = numbers["bin_edges"][row], numbers["histogram"][row]
    above = 1 - np.cumsum(heights * np.diff(edges))[:-1]
    places, density = numbers["limit_places"][row], numbers["limit_density"][row]
    # ∫ density from each edge upwards, which avoids an infinite value at 0.
    pieces = (density[1:] + density[:-1]) / 2 * np.diff(places)
    mass = np.append(np.cumsum(pieces[::-1])[::-1], 0.0)
    limit = np.interp(edges[1:-1], places, mass)
    n_values = int(numbers["n_trials"] * numbers["n_samples"])
    tolerance = 2 / float(numbers["dim"])
    return _near(
        f"spectrum of √K, ℓ = {numbers['lengths'][row]}",
        float(np.abs(above - limit).max()),
        float(np.sqrt(np.log(2 / LEVEL) / (2 * n_values))),
        tolerance,
        "between the distribution functions",
        f"{n_values} singular values of {numbers['n_trials']} trials in "
        f"{heights.size} bins; the tolerance is 2/d = {tolerance:.3f}.",
    )


def _nearer(numbers: Numbers, space: str, metric: int) -> Finding:
    """Return the fall in per cent over many seeds; the remark has the paper's few."""

    def percent(name: str, column: int = -2) -> float:
        # The last column is z = const; the longest word stands before it.
        return 100 * float(numbers[f"{space}{name}"][metric, column])

    nothing = percent("_many_change", -1)
    ends = (-percent("_many_change_high"), -percent("_many_change_low"))
    return Finding(
        f"{space}, {_METRICS[metric]}",
        *(_decide(*ends), -percent("_many_change"), ends),
        f"% nearer at ℓ = {numbers['lengths'][-1]} than at ℓ = 1",
        f"{numbers['n_seeds_many']} seeds in pairs, bootstrap; reading "
        f"'{numbers['reading']}' of the equation.",
        f"With {numbers['n_seeds']} seeds, as in the paper: "
        f"[{-percent('_change_high'):.1f}, {-percent('_change_low'):.1f}] %. "
        f"Baseline z = const (the passive policy): {-nothing:+z.1f} %.",
    )


def _near(
    about: str, value: float, width: float, tolerance: float, unit: str, basis: str
) -> Finding:
    """Return the finding of "the value is below the tolerance"."""
    outcome = _decide(tolerance - value - width, tolerance - value + width)
    ends = (max(0.0, value - width), value + width)
    return Finding(about, outcome, value, ends, unit, basis, thresholds=(tolerance,))


def _decide(low: float, high: float) -> Outcome:
    """Return the outcome of "the value is above zero"; nan decides nothing."""
    return Outcome.HOLDS if low > 0 else Outcome.FAILS if high < 0 else Outcome.OPEN


def _quantile(n_looks: int) -> float:
    return NormalDist().inv_cdf(1 - LEVEL / (2 * n_looks))
