"""Comparisons of one's own: one value of a setting with another, by the same rule.

    compare(dataset, {"projection.length": 4}, {"projection.length": 1})
    compare_along(dataset, "ppo.discount")

They return the `Answer` of a question that is made up on the spot.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from freeproj.experiments.dataset import Dataset
from freeproj.findings.answers import Answer
from freeproj.findings.asking import ask
from freeproj.findings.labels import axis_name, map_title, settings_text, value_text
from freeproj.findings.questions import Contrast, Question, Settings

__all__ = ["compare", "compare_along", "compare_axes", "compare_sources"]

# Runs that differ here are agents of different kinds: they are pooled on demand only.
_KINDS = ("projection.family", "encoder", "observation")


def compare(
    dataset: Dataset,
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    *,
    on: str = "",
    expects: str = "more",
    margin: float | None = None,
    pool: tuple[str, ...] = (),
) -> Answer:
    """Ask whether runs with the settings `first` earn more than those with `second`.

    All other axes are configurations that are compared by themselves and together.

    Args:
        first: settings of one side; a list allows any of its values.
        on: the test projection; by default `dataset.test_map`.
        expects: `more`, `less` or `same`.
        margin: for `same`; by default 10 % of the headroom.
        pool: kinds of agents that may be pooled, such as `projection.family`.
    """
    if first.keys() != second.keys():
        raise ValueError(
            f"Both sides must name the same settings, got {', '.join(first)} and "
            f"{', '.join(second)}."
        )
    for side in (first, second):
        if not len(dataset.where(side)):
            raise ValueError(f"No run has {dict(side)}.")
    what = f"{_side(first)} minus {_side(second)}"
    if len(first) == 1 and not isinstance(next(iter(second.values())), list | set):
        ((axis, value),), (reference,) = first.items(), second.values()
        values = {*value} if isinstance(value, list | set | tuple) else {value}
        contrast = Contrast(
            what=what,
            first=lambda s: s.get(axis) in {*values, reference},
            along=axis,
            reference=reference,
        )
    else:
        contrast = Contrast(
            what=what,
            first=lambda s: _meets(s, first),
            second=lambda s: _meets(s, second),
            match=("task", *(a for a in dataset.axes if a not in {*first, "task"})),
        )
    return _ask(dataset, contrast, (_side(first), _side(second)), on, expects, margin,
                (*pool, *first))  # fmt: skip


def compare_along(
    dataset: Dataset,
    axis: str,
    reference: Any = None,
    *,
    on: str = "",
    expects: str = "more",
    margin: float | None = None,
    pool: tuple[str, ...] = (),
) -> Answer:
    """Ask whether other values of an axis earn more than one, by default the first."""
    values = dataset.values(axis)
    reference = values[0] if reference is None else reference
    if reference not in values or len(values) < 2:
        known = ", ".join(map(str, values))
        raise ValueError(f"`{axis}` must have {reference!r} and others, got {known}.")
    others = [value for value in values if value != reference]
    sides = (_side({axis: others}), _side({axis: reference}))
    contrast = Contrast(
        what=f"{sides[0]} minus {sides[1]}", along=axis, reference=reference
    )
    return _ask(dataset, contrast, sides, on, expects, margin, (*pool, axis))


def compare_axes(dataset: Dataset, *axes: str, on: str = "") -> list[Answer]:
    """Compare the values of every axis with the first one, kinds of agents apart.

    Args:
        axes: those to compare; all of them by default.
    """
    found = []
    for axis in axes or dataset.axes:
        dataset.values(axis)  # refuses a name that no run has
        kinds = [each for each in _KINDS if each in dataset.axes and each != axis]
        for kind, group in dataset.group_by(*kinds).items():
            if len(group.values(axis)) < 2:
                continue
            among = dict(zip(kinds, kind, strict=True))
            answer = compare_along(group, axis, on=on)
            told = f" ({settings_text(among)})" if among else ""
            found.append(
                replace(
                    answer,
                    name=f"{axis}-{len(found)}",
                    statement=answer.statement[:-1] + f"{told}.",
                    said=answer.said[:-1] + f"{told}." if answer.said else "",
                )
            )
    return found


def compare_sources(
    sources: Mapping[str, Dataset], on: str = "", expects: str = "more"
) -> Answer:
    """Compare every source of runs with the first, configuration by configuration."""
    runs = tuple(
        dataclasses.replace(run, settings={**run.settings, "source": name})
        for name, dataset in sources.items()
        for run in dataset.runs
    )
    (first, *others), whole = sources, Dataset(runs)
    match = (
        "task",
        *dict.fromkeys(axis for each in sources.values() for axis in each.axes),
    )
    contrasts = tuple(
        Contrast(
            what=f"{name} minus {first}",
            first=lambda s, name=name: s["source"] == name,
            second=lambda s: s["source"] == first,
            match=match,
        )
        for name in others
    )
    on = on or whole.test_map
    question = Question(
        "compare",
        f"{' and '.join(others)} earn{'s' * (len(others) == 1)} {expects} than {first} "
        f"on {map_title(on)}.",
        "Your comparison",
        lambda data: data,
        contrasts,
        on=on,
        expects=expects,
        needs="runs of the same task and seeds in all of them.",
        section="own",
    )
    return ask(question, whole)


def _ask(
    dataset: Dataset,
    contrast: Contrast,
    sides: tuple[str, str],
    on: str,
    expects: str,
    margin: float | None,
    pool: tuple[str, ...],
) -> Answer:
    on = on or dataset.test_map
    where = f"on {map_title(on)}"
    says = {"same": "earn the same as"}.get(expects, f"earn {expects} than")
    opposite = {"more": "less", "less": "more", "same": "something else"}[expects]
    question = Question(
        "compare",
        f"Runs with {sides[0]} {says} runs with {sides[1]} {where}.",
        "Your comparison",
        lambda data: data,
        (contrast,),
        on=on,
        expects=expects,
        margin=margin,
        otherwise=f"Runs with {sides[0]} earn {opposite}"
        f"{' than' if expects != 'same' else ''} runs with {sides[1]} {where}, in at "
        "least one comparison or all together.",
        needs=f"runs that differ in {contrast.along or 'these settings'} only, with "
        "the same seeds on both sides.",
        section="own",
    )
    answer = ask(question, dataset)
    for axis in _KINDS:
        found = {f.run.settings.get(axis): None for f in answer.findings if f.run}
        if len(found) > 1 and axis not in pool:
            raise ValueError(
                f"This would pool {axis} {', '.join(map(str, found))}: choose one with "
                f"where, or allow it with pool = ({axis!r},)."
            )
    return answer


def _side(settings: Mapping[str, Any]) -> str:
    """Write settings in a few words: "ℓ = 2, 4, 8"."""
    parts = []
    for axis, value in settings.items():
        values = [*value] if isinstance(value, list | set | tuple) else [value]
        texts = ", ".join(value_text(axis, each) for each in values)
        parts.append(f"{axis_name(axis)} = {texts}")
    return " and ".join(parts)


def _meets(settings: Settings, wanted: Mapping[str, Any]) -> bool:
    return all(
        settings.get(key) in value
        if isinstance(value, list | set)
        else settings.get(key) == value
        for key, value in wanted.items()
    )
