"""From verdicts over cells to findings and headlines: what all claims of runs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from freeproj.findings.cells import Cells, Key
from freeproj.findings.comparisons import MARGIN, Comparison, against_plain
from freeproj.findings.labels import seeds_text
from freeproj.findings.verdicts import Claim, Finding, combine, missing, unknown
from freeproj.stats import CellVerdict, Outcome, Verdict, verdict

__all__ = [
    "EQUIVALENCE",
    "SHARE",
    "cell_findings",
    "equal_lengths",
    "is_projected",
    "left_out_findings",
    "left_out_text",
    "percent",
    "pooled_claim",
    "pooled_text",
]

SHARE = "share of the headroom"
EQUIVALENCE = (
    f"Holds if every difference lies within ±{MARGIN:.0%} of the headroom (two "
    "one-sided tests, margin stated beforehand); does not hold if one is beyond it."
)
# A test of "there is a difference", read as a test of "there is none".
_TURNED = {Outcome.SAME: Outcome.HOLDS, Outcome.HOLDS: Outcome.FAILS}


def is_projected(cells: Cells, key: Key) -> bool:
    """Whether agents see the projected observation, not none and not the plain one."""
    return cells.get(key, "observation", "projected") == "projected"


def percent(value: float, signed: bool = True) -> str:
    """Write a share of the headroom: "+3 %"."""
    share = round(100 * value, 1) + 0.0  # no -0.0
    return f"{share:+.1f} %" if signed else f"{share:.1f} %"


def pooled_text(found: Verdict, what: str) -> str:
    """Say what all cells together show: mean, interval, p, cells and seeds."""
    pooled = found.pooled
    if not pooled.n_cells:
        return f"{what}: nothing to compare."
    ends = pooled.interval
    interval = f" [{percent(ends.low)}, {percent(ends.high)}]" if ends else ""
    return (
        f"{what}: {percent(pooled.mean)}{interval} of the headroom, p = "
        f"{found.p_adjusted:.2g}, over {pooled.n_cells} cell"
        + "s" * (pooled.n_cells != 1)
        + f" and {seeds_text([pooled.n_seeds])}."
    )


def cell_findings(
    found: Verdict,
    about: Callable[[Any], str],
    remarks: Mapping[Any, str] | None = None,
    *,
    turned: bool = False,
    unit: str = SHARE,
) -> tuple[Finding, ...]:
    """Return a finding per cell of a verdict.

    Args:
        turned: the claim says that there is no difference beyond the margin.
    """
    return tuple(
        Finding(
            about=about(cell),
            outcome=_TURNED.get(each.outcome, Outcome.OPEN) if turned else each.outcome,
            value=each.mean,
            interval=each.interval,
            unit=unit,
            basis=_basis(each),
            remark=(remarks or {}).get(cell, ""),
            seeds=each.n,
        )
        for cell, each in found.cells.items()
    )


def _basis(cell: CellVerdict) -> str:
    if cell.outcome == Outcome.OPEN:
        return cell.reason
    return (
        f"{cell.n} seeds, sign-flip p = {cell.p:.2g} ({cell.p_adjusted:.2g} corrected)."
    )


def pooled_claim(
    tell: Mapping[str, str],
    data: Mapping[Any, Mapping[int, float]],
    what: str,
    about: Callable[[Any], str],
    remarks: Mapping[Any, str],
    *,
    headline: str = "",
) -> Claim:
    """Judge "above zero" over cells: the pooled test, and a finding for each cell.

    Args:
        tell: name, statement, source and rule of the claim.
        data: the differences of each cell by seed.
        what: the difference, for the headline where none is given.
    """
    found = verdict(data, correction="max-t")
    return Claim(
        **tell,
        headline=headline or pooled_text(found, what),
        findings=cell_findings(found, about, remarks),
        outcome=found.outcome,
    )


def equal_lengths(cells: Cells, tell: Mapping[str, str], what: str) -> Claim:
    """Judge "the word length changes nothing on unseen random maps".

    Args:
        tell: name, statement, source and rule of the claim.
        what: runs that are needed, for where there are none.
    """
    compared = against_plain(cells, "random", MARGIN)
    if not compared.plain:
        return missing(**tell, what=what)
    judged = cell_findings(compared.verdict, cells.label, turned=True)
    headline = pooled_text(compared.verdict, "ℓ > 1 minus ℓ = 1 on random maps")
    headline += left_out_text(compared)
    findings = judged + left_out_findings(cells, compared)
    outcome = combine(finding.outcome for finding in judged)
    return Claim(**tell, headline=headline, findings=findings, outcome=outcome)


def left_out_findings(cells: Cells, compared: Comparison) -> tuple[Finding, ...]:
    """Return a finding without a verdict for every cell that was left out."""
    return tuple(
        unknown(cells.label(key), f"This cell {why}: no verdict.")
        for key, why in compared.left_out.items()
    )


def left_out_text(compared: Comparison) -> str:
    """Say how many comparisons are of agents that do not look."""
    n = len(compared.left_out)
    if not n:
        return ""
    of = f"{n} of {len(compared.plain)} comparisons"
    return f" Left out, as agents do not use their observation: {of}."
