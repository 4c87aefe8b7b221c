"""The report on your own data in words: tables and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freeproj.projection import words

if TYPE_CHECKING:
    from freeproj.spectra.advice import OwnDataReport

__all__ = ["advice", "table", "warnings"]

# Distance between finite d and the limit, times d: at most this, from simulations.
_FINITE_SIZE = 0.8
_SAME = 0.01  # a relative difference below this counts as none

_HEADER = (
    *("ridge", "ℓ", "n"),
    *("predicted", "measured", "± s.e.", "difference"),  # of d_eff/d
    *("predicted", "measured"),  # of d_eff/p
)


def table(report: OwnDataReport) -> list[str]:
    """Return the tables of effective dimension and, with a target, of risk."""
    rows = [_HEADER]
    for column in range(len(report.ridges)):
        rows += _table_rows(report, column)
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.rjust, row, widths)).rstrip() for row in rows]
    before = sum(widths[:3]) + 6, sum(widths[3:7]) + 8
    title = " " * before[0] + "d_eff/d".ljust(before[1]) + "d_eff/p"
    note = f"{report.n_words} words (n^ℓ); ℓ = 0 is the data's own kernel X^T X"
    if report.n_trials:
        note += f"; measured: mean of {report.n_trials} draws, {report.group} bases"
    each = ", ".join(f"{ridge / report.n_samples:.3g}" for ridge in report.ridges)
    per_sample = f"ridge per sample (ridge/p): {each}"
    return [title, *lines, note, per_sample, *_risk_table(report)]


def advice(report: OwnDataReport) -> list[str]:
    """Return sentences on which (n, ℓ, ridge, d) to take."""
    choice = _by_effective_dimension if report.risk is None else _by_risk
    return [*choice(report), *_agreement(report), *warnings(report)]


def warnings(report: OwnDataReport) -> list[str]:
    """Return sentences on why the numbers may mean less than they seem to."""
    return [*_centre(report), *_sizes(report)]


def _table_rows(report: OwnDataReport, column: int) -> list[tuple[str, ...]]:
    ridge, c = f"{report.ridges[column]:g}", report.aspect
    own = report.without_words[column]
    blank = ("", "", "")
    rows: list[tuple[str, ...]] = [
        (ridge, "0", "–", f"{own:.4f}", *blank, f"{own / c:.4f}", "")
    ]
    for row, (length, n) in enumerate(
        zip(report.lengths, report.n_generators, strict=True)
    ):
        predicted, measured = (
            report.predicted[row, column],
            report.measured[row, column],
        )
        error = report.standard_error[row, column]
        numbers = (predicted, measured, error, measured - predicted)
        shown = [_shown(number) for number in (*numbers, predicted / c, measured / c)]
        rows.append((ridge, str(length), str(n), *shown))
    return rows


def _shown(number: float) -> str:
    return "–" if np.isnan(number) else f"{number:.4f}"


def _risk_table(report: OwnDataReport) -> list[str]:
    """Return the least predicted risk of each length, line by line."""
    risk = report.risk
    if risk is None:
        return []
    rows = [("ℓ", "best ridge", "per sample", "risk", "risk / zero")]
    for length, ridge, value in zip(*risk[:3], strict=True):
        each = (f"{ridge:.3g}", f"{ridge / report.n_samples:.3g}")
        share = f"{value / risk.zero_risk:.3f}"
        rows.append((str(length), *each, f"{value:.4g}", share))
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    title = "predicted risk of ridge regression on the target, best ridge for each ℓ"
    lines = ["  ".join(map(str.rjust, row, widths)) for row in rows]
    return ["", title, *lines, f"always predicting zero has risk {risk.zero_risk:.4g}"]


def _by_risk(report: OwnDataReport) -> list[str]:
    """Choose (ℓ, ridge) by predicted risk."""
    risk = report.risk
    assert risk is not None
    best = int(np.argmin(risk.risks))
    length, ridge = risk.lengths[best], risk.ridges[best]
    own, words_best = risk.risks[0], float(risk.risks[1:].min())
    name = "no words" if length == 0 else f"words of length ℓ = {length}"
    chosen = (
        f"Take {name}, ridge {ridge:.3g} ({ridge / report.n_samples:.3g} per sample): "
        f"predicted risk {risk.risks[best]:.4g}"
    )
    if risk.risks[best] > (1 - _SAME) * risk.zero_risk:
        return [
            "No length and no ridge predicts this target from these data better than "
            "always predicting zero."
        ]
    if abs(words_best - own) < _SAME * own:
        return [
            f"Words change nothing here: predicted risk {own:.4g} without, "
            f"{words_best:.4g} with the best length.",
            f"{chosen}.",
        ]
    other = (
        f"{words_best:.4g} with the best words" if length == 0 else f"{own:.4g} without"
    )
    return [f"{chosen}, against {other}."]


def _by_effective_dimension(report: OwnDataReport) -> list[str]:
    """Say what lengths do, and why that is no reason to choose one."""
    first, last = np.argmin(report.lengths), np.argmax(report.lengths)
    low, high = report.predicted[last, 0], report.predicted[first, 0]
    ell, ridge = report.lengths[last], f"At ridge {report.ridges[0]:g}"
    if first == last:
        text = f"{ridge}, ℓ = {ell} has d_eff of about {low * report.dim:.3g}."
    elif high - low < _SAME * high:
        text = (
            f"{ridge} words change nothing: d_eff is about {low * report.dim:.3g} for "
            "every length."
        )
    else:
        text = (
            f"{ridge}, d_eff falls from {high * report.dim:.3g} at ℓ = "
            f"{report.lengths[first]} to {low * report.dim:.3g} at ℓ = {ell}, "
            f"{1 - low / high:.0%} less; d is {report.dim}."
        )
    return [
        text,
        "This does not say which ℓ to take: at a fixed number of words d_eff falls "
        "with ℓ for any data, so it would always favour the longest word. To choose by "
        "predicted risk, give what the data should predict (--target).",
        f"{report.n_words} words are possible with ℓ = "
        f"{', '.join(map(str, _possible_lengths(report.n_words)))}.",
    ]


def _centre(report: OwnDataReport) -> list[str]:
    if report.mean_share < max(0.1, 10 / report.n_samples):
        return []
    return [
        f"The data are not centred: {report.mean_share:.0%} of the samples' mean "
        "squared norm comes from the mean sample, a single direction that hides the "
        "others. Subtract it with --center."
    ]


def _possible_lengths(n_words: int) -> list[int]:
    """Return the ℓ for which some n has n^ℓ = n_words."""
    candidates = range(1, max(2, n_words.bit_length()))
    return [length for length in candidates if _is_power(n_words, length)]


def _is_power(value: int, length: int) -> bool:
    try:
        words.generators_for(value, length)
    except ValueError:
        return False
    return True


def _agreement(report: OwnDataReport) -> list[str]:
    if report.n_trials == 0:
        off = _FINITE_SIZE / report.dim
        return [
            "Nothing was measured (0 trials): the predictions are for large d, off by "
            f"up to about {off:.1g} at d = {report.dim}."
        ]
    gap = np.abs(report.measured - report.predicted)
    row, column = np.unravel_index(int(gap.argmax()), gap.shape)
    allowance = _FINITE_SIZE / report.dim + 4 * np.nan_to_num(report.standard_error)
    text = (
        f"Measured and predicted differ by at most {gap.max():.4f} "
        f"(ℓ = {report.lengths[row]}, ridge {report.ridges[column]:g})"
    )
    if (gap <= allowance).all():
        return [f"{text}, as expected for d = {report.dim}."]
    return [
        f"{text}, more than d = {report.dim} explains: trust the measured column. "
        "The prediction is for large d and bases that are free from the data."
    ]


def _sizes(report: OwnDataReport) -> list[str]:
    lines = []
    if report.dim < 40:
        lines.append(
            f"d = {report.dim} is small: the limit is off by up to about "
            f"{_FINITE_SIZE / report.dim:.2f}. Embedding into a larger d (padding with "
            "zeros, the paper takes 128) brings it closer."
        )
    if report.dim > report.n_samples:
        lines.append(
            f"Only {report.n_samples} samples in {report.dim} dimensions: d_eff/d "
            f"cannot exceed p/d = {report.aspect:.3g}. If rows and columns are "
            "swapped, use --transpose."
        )
    return lines
