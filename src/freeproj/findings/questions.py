"""A question about runs, and the contrast that answers it. Declarations, no numbers.

    Question(
        "frp-beats-rp",
        "Free random projection (ℓ > 1) generalises better than plain (ℓ = 1).",
        select=no_reward,
        contrasts=(Contrast(what="ℓ > 1 minus ℓ = 1", along="projection.length",
                            reference=1),),
    )

`freeproj.findings.asking.ask` puts it to a dataset.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import Cells
from freeproj.stats import EXPECTS

__all__ = ["MARGIN", "SECTIONS", "Contrast", "Question", "Settings"]

MARGIN = 0.10  # of the headroom: what counts as no difference, stated beforehand
SECTIONS = ("training", "invariance", "own")

Settings = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """What is subtracted from what, seed by seed, in each configuration.

    One of `minus` (the same agents on another test projection), `along` (another value
    of an axis) and `second` (other runs) must be given; `minus` beside one of the
    others compares those differences.

    Args:
        first: which of the question's runs it is about; all of them by default.
        on: the test projection, if not the question's.
        minus: a test projection, or `chance` (the uniform policy).
        along: an axis; every other value minus `reference`.
        second: the runs to subtract, paired where the settings `match` agree.
        share: how much of the second side counts, measured from the best open-loop
            policy (from zero where none is stored): 0.9 asks for 90 %.
        chosen: choose the value along the axis on half of the seeds, measure it on the
            others.
        turned: subtract the other way round.
    """

    what: str  # in words: "ℓ > 1 minus ℓ = 1"
    first: Callable[[Settings], bool] = lambda settings: True
    on: str = ""
    minus: str = ""
    along: str = ""
    reference: Any = None
    second: Callable[[Settings], bool] | None = None
    match: tuple[str, ...] = ("task", "memory")
    share: float = 1.0
    chosen: bool = False
    turned: bool = False

    def __post_init__(self):
        if self.along and self.second is not None:
            raise ValueError("A contrast takes `along` or `second`, not both.")
        if not (self.minus or self.along or self.second):
            raise ValueError("A contrast needs `minus`, `along` or `second`.")


@dataclass(frozen=True)
class Question:
    """A statement that runs can confirm, refute, or leave open.

    Args:
        statement: one sentence; it is said where the question's answer is "holds".
        source: where the paper says so, or what it follows from.
        select: the runs it is about, chosen by their settings.
        contrasts: what is compared, all of it together one question; or a function
            that gives the contrasts for the runs selected.
        on: the test projection; "" is each run's first one.
        expects: the contrasts are `more` than zero, `less`, or the `same`.
        margin: for `same`; by default `MARGIN`, and none without a known headroom.
        otherwise: what is said where it does not hold.
        needs: the runs it needs, for where there are none.
        study: the published study that answers it.
        opens: whether README and page open with its answer.
        each: every comparison is judged by itself, without their pool.
        values: further numbers by name, from the configurations selected.
        details: one more sentence, with places for `values`.
        short: by outcome, what is said in few words, with places for `values` and for
            margin, pooled, reach (of the widest interval) and verdicts (by task).
    """

    name: str
    statement: str
    source: str
    select: Callable[[Dataset], Dataset]
    contrasts: tuple[Contrast, ...] | Callable[[Dataset], tuple[Contrast, ...]]
    on: str = "random"
    expects: str = "more"
    margin: float | None = None
    otherwise: str = ""
    needs: str = "runs of this kind"
    study: str = ""
    section: str = "training"
    opens: bool = False
    each: bool = False
    values: Callable[[Cells], Mapping[str, str]] | None = None
    details: str = ""
    short: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self):
        if self.expects not in EXPECTS:
            known = ", ".join(EXPECTS)
            raise ValueError(f"`expects` must be one of {known}, got {self.expects!r}.")
