"""From verdicts over cells to findings and headlines: what all claims of runs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from freeproj.report.paper.cells import Cells, Key
from freeproj.report.paper.comparisons import MARGIN
from freeproj.report.paper.labels import seeds_text
from freeproj.report.paper.verdicts import Finding
from freeproj.stats import CellVerdict, Outcome, Verdict

__all__ = [
    "EQUIVALENCE",
    "SHARE",
    "cell_findings",
    "is_projected",
    "percent",
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
        return f"{what}: no paired seeds."
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
