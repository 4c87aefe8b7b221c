"""Findings as a forest plot: where value, interval and threshold stand on a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from freeproj.report.paper.verdicts import Finding

__all__ = ["Bar", "forest"]


class Bar(NamedTuple):
    """Places in per cent of the line's width, and the numbers as texts."""

    value: float
    low: float
    high: float
    threshold: float
    texts: tuple[str, str, str]  # value, low, high

    @property
    def width(self) -> float:
        """How long the interval is."""
        return self.high - self.low


def forest(findings: Sequence[Finding]) -> list[Bar | None]:
    """Returns a bar per finding, on one scale for all of the same unit.

    A finding without a value has none.
    """
    scales: dict[str, list[float]] = {}
    for finding in findings:
        places = (finding.value, *finding.interval, finding.threshold, 0.0)
        seen = [place for place in places if math.isfinite(place)]
        scales.setdefault(finding.unit, []).extend(seen)
    return [_bar(finding, scales[finding.unit]) for finding in findings]


def _decimals(finding: Finding) -> int:
    """As many as tell the ends of the interval apart: two digits of its width."""
    low, high = finding.interval
    width = high - low if high > low else abs(finding.value)
    return max(0, 1 - math.floor(math.log10(width / 3))) if width > 0 else 2


def _text(value: float, decimals: int) -> str:
    return "—" if math.isnan(value) else f"{value:.{decimals}f}".replace("-", "−")


def _bar(finding: Finding, scale: list[float]) -> Bar | None:
    if not math.isfinite(finding.value):
        return None
    low, high = min(scale), max(scale)
    room = 0.04 * ((high - low) or 1.0)
    start, span = low - room, (high - low) + 2 * room
    ends = [
        end if math.isfinite(end) else finding.value for end in finding.interval
    ]  # of one seed there is a point without an interval
    places = (finding.value, *ends, finding.threshold)
    at = [round(100 * (place - start) / span, 2) for place in places]
    decimals = _decimals(finding)
    value, low, high = (
        _text(each, decimals) for each in (finding.value, *finding.interval)
    )
    return Bar(at[0], at[1], at[2], at[3], (value, low, high))
