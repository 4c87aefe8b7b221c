"""From the runs of a question to differences, seed by seed: what `ask` judges.

All numbers here are returns per trial. Nothing is decided in this module.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from freeproj.experiments.dataset import RunRecord
from freeproj.findings.baselines import Levels
from freeproj.findings.cells import Cells, Key
from freeproj.findings.labels import axis_name, map_title, settings_text, value_text
from freeproj.findings.questions import Contrast
from freeproj.stats import Audit, audit, differences, half_choice

__all__ = ["AUDIT", "Comparison", "comparisons", "uses_observation"]

AUDIT = 0.02  # of the headroom: blanking that changes less does not count

_Gaps = dict[int, float]


@dataclass(frozen=True)
class Comparison:
    """One difference of a contrast: what it is about, by seed, and whose it is."""

    about: str
    gaps: Mapping[int, float]  # return per trial, by seed
    levels: Levels
    run: RunRecord  # the first of the first side's configuration
    task: str
    agents: tuple[Key, ...] = ()  # all that take part, where agents are compared
    remark: str = ""
    on: str = ""  # the test projection
    what: str = ""  # the contrast
    whole: float = (
        math.nan
    )  # of which a share is asked: the second side, from the floor


def comparisons(contrast: Contrast, cells: Cells, on: str) -> list[Comparison]:
    """Return the differences of a contrast in every configuration that has both sides.

    Args:
        on: the question's test projection; the contrast may name another.
    """
    first = cells.where(lambda key: contrast.first(cells.runs[key][0].settings))
    measure = _measure(contrast, cells, contrast.on or on)
    if contrast.along:
        found = _along(contrast, first, measure)
    elif contrast.second is not None:
        second = cells.where(lambda key: contrast.second(cells.runs[key][0].settings))  # type: ignore[misc]
        found = _between(contrast, first, second, measure)
    else:
        found = (_single(contrast, first, key, measure) for key in first.runs)
    said = {"on": contrast.on or on, "what": contrast.what}
    return [replace(each, **said) for each in found if each.gaps]


def uses_observation(cells: Cells, keys: Iterable[Key], on: str = "") -> Audit:
    """Compare returns with those under a blanked observation, over all these cells.

    The cells' differences are averaged seed by seed. The question is put to all agents
    that are compared together, so the answer does not depend on which of them earns
    more, and leaving out agents that do not use their observation favours none.
    """
    by_seed: dict[int, list[float]] = collections.defaultdict(list)
    headrooms = []
    for key in keys:
        seen, blanked = cells.scores(key, on), cells.scores(key, "zero")
        levels = cells.levels(key)
        headrooms.append(levels.headroom / levels.n_trials)
        for seed, gap in differences(seen, blanked).items():
            by_seed[seed].append(gap / levels.n_trials)
    gaps = {seed: sum(each) / len(each) for seed, each in by_seed.items()}
    known = [room for room in headrooms if room > 0]
    margin = AUDIT * min(known) if known else 0.0
    return audit(gaps, dict.fromkeys(gaps, 0.0), margin)


_Measure = Callable[[Key], _Gaps]


def _measure(contrast: Contrast, cells: Cells, on: str) -> _Measure:
    """Return what is measured of one configuration: returns, or what they exceed."""

    def of_cell(key: Key) -> _Gaps:
        levels, scores = cells.levels(key), cells.scores(key, on)
        if contrast.minus == "chance":
            gaps = {seed: value - levels.chance for seed, value in scores.items()}
        elif contrast.minus:
            gaps = differences(scores, cells.scores(key, contrast.minus))
        else:
            gaps = scores
        sign = -1 if contrast.turned else 1
        return {
            seed: sign * gap / levels.n_trials
            for seed, gap in gaps.items()
            if not math.isnan(gap)
        }

    return of_cell


def _single(
    contrast: Contrast, cells: Cells, key: Key, measure: _Measure
) -> Comparison:
    about = cells.label(key)
    if contrast.on or contrast.minus not in ("chance", "zero"):
        about += f", {contrast.what}"
    return Comparison(
        about,
        measure(key),
        cells.levels(key),
        cells.runs[key][0],
        cells.task(key),
        remark=_training(cells, key),
    )


def _along(contrast: Contrast, cells: Cells, measure: _Measure) -> Iterator[Comparison]:
    axis = contrast.along
    if axis not in cells.axes:
        return
    for values in cells.families(axis).values():
        plain = values.get(contrast.reference)
        others = {value: key for value, key in values.items() if key != plain}
        if plain is None or not others:
            continue
        agents = () if contrast.minus else tuple(values.values())
        if contrast.chosen:
            yield from _chosen(contrast, cells, plain, others, measure)
            continue
        for key in others.values():
            about = cells.label(key)
            if contrast.minus or contrast.on:
                about += f", {contrast.what}"
            gaps = differences(measure(key), measure(plain))
            run, task = cells.runs[key][0], cells.task(key)
            yield Comparison(about, gaps, cells.levels(key), run, task, agents)


def _chosen(
    contrast: Contrast,
    cells: Cells,
    plain: Key,
    others: Mapping[Any, Key],
    measure: _Measure,
) -> Iterator[Comparison]:
    """Yield what each half's choice earns on the other half, a comparison each."""
    options = {value: measure(key) for value, key in others.items()}
    found, axis = half_choice(options, measure(plain)), contrast.along
    seeds = list(found.gains)
    for half, value in enumerate(found.choices):
        if value is None:
            continue
        tested = seeds[1 - half :: 2]
        yield Comparison(
            f"{cells.label(plain, axis)}, {axis_name(axis)} = "
            f"{value_text(axis, value)} chosen on half {half + 1}",
            {seed: found.gains[seed] for seed in tested},
            cells.levels(plain),
            cells.runs[plain][0],
            cells.task(plain),
            (plain, *others.values()),
        )


def _between(
    contrast: Contrast, first: Cells, second: Cells, measure: _Measure
) -> Iterator[Comparison]:
    partners: dict[tuple, list[Key]] = collections.defaultdict(list)
    for key in second.runs:
        partners[_matched(second, key, contrast.match)].append(key)
    for key in first.runs:
        same = partners.get(_matched(first, key, contrast.match), [])
        others = [other for other in same if other != key]
        if len(others) > 1:
            told = "; ".join(second.label(other) for other in others[:3])
            raise ValueError(
                f"{first.label(key)} has {len(others)} partners ({told}): name the "
                "settings in which they differ."
            )
        if others:
            yield _pair(contrast, first, key, second, others[0], measure)


def _pair(
    contrast: Contrast,
    first: Cells,
    key: Key,
    second: Cells,
    other: Key,
    measure: _Measure,
) -> Comparison:
    levels = first.levels(key)
    floor = 0.0 if math.isnan(levels.blind) else levels.blind / levels.n_trials
    floor = floor if contrast.share != 1 else 0.0
    whole = {seed: value - floor for seed, value in measure(other).items()}
    wanted = {seed: floor + contrast.share * each for seed, each in whole.items()}
    gaps = differences(measure(key), wanted)
    shared = [each for seed, each in whole.items() if seed in gaps]
    varied = [
        axis
        for place, axis in enumerate(first.axes)
        if axis in contrast.match or len({each[place] for each in first.runs}) > 1
    ]
    known = {axis: first.settings(key)[axis] for axis in varied}
    agents = () if contrast.minus else (key, other)
    return Comparison(
        f"{settings_text(known)}: {contrast.what}",
        gaps,
        levels,
        first.runs[key][0],
        first.task(key),
        agents,
        whole=sum(shared) / len(shared) if shared and contrast.share != 1 else math.nan,
    )


def _matched(cells: Cells, key: Key, match: tuple[str, ...]) -> tuple:
    return tuple(
        cells.task(key) if axis == "task" else cells.get(key, axis) for axis in match
    )


def _training(cells: Cells, key: Key) -> str:
    """Give what agents earn in training, beside what they earn in the test."""
    found = [v for v in cells.scores(key, "train").values() if not math.isnan(v)]
    if not found:
        return ""
    mean = sum(found) / len(found) / cells.levels(key).n_trials
    return f"In {map_title('train')}: {round(mean, 2) + 0.0:.2f} a trial."
