"""A question about runs, and the contrasts that answer it. Declarations, no numbers.

`freeproj.findings.asking.ask` puts it to a dataset; docs/extending.md has an example.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import Cells
from freeproj.stats.verdicts import EXPECTS
from freeproj.storage.checks import one_of

__all__ = ["MARGIN", "TEXTS", "Contrast", "Question", "Settings", "stated"]

MARGIN = 0.10  # of the headroom: what counts as no difference, stated beforehand
TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

Settings = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """What is subtracted from what, seed by seed, in each configuration.

    One of `minus` (the same agents on another test projection), `along` (another value
    of an axis) and `second` (other runs) must be given; `minus` beside one of the
    others compares those differences.
    """

    what: str  # in words: "ℓ > 1 minus ℓ = 1"
    first: Callable[[Settings], bool] = lambda settings: True  # the runs it is about
    on: str = ""  # the test projection, if not the question's
    minus: str = ""  # a test projection, or `chance` (the uniform policy)
    along: str = ""  # an axis; every other value minus `reference`
    reference: Any = None
    second: Callable[[Settings], bool] | None = None  # the runs to subtract,
    match: tuple[str, ...] = ("task", "memory")  # paired where these settings agree
    # How much of the second side counts, measured from the best open-loop policy (from
    # zero where none is stored): 0.9 asks for 90 %.
    share: float = 1.0
    chosen: bool = False  # the best of the axis on half of the seeds, for the others
    turned: bool = False  # subtract the other way round

    def __post_init__(self):
        if self.along and self.second is not None:
            raise ValueError("A contrast takes `along` or `second`, not both.")
        if not (self.minus or self.along or self.second):
            raise ValueError("A contrast needs `minus`, `along` or `second`.")


@dataclass(frozen=True)
class Question:
    """A statement that runs can confirm, refute, or leave open."""

    name: str
    statement: str  # one sentence; it is said where the answer is "holds"
    source: str  # where the paper says so, or what it follows from
    select: Callable[[Dataset], Dataset]  # the runs it is about, by their settings
    # All of it together is one question; a function is given the runs selected.
    contrasts: tuple[Contrast, ...] | Callable[[Dataset], tuple[Contrast, ...]]
    on: str = "random"  # the test projection; "" is each run's first one
    expects: str = "more"  # the contrasts are `more` than zero, `less`, or the `same`
    margin: float | None = None  # by default `MARGIN`; none without a known headroom
    otherwise: str = ""  # what is said where it does not hold
    needs: str = "runs of this kind"  # said where there are none
    study: str = ""  # the published one that answers it
    section: str = "training"
    opens: bool = False  # README and page open with its answer
    each: bool = False  # every comparison is judged by itself, without their pool
    values: Callable[[Cells], Mapping[str, str]] | None = None  # more numbers, by name
    details: str = ""  # one more sentence, with places for `values`
    # By outcome what is said in few words, with places for `values` and for margin,
    # pooled, reach (of the widest interval) and verdicts (by task).
    short: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self):
        one_of(EXPECTS, expects=self.expects)


def stated(name: str, select: Callable, contrasts: Any, values: Any = None) -> Question:
    """Return our question of that name, with what it says in `questions.toml`."""
    more = {"select": select, "contrasts": contrasts, "values": values}
    return Question(name, **TEXTS[name], **more)
