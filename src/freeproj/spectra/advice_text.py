"""The report on your own data in words: tables and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from freeproj.spectra.advice import OwnDataReport, RiskByLength

__all__ = ["advice", "table", "warnings"]

# Distance between finite d and the limit, times d: at most this, from simulations.
_FINITE_SIZE = 0.8
_FEW = 50  # samples
_SAME = 0.01  # a relative difference below this counts as none
_CONSTANT = "always predicting the mean"

# Of d_eff/d, with its bias, measured - predicted; then of d_eff/p.
_HEADER = "ridge ℓ n predicted measured ±_s.e. bias predicted measured"
_RISK_HEADER = "ℓ best_ridge per_sample predicted measured ±_s.e. R² cost_of_words"


def table(report: OwnDataReport) -> list[str]:
    """Return the tables of effective dimension and, with a target, of risk."""
    lines, widths = _aligned(_HEADER, _dimension_rows(report))
    place = " " * (sum(widths[:3]) + 6)
    title = place + "d_eff/d".ljust(sum(widths[3:7]) + 8) + "d_eff/p"
    note = f"{report.n_words} words (n^ℓ); ℓ = 0 is the data's own kernel X^T X"
    if report.n_trials:
        count = "1 draw" if report.n_trials == 1 else f"{report.n_trials} draws"
        note += f"; measured: mean of {count}, orthogonal bases"
    each = ", ".join(f"{ridge / report.n_samples:.3g}" for ridge in report.ridges)
    per_sample = f"ridge per sample (ridge/p): {each}"
    risk = [] if report.risk is None else _risk_table(report, report.risk)
    return [title, *lines, note, per_sample, *risk]


def advice(report: OwnDataReport) -> list[str]:
    """Return sentences on what the numbers say, and whether to trust them."""
    risk = report.risk
    chosen = _by_dimension(report) if risk is None else _by_risk(report, risk)
    return [*chosen, _agreement(report), *warnings(report)]


def warnings(report: OwnDataReport) -> list[str]:
    """Return sentences on why the numbers may mean less than they seem to."""
    lines, dim, n_samples = [], report.dim, report.n_samples
    if dim < 40:
        lines.append(
            f"d = {dim} is small: the limit is off by up to about "
            f"{_FINITE_SIZE / dim:.2f}. Embedding into a larger d (padding with "
            "zeros, the paper takes 128) brings it closer."
        )
    if report.risk is not None and n_samples < _FEW:
        share = f"±{np.sqrt(2 / n_samples):.0%}"
        lines.append(f"Only {n_samples} samples: a risk is known to {share} of itself.")
    if dim > n_samples:
        lines.append(
            f"Only {n_samples} samples in {dim} dimensions: d_eff/d cannot exceed p/d "
            f"= {report.aspect:.3g}. If rows and columns are swapped, transpose them."
        )
    return lines


def _aligned(header: str, rows: Iterable[list[str]]) -> tuple[list[str], list[int]]:
    """Return lines of right-aligned columns, and the columns' widths."""
    every = [[name.replace("_", " ") for name in header.split()], *rows]
    widths = [max(map(len, cells)) for cells in zip(*every, strict=True)]
    lines = ["  ".join(map(str.rjust, row, widths)).rstrip() for row in every]
    return lines, widths


def _shown(number: float, digits: str = ".4f") -> str:
    return "–" if np.isnan(number) else f"{number:{digits}}"


def _dimension_rows(report: OwnDataReport) -> Iterator[list[str]]:
    c = report.aspect
    grids = (report.predicted, report.measured, report.standard_error)
    for column, ridge in enumerate(report.ridges):
        own = report.without_words[column]
        yield [f"{ridge:g}", "0", "–", _shown(own), "", "", "", _shown(own / c), ""]
        for row, length in enumerate(report.lengths):
            predicted, measured, error = (grid[row, column] for grid in grids)
            numbers = (predicted, measured, error, measured - predicted)
            shown = map(_shown, (*numbers, predicted / c, measured / c))
            n = report.n_generators[row]
            yield [f"{ridge:g}", str(length), str(n), *shown]


def _risk_table(report: OwnDataReport, risk: RiskByLength) -> list[str]:
    """Return the risk at the best ridge of each length, line by line."""
    rows = []
    for length, ridge, value, measured, error in zip(*risk[:5], strict=True):
        named = {0.0: "ridgeless", np.inf: "infinite"}.get(ridge, f"{ridge:.3g}")
        each = f"{ridge / report.n_samples:.3g}" if 0 < ridge < np.inf else "–"
        numbers = [_shown(number, ".4g") for number in (value, measured, error)]
        r_squared = f"{1 - value / risk.zero_risk:.3f}" if risk.zero_risk else "–"
        cost = "" if length == 0 else f"{_cost(value, risk)} %"
        rows.append([str(length), named, each, *numbers, r_squared, cost])
    return [
        "",
        "risk (mean squared error on a fresh sample) at the best ridge of each ℓ",
        *_aligned(_RISK_HEADER, rows)[0],
        "measured: every sample left out in turn, ± its standard error",
        f"{_CONSTANT}: {risk.zero_risk:.4g}",
    ]


def _cost(value: float, risk: RiskByLength) -> str:
    """Say by how many percent words raise the risk."""
    own = risk.risks[0]
    return f"{100 * (value / own - 1) if own else 0.0:.1f}"


def _by_risk(report: OwnDataReport, risk: RiskByLength) -> list[str]:
    """Say whether the data predict the target, at which ridge, and what words cost."""
    ridge, value = risk.ridges[0], risk.risks[0]
    gain = f"{risk.gain:.3g} ± {risk.gain_error:.2g}"
    if ridge == np.inf:
        return [
            f"No ridge has a lower predicted risk than {_CONSTANT}: these data are not "
            "shown to predict this target."
        ]
    if not risk.predicts:
        return [
            "These data are not shown to predict this target: against "
            f"{_CONSTANT}, the measured squared error falls by {gain}, which chance "
            "alone explains. No ridge is recommended."
        ]
    low, high = (_cost(end, risk) for end in (min(risk.risks[1:]), max(risk.risks[1:])))
    named = f"ridge {ridge:.3g} ({ridge / report.n_samples:.3g} per sample)"
    return [
        f"Best without words: {named if ridge else 'ridgeless'}, predicted risk "
        f"{value:.4g} (R² {1 - value / risk.zero_risk:.3f}); the measured error is "
        f"{gain} below that of {_CONSTANT}.",
        "Words never lower the predicted risk (a theorem); here they cost "
        f"{low if low == high else f'{low} to {high}'} %. Take them for storage or for "
        "training on many projections, not for accuracy.",
    ]


def _by_dimension(report: OwnDataReport) -> list[str]:
    """Say what lengths do, and why that is no reason to choose one."""
    first, last = np.argmin(report.lengths), np.argmax(report.lengths)
    low, high = report.predicted[last, 0], report.predicted[first, 0]
    ell, few, many = report.lengths[last], low * report.dim, high * report.dim
    if first == last:
        text = f"ℓ = {ell} has d_eff of about {few:.3g}."
    elif high - low < _SAME * high:
        text = f"words change nothing: d_eff is about {few:.3g} for every length."
    else:
        text = (
            f"d_eff falls from {many:.3g} at ℓ = {report.lengths[first]} to {few:.3g} "
            f"at ℓ = {ell}, {1 - low / high:.0%} less; d is {report.dim}."
        )
    n_words, most = report.n_words, report.n_words.bit_length()
    roots = {each: round(n_words ** (1 / each)) for each in range(1, most + 1)}
    possible = [str(each) for each, n in roots.items() if n**each == n_words]
    return [
        f"At ridge {report.ridges[0]:g}, {text}",
        "This does not say which ℓ to take: at a fixed number of words d_eff falls "
        "with ℓ for any data, so it would always favour the longest word. To see what "
        "words cost, give what the data should predict (--target).",
        f"{n_words} words are possible with ℓ = {', '.join(possible)}.",
    ]


def _agreement(report: OwnDataReport) -> str:
    dim = report.dim
    if report.n_trials == 0:
        return (
            "Nothing was measured (0 trials): the predictions are for large d, off by "
            f"up to about {_FINITE_SIZE / dim:.1g} at d = {dim}."
        )
    bias = report.measured - report.predicted
    row, column = np.unravel_index(int(np.abs(bias).argmax()), bias.shape)
    allowance = _FINITE_SIZE / dim + 4 * np.nan_to_num(report.standard_error)
    end = f"more than d = {dim} explains: trust the measured column."
    if (np.abs(bias) <= allowance).all():
        end = f"within the {_FINITE_SIZE}/d expected at d = {dim}."
    return (
        "The prediction is the limit for large d; its bias (measured - predicted) is "
        f"at most {bias[row, column]:+.4f} (ℓ = {report.lengths[row]}, ridge "
        f"{report.ridges[column]:g}), {end}"
    )
