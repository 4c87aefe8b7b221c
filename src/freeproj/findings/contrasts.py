"""From the runs of a question to differences, seed by seed: what `ask` judges.

All numbers here are returns per trial. Nothing is decided in this module.
"""

import collections
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from freeproj.findings.cells import Cells, Key
from freeproj.findings.labels import axis_name, map_title, settings_text, value_text
from freeproj.findings.questions import Contrast
from freeproj.stats.paired import audit, differences, half_choice

__all__ = ["AUDIT", "Comparison", "comparisons", "uses_observation"]

AUDIT = 0.02  # of the headroom: blanking that changes less does not count


@dataclass(frozen=True)
class Comparison:
    """One difference of a contrast: what it is about, by seed, and whose it is."""

    what: str  # is subtracted from what: the contrast's
    on: str  # the test projection
    key: Key  # the first side's configuration
    gaps: Mapping[int, float]  # return per trial, by seed
    about: str
    agents: tuple[Key, ...] = ()  # all that take part, where agents are compared
    remark: str = ""
    whole: float = math.nan  # the second side, from the floor, if a share is asked


def comparisons(contrast: Contrast, cells: Cells, on: str) -> list[Comparison]:
    """Return the differences of a contrast in every configuration with both sides."""
    first = cells.where(lambda key: contrast.first(cells.runs[key][0].settings))
    sides = _Sides(contrast, cells, first, contrast.on or on)
    if contrast.along:
        found = sides.along()
    else:
        found = sides.between() if contrast.second else map(sides.single, first.runs)
    return [each for each in found if each.gaps]


def uses_observation(cells: Cells, keys: Iterable[Key], on: str = "") -> bool | None:
    """Whether agents earn less or more with their observation blanked; None: unknown.

    The cells' differences are averaged seed by seed. The question is put to all agents
    that are compared together, so the answer does not depend on which of them earns
    more, and leaving out agents that do not use their observation favours none.
    """
    by_seed: dict[int, list[float]] = collections.defaultdict(list)
    headrooms = []
    for key in keys:
        levels = cells.levels(key)
        headrooms.append(levels.headroom / levels.n_trials)
        gaps = differences(cells.scores(key, on), cells.scores(key, "zero"))
        for seed, gap in gaps.items():
            by_seed[seed].append(gap / levels.n_trials)
    means = {seed: sum(each) / len(each) for seed, each in by_seed.items()}
    margin = AUDIT * min((room for room in headrooms if room > 0), default=0.0)
    return audit(means, dict.fromkeys(means, 0.0), margin).uses_observation


@dataclass(frozen=True)
class _Sides:
    """A contrast, all cells, those of its first side, and the test projection."""

    contrast: Contrast
    cells: Cells
    first: Cells
    on: str

    def single(self, key: Key) -> Comparison:
        """Compare a configuration with itself on another projection, or with chance."""
        trained = self.cells.where(lambda each: each == key).mean_return("train")
        known = not math.isnan(trained)
        remark = f"In {map_title('train')}: {trained:z.2f} a trial." * known
        return self._comparison(key, self._earn(key), (), remark=remark)

    def along(self) -> Iterator[Comparison]:
        """Compare the other values of an axis with the reference."""
        contrast, axis = self.contrast, self.contrast.along
        families = self.first.families(axis) if axis in self.cells.axes else {}
        for values in families.values():
            plain = values.get(contrast.reference)
            others = {value: key for value, key in values.items() if key != plain}
            agents = tuple(values.values())
            if plain is None or not others:
                continue
            if contrast.chosen:
                yield from self._chosen(plain, others, agents)
                continue
            for key in others.values():
                gaps = differences(self._earn(key), self._earn(plain))
                yield self._comparison(key, gaps, agents)

    def between(self) -> Iterator[Comparison]:
        """Compare every configuration with its partner on the second side."""
        cells, partners = self.cells, collections.defaultdict(list)
        for key, runs in cells.runs.items():
            if self.contrast.second and self.contrast.second(runs[0].settings):
                partners[self._matched(key)].append(key)
        for key in self.first.runs:
            others = [each for each in partners[self._matched(key)] if each != key]
            if len(others) > 1:
                told = "; ".join(cells.label(other) for other in others[:3])
                raise ValueError(
                    f"{cells.label(key)} has {len(others)} partners ({told}): name the "
                    "settings in which they differ."
                )
            if others:
                yield self._pair(key, others[0])

    def _comparison(
        self, key: Key, gaps: Mapping[int, float], agents: tuple[Key, ...], **more: Any
    ) -> Comparison:
        what, minus = self.contrast.what, self.contrast.minus
        told = self.contrast.on or minus not in ("", "chance", "zero")
        more.setdefault("about", self.cells.label(key) + f", {what}" * bool(told))
        agents = () if minus else agents  # the other projection may be the blanked one
        return Comparison(what, self.on, key, gaps, agents=agents, **more)

    def _earn(self, key: Key) -> dict[int, float]:
        """Return what a configuration earns per trial, minus what it is compared to."""
        levels, scores = self.cells.levels(key), self.cells.scores(key, self.on)
        minus, trials = self.contrast.minus, levels.n_trials
        base = dict.fromkeys(scores, levels.chance if minus == "chance" else 0.0)
        if minus and minus != "chance":
            base = self.cells.scores(key, minus)
        sign = -1 if self.contrast.turned else 1
        gaps = differences(scores, base)
        return {seed: sign * gap / trials for seed, gap in gaps.items()}

    def _chosen(
        self, plain: Key, others: Mapping[Any, Key], agents: tuple[Key, ...]
    ) -> Iterator[Comparison]:
        """Yield what each half's choice earns on the other half, a comparison each."""
        axis = self.contrast.along
        options = {value: self._earn(key) for value, key in others.items()}
        found = half_choice(options, self._earn(plain))
        seeds, rest = list(found.gains), self.cells.label(plain, axis)
        for half, value in enumerate(found.choices):
            chosen = f"{axis_name(axis)} = {value_text(axis, value)}"
            gaps = {seed: found.gains[seed] for seed in seeds[1 - half :: 2]}
            about = f"{rest}, {chosen} chosen on half {half + 1}"
            yield self._comparison(plain, gaps, agents, about=about)

    def _pair(self, key: Key, other: Key) -> Comparison:
        contrast, cells, share = self.contrast, self.cells, self.contrast.share
        levels, floor = cells.levels(key), 0.0
        if share != 1 and not math.isnan(levels.blind):
            floor = levels.blind / levels.n_trials
        whole = {seed: value - floor for seed, value in self._earn(other).items()}
        wanted = {seed: floor + share * each for seed, each in whole.items()}
        gaps = differences(self._earn(key), wanted)
        shared = [each for seed, each in whole.items() if seed in gaps]
        mean = sum(shared) / len(shared) if shared and share != 1 else math.nan
        told = {*self.first.varied(), *contrast.match}
        known = {a: v for a, v in cells.settings(key).items() if a in told}
        about = f"{settings_text(known)}: {contrast.what}"
        return self._comparison(key, gaps, (key, other), about=about, whole=mean)

    def _matched(self, key: Key) -> tuple:
        task, get = self.cells.task(key), self.cells.get
        match = self.contrast.match
        return tuple(task if axis == "task" else get(key, axis) for axis in match)
