"""The claims of the paper, one function each: numbers in, a `Claim` out.

`judge` asks them all. A claim whose numbers are missing is there all the same, and says
what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from freeproj.report.gathering import Gathered
from freeproj.report.paper.claims.kernel import (
    effective_dimension_falls,
    theory_matches,
)
from freeproj.report.paper.claims.lsmdp import longer_words_help_lsmdp
from freeproj.report.paper.claims.training import (
    best_length_exceeds_one,
    free_beats_plain,
)
from freeproj.report.paper.verdicts import Claim
from freeproj.report.saved import Numbers

__all__ = [
    "best_length_exceeds_one",
    "effective_dimension_falls",
    "free_beats_plain",
    "judge",
    "longer_words_help_lsmdp",
    "theory_matches",
]


def judge(
    gathered: Gathered | None, analyses: Mapping[str, Numbers]
) -> tuple[Claim, ...]:
    """Returns the claims of the paper in its order.

    Args:
        gathered: the training runs, if there are any.
        analyses: numbers of the pictures `effective-dimension`, `kernel-spectra` and
            `lsmdp`, by name, as far as they are there.
    """
    spectra = analyses.get("kernel-spectra")
    return (
        effective_dimension_falls(analyses.get("effective-dimension")),
        theory_matches(analyses.get("effective-dimension"), spectra),
        free_beats_plain(gathered),
        best_length_exceeds_one(gathered),
        longer_words_help_lsmdp(analyses.get("lsmdp")),
    )
