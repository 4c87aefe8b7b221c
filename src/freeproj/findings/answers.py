"""What may be said: an answer to a question, with the numbers that decided it."""

import math
from dataclasses import dataclass, replace
from typing import Any

from freeproj.stats import Judged, Outcome

__all__ = ["HEADROOM", "RETURN", "SHARE", "Answer", "Finding", "amount", "of_unit"]
__all__ += ["said"]

HEADROOM = "share of the headroom"
RETURN = "return per trial"
SHARE = "share of plain agents' return above the best open-loop policy"


@dataclass(frozen=True)
class Finding:
    """One measurement that an answer rests on."""

    about: str  # "Higher Lower, GRU"
    outcome: Outcome
    value: float
    interval: tuple | None  # begins with low, high; it decides
    unit: str  # what value and interval are, for people
    basis: str  # one sentence: the data behind them
    remark: str = ""
    thresholds: tuple[float, ...] = (0.0,)  # where the verdict turns
    seeds: int | None = None
    run: Any = None  # the first run of its configuration

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval; nan if there are too few seeds for one."""
        return self.interval[:2] if self.interval else (math.nan, math.nan)


@dataclass(frozen=True)
class Answer:
    """A statement, and what the data make of it."""

    name: str
    statement: str
    source: str
    rule: str  # when it holds, when it does not
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    numbers: str = ""  # that decided, in one line
    said: str = ""  # the statement as the outcome allows it
    short: str = ""  # the same in few words, with the numbers that matter
    basis: str = ""  # memory, seeds and budget, in few words
    details: str = ""  # further numbers, one sentence
    power: str = ""  # where the data cannot tell: how many seeds could
    needed: str = ""  # the number of these seeds
    also: str = ""  # what the same question's other answers are
    section: str = ""  # of the page
    opens: bool = False  # whether it is among the answers that a page opens with
    selection: str = ""  # what was compared, in words
    unit: str = ""
    pooled: Judged | None = None
    missing: str = ""  # what these data lack, if they cannot answer at all
    error: str = ""  # why the question could not be put
    study: str = ""

    @property
    def status(self) -> str:
        """Return `answered`, `missing` or `failed`."""
        return "failed" if self.error else "missing" if self.missing else "answered"

    @property
    def counts(self) -> dict[Outcome, int]:
        """How many findings have each outcome, only those that occur."""
        found = [finding.outcome for finding in self.findings]
        return {word: found.count(word) for word in Outcome if word in found}

    @property
    def sentence(self) -> str:
        """All that may be said, with its numbers; it never says more than `outcome`."""
        if self.error:
            return f"Failed: {self.statement} {self.error}"
        if self.missing:
            return f"Not answered by these runs: {self.statement} Needs: {self.missing}"
        also = self.also and f"{self.also}."
        parts = (self.said, self.numbers, self.details, self.power, also)
        return " ".join(filter(None, parts))

    @property
    def headline(self) -> str:
        """One short sentence: what may be said, the number that matters, the limits."""
        if self.status != "answered":
            return self.sentence
        told = self.short or self.said.rstrip(".")
        if not self.short and self.pooled is not None:
            number = f"{amount(self.pooled.mean, self.unit)} {of_unit(self.unit)}"
            none = math.isnan(self.pooled.mean)
            told += f": {'agents do not use their observation' if none else number}"
        needed = f"{self.needed} seeds needed" if self.needed else ""
        limits = "; ".join(filter(None, (self.basis, needed, self.also)))
        return f"{told} ({limits})." if limits else f"{told}."

    def noted(self, note: str) -> "Answer":
        """Return the answer with a note, if any, to what it says: "… (S5)."."""
        end = f" ({note})." if note else "."
        told = self.said and self.said.removesuffix(".") + end
        return replace(
            self, statement=self.statement.removesuffix(".") + end, said=told
        )

    def __str__(self) -> str:
        basis = f" ({self.selection})" if self.selection else ""
        decided = f"{str(self.outcome).capitalize()}. "
        told = decided if self.outcome is not Outcome.OPEN else ""
        return f"{told}{self.sentence}{basis}"


def said(statement: str, outcome: Outcome, otherwise: str = "") -> str:
    """Turn a statement into what its outcome allows."""
    if outcome is Outcome.HOLDS:
        return statement
    fails = outcome is Outcome.FAILS
    if fails and otherwise:
        return otherwise
    clause = statement
    if statement.split(" ", 1)[0].istitle():  # not RP, LSMDP, or a run's name
        clause = statement[0].lower() + statement[1:]
    doubt = "It does not hold that" if fails else "The data cannot tell whether"
    return f"{doubt} {clause}"


def amount(value: float, unit: str = HEADROOM, *, signed: bool = True) -> str:
    """Write a difference: "+3.0 %" of the headroom, "+0.12" of a trial; "–" is none."""
    if math.isnan(value):
        return "–"
    if unit == SHARE:  # not a difference
        return f"{100 * value:.0f} %"
    text = f"{100 * value:+z.1f} %" if unit == HEADROOM else f"{value:+z.3f}"
    return text if signed else text.lstrip("+")


def of_unit(unit: str) -> str:
    """Say what a difference is a part of."""
    known = {HEADROOM: "of the headroom", SHARE: "of plain agents' return"}
    return known.get(unit, "of a trial's return")
