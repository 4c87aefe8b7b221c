"""The figure of `freeproj spectra --plot`: your own data, predicted and measured.

Curves are predictions of d_eff/d for each word length, points are measurements at the
ridges asked for; the grey curve is the data's own kernel, without words.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from freeproj.report.figures.style import COLUMN, INK, length_colour
from freeproj.spectra import OwnDataReport, predicted_effective_dimension
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]


def compute(report: OwnDataReport, n_points: int = 120) -> dict[str, np.ndarray]:
    """Return the report's numbers and the predicted curves around its ridges."""
    low, high = min(report.ridges) / 100, max(report.ridges) * 100
    fine = np.geomspace(low, high, n_points)
    n, length = np.array([report.n_generators, report.lengths])[:, :, None]
    t = report.eigenvalues
    return {
        **report.numbers(),
        "curve_ridges": fine,
        "curve": np.asarray(predicted_effective_dimension(t, fine, n, length)),
        "curve_without_words": np.asarray(
            predicted_effective_dimension(t, fine, length=0)
        ),
    }


def draw(numbers: Numbers) -> Figure:
    """Draw effective dimension against the ridge, one colour per length."""
    figure = Figure(figsize=(1.15 * COLUMN, 2.7))
    axes = figure.subplots()
    ridges = numbers["curve_ridges"]
    axes.plot(ridges, numbers["curve_without_words"], color="0.65", label="no words")
    for row, length in enumerate(numbers["lengths"].tolist()):
        colour = length_colour(length)
        label = rf"$\ell={length},\; n={numbers['n_generators'][row]}$"
        axes.plot(ridges, numbers["curve"][row], color=colour, label=label)
        if numbers["n_trials"] > 0:
            axes.errorbar(
                numbers["ridges"],
                numbers["measured"][row],
                2 * np.nan_to_num(numbers["standard_error"][row]),
                fmt="o",
                color=colour,
                capsize=1.6,
                ms=3,
            )
    if numbers["n_trials"] > 0:
        axes.plot([], [], "o", color=INK, ms=3, label=r"measured $\pm$ 2 s.e.")
    axes.set_xscale("log")
    axes.set_ylim(0, None)
    axes.set_xlabel(r"ridge $\gamma$")
    axes.set_ylabel(r"effective dimension $d_\mathrm{eff}/d$")
    axes.set_title(
        rf"$d={numbers['dim']},\;p={numbers['n_samples']}$, {numbers['n_words']} words"
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
