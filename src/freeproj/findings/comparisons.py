"""Comparisons between cells, computed once for tables that show and claims that judge.

Differences are shares of the headroom (best known player minus best blind) wherever it
is known, so that tasks can be pooled; pairs are runs with the same seed.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import Any, NamedTuple

from freeproj.findings.cells import Cells, Key
from freeproj.stats import Audit, Verdict, audit, differences, verdict

__all__ = ["MARGIN", "Comparison", "against_plain", "looks", "share_unit"]

MARGIN = 0.10  # of the headroom: what counts as no difference, stated beforehand
_AUDIT = 0.02  # of the headroom: blanking that changes less does not count


class Comparison(NamedTuple):
    """Every ℓ > 1 against ℓ = 1 of the same settings, seed by seed."""

    verdict: Verdict  # by the key of the cell with ℓ > 1
    plain: Mapping[Key, Key]  # its ℓ = 1
    left_out: Mapping[Key, str]  # cells without a verdict, and why


def share_unit(cells: Cells, key: Key) -> str:
    """Say what differences of this cell are measured in."""
    return "of the headroom" if cells.levels(key).headroom > 0 else "return"


def looks(cells: Cells, *keys: Key, test_map: str = "") -> Audit:
    """Compare returns with those under a blanked observation, over all these cells.

    The cells' differences are averaged seed by seed. The question is put to all lengths
    together, so the answer does not depend on which length earns more, and leaving out
    agents that do not look favours no length. Put to each length alone it did favour
    one: 15 % of null studies got a verdict.
    """
    by_seed = collections.defaultdict(list)
    for key in keys:
        seeing, blanked = (cells.scores(key, name) for name in (test_map, "zero"))
        for seed, gap in differences(seeing, blanked).items():
            by_seed[seed].append(gap)
    gaps = {seed: sum(each) / len(each) for seed, each in by_seed.items()}
    margin = _AUDIT * cells.levels(keys[0]).scale
    return audit(gaps, dict.fromkeys(gaps, 0.0), margin)


def against_plain(
    cells: Cells, test_map: str = "", margin: float | None = None
) -> Comparison:
    """Compare every ℓ > 1 with ℓ = 1.

    Groups of lengths that do not use their observation are left out: what they earn
    says nothing about projections.
    """
    pairs, left_out, data = {}, {}, {}
    for lengths in cells.families().values():
        plain = lengths.get(1)
        if plain is None or len(lengths) < 2:
            continue
        sees = looks(cells, *lengths.values(), test_map=test_map).uses_observation
        for key in lengths.values():
            if key == plain:
                continue
            pairs[key] = plain
            data[key] = _shares(cells, key, plain, test_map)
            if sees is False:
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


def _margins(
    cells: Cells, data: Mapping[Key, object], margin: float | None
) -> dict[Any, float] | None:
    """Return the margin of each cell whose headroom is known: it is a share of it."""
    if margin is None:
        return None
    return {key: margin for key in data if cells.levels(key).headroom > 0}
