"""Comparisons between cells that tables show and claims judge: one gate for both.

Differences are shares of the headroom (best known player minus best blind) wherever it
is known, so that tasks can be pooled; pairs are runs with the same seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from freeproj.report.paper.cells import Cells, Key
from freeproj.stats import Audit, Verdict, audit, differences, verdict

__all__ = ["MARGIN", "Comparison", "against_plain", "looks", "share_unit"]

MARGIN = 0.10  # of the headroom: what counts as no difference, stated beforehand
_AUDIT = 0.02  # of the headroom: blanking that changes minus does not count


class Comparison(NamedTuple):
    """Every ℓ > 1 against ℓ = 1 of the same settings, seed by seed."""

    verdict: Verdict  # by the key of the cell with ℓ > 1
    plain: Mapping[Key, Key]  # its ℓ = 1
    left_out: Mapping[Key, str]  # cells without a verdict, and why


def share_unit(cells: Cells, key: Key) -> str:
    """Say what differences of this cell are measured in."""
    return "of the headroom" if cells.levels(key).headroom > 0 else "return"


def looks(cells: Cells, key: Key) -> Audit:
    """Compare a cell's returns with those under a blanked observation."""
    margin = _AUDIT * cells.levels(key).scale
    return audit(cells.scores(key), cells.scores(key, "zero"), margin)


def against_plain(
    cells: Cells, test_map: str = "", margin: float | None = None
) -> Comparison:
    """Compare every ℓ > 1 with ℓ = 1.

    Cells are left out where neither side uses its observation: what they earn says
    nothing about projections.
    """
    pairs, left_out, data = {}, {}, {}
    for lengths in cells.families().values():
        plain = lengths.get(1)
        for length, key in lengths.items():
            if plain is None or length == 1:
                continue
            pairs[key] = plain
            data[key] = _shares(cells, key, plain, test_map)
            if not test_map and _blind(cells, (key, plain)):
                left_out[key] = "does not use its observation"
    two_sided = margin is not None
    found = verdict(
        data,
        margin=_margins(cells, data, margin),
        alternative="two-sided" if two_sided else "greater",
        correction="max-t",
        left_out=tuple(left_out),
    )
    return Comparison(found, pairs, left_out)


def _shares(cells: Cells, key: Key, plain: Key, test_map: str) -> dict[int, float]:
    scale = cells.levels(key).scale
    first, second = cells.scores(key, test_map), cells.scores(plain, test_map)
    return {seed: gap / scale for seed, gap in differences(first, second).items()}


def _blind(cells: Cells, keys: Iterable[Key]) -> bool:
    audits = [looks(cells, key).uses_observation for key in keys]
    return all(used is False for used in audits)


def _margins(
    cells: Cells, data: Mapping[Key, object], margin: float | None
) -> dict[Any, float] | None:
    """Only where the headroom is known is a share of it a margin."""
    if margin is None:
        return None
    return {key: margin for key in data if cells.levels(key).headroom > 0}
