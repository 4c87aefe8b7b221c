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
_FEW = 50  # samples
_SAME = 0.01  # a relative difference below this counts as none

_HEADER = (
    *("ridge", "ℓ", "n"),
    *(
        "predicted",
        "measured",
        "± s.e.",
        "bias",
    ),  # of d_eff/d; bias: measured - predicted
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
    """Return sentences on what the numbers say, and whether to trust them."""
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
    """Return the risk at the best ridge of each length, line by line."""
    risk = report.risk
    if risk is None:
        return []
    head = ("ℓ", "best ridge", "per sample", "predicted", "measured", "± s.e.")
    rows: list[tuple[str, ...]] = [(*head, "R²", "cost of words")]
    for length, ridge, value, measured, error in zip(*risk[:5], strict=True):
        each = f"{ridge / report.n_samples:.3g}" if 0 < ridge < np.inf else "–"
        numbers = [_short(number) for number in (value, measured, error)]
        r_squared = f"{1 - value / risk.zero_risk:.3f}" if risk.zero_risk else "–"
        cost = "" if length == 0 else f"{_cost(value, risk.risks[0]):.1f} %"
        named = (str(length), _ridge(ridge), each)
        rows.append((*named, *numbers, r_squared, cost))
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    title = "risk (mean squared error on a fresh sample) at the best ridge of each ℓ"
    lines = ["  ".join(map(str.rjust, row, widths)).rstrip() for row in rows]
    note = "measured: every sample left out in turn, ± its standard error"
    return ["", title, *lines, note, f"{_constant(report)}: {risk.zero_risk:.4g}"]


def _short(number: float) -> str:
    return "–" if np.isnan(number) else f"{number:.4g}"


def _ridge(ridge: float) -> str:
    return {0.0: "ridgeless", np.inf: "infinite"}.get(ridge, f"{ridge:.3g}")


def _cost(risk: float, own: float) -> float:
    """Return by how many percent words raise the risk."""
    return 100 * (risk / own - 1) if own else 0.0


def _constant(report: OwnDataReport) -> str:
    return f"always predicting {'the mean' if report.centered else 'zero'}"


def _by_risk(report: OwnDataReport) -> list[str]:
    """Say whether the data predict the target, at which ridge, and what words cost."""
    risk = report.risk
    assert risk is not None
    gain = f"{risk.gain:.3g} ± {risk.gain_error:.2g}"
    if risk.ridges[0] == np.inf:
        return [
            f"No ridge has a lower predicted risk than {_constant(report)}: these data "
            "are not shown to predict this target."
        ]
    if not risk.predicts:
        return [
            "These data are not shown to predict this target: against "
            f"{_constant(report)}, the measured squared error falls by {gain}, which "
            "chance alone explains. No ridge is recommended."
        ]
    ridge, value = risk.ridges[0], risk.risks[0]
    costs = [_cost(other, value) for other in risk.risks[1:]]
    lowest, highest = f"{min(costs):.1f}", f"{max(costs):.1f}"
    between = lowest if lowest == highest else f"{lowest} to {highest}"
    named = f"ridge {ridge:.3g} ({ridge / report.n_samples:.3g} per sample)"
    return [
        f"Best without words: {named if ridge else 'ridgeless'}, predicted risk "
        f"{value:.4g} (R² {1 - value / risk.zero_risk:.3f}); the measured error "
        f"is {gain} below that of {_constant(report)}.",
        "Words never lower the predicted risk (a theorem); here they cost "
        f"{between} %. Take them for storage or for training on many maps, not for "
        "accuracy.",
    ]


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
        "with ℓ for any data, so it would always favour the longest word. To see what "
        "words cost, give what the data should predict (--target).",
        f"{report.n_words} words are possible with ℓ = "
        f"{', '.join(map(str, _possible_lengths(report.n_words)))}.",
    ]


def _centre(report: OwnDataReport) -> list[str]:
    if report.centered or report.mean_share < max(0.1, 10 / report.n_samples):
        return []
    return [
        f"The data are not centred: {report.mean_share:.0%} of the samples' mean "
        "squared norm comes from the mean sample, a single direction that hides the "
        "others. Subtract it (`center=True`)."
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
    bias = (report.measured - report.predicted)[row, column]
    text = (
        "The prediction is the limit for large d; its bias (measured - predicted) is "
        f"at most {bias:+.4f} (ℓ = {report.lengths[row]}, ridge "
        f"{report.ridges[column]:g})"
    )
    if (gap <= allowance).all():
        return [f"{text}, within the {_FINITE_SIZE}/d expected at d = {report.dim}."]
    return [f"{text}, more than d = {report.dim} explains: trust the measured column."]


def _sizes(report: OwnDataReport) -> list[str]:
    lines = []
    if report.dim < 40:
        lines.append(
            f"d = {report.dim} is small: the limit is off by up to about "
            f"{_FINITE_SIZE / report.dim:.2f}. Embedding into a larger d (padding with "
            "zeros, the paper takes 128) brings it closer."
        )
    if report.risk is not None and report.n_samples < _FEW:
        lines.append(
            f"Only {report.n_samples} samples: a risk is known to about "
            f"±{np.sqrt(2 / report.n_samples):.0%} of itself."
        )
    if report.dim > report.n_samples:
        lines.append(
            f"Only {report.n_samples} samples in {report.dim} dimensions: d_eff/d "
            f"cannot exceed p/d = {report.aspect:.3g}. If rows and columns are "
            "swapped, use --samples."
        )
    return lines
