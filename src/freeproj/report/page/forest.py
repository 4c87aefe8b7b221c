"""Findings as a forest plot: positions of value, interval and threshold on a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from freeproj.findings.answers import Finding

__all__ = ["Bar", "Forest", "forests"]


class Bar(NamedTuple):
    """Positions in per cent of the line's width, and the numbers as texts."""

    finding: Finding
    value: float
    low: float
    high: float
    text: str
    range: str

    @property
    def width(self) -> float:
        """How long the interval is."""
        return self.high - self.low


class Forest(NamedTuple):
    """Findings of one unit on one scale, with ticks below them."""

    unit: str
    thresholds: tuple[float, ...]  # their positions
    bars: list[Bar]
    ticks: list[tuple[float, str]]
    without: dict[str, list[str]]  # reason: the findings without a number


def forests(findings: Sequence[Finding]) -> list[Forest]:
    """Return a forest for each row of consecutive findings with the same unit."""
    groups = groupby(findings, key=lambda finding: (finding.unit, finding.thresholds))
    return [_forest(unit, lines, list(group)) for (unit, lines), group in groups]


def _forest(
    unit: str, thresholds: tuple[float, ...], findings: list[Finding]
) -> Forest:
    places = [
        place
        for finding in findings
        for place in (finding.value, *_ends(finding), *thresholds, 0.0)
        if math.isfinite(place)
    ]
    low, high = min(places), max(places)
    room = 0.04 * ((high - low) or 1.0)
    start, span = low - room, (high - low) + 2 * room
    share = "share of the headroom" in unit

    def at(place: float) -> float:
        return round(100 * (place - start) / span, 2)

    def bar(finding: Finding) -> Bar:
        ends = [end if math.isfinite(end) else finding.value for end in _ends(finding)]
        texts = _texts(finding, share)
        return Bar(finding, at(finding.value), at(ends[0]), at(ends[1]), *texts)

    known = [finding for finding in findings if math.isfinite(finding.value)]
    without: dict[str, list[str]] = {}
    for finding in findings:
        if not math.isfinite(finding.value):
            why = f"{finding.basis} {finding.remark}".strip()
            without.setdefault(why, []).append(finding.about)
    ticks = [(at(t), _tick(t, share)) for t in _ticks(start, start + span)]
    bars = [bar(finding) for finding in known]
    lines = tuple(at(each) for each in thresholds)
    return Forest(unit, lines, bars, ticks if known else [], without)


def _ends(finding: Finding) -> tuple[float, float]:
    """Return the ends of the interval; nan if there are too few seeds for one."""
    if finding.interval is None:
        return math.nan, math.nan
    return finding.interval[0], finding.interval[1]


def _ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= 0.999 * rough)
    first = math.ceil(low / step)
    return [i * step for i in range(first, math.floor(high / step) + 1)]


def _tick(value: float, share: bool) -> str:
    text = f"{100 * value:.3g} %" if share else f"{value:.3g}"
    return text.replace("-", "−")


def _texts(finding: Finding, share: bool) -> tuple[str, str]:
    """Write value and interval, with enough decimals to tell the ends apart."""
    scale, unit = (100, " %") if share else (1, "")
    low, high = _ends(finding)
    width = scale * (high - low) if high > low else scale * abs(finding.value)
    digits = max(0, 1 - math.floor(math.log10(width / 3))) if width > 0 else 2
    digits = min(digits, 1) if share else digits

    def text(value: float) -> str:
        rounded = round(scale * value, digits) + 0.0  # no -0.0
        return f"{rounded:.{digits}f}".replace("-", "−")

    ends = "no interval" if math.isnan(low) else f"[{text(low)}, {text(high)}]{unit}"
    return text(finding.value) + unit, ends
