"""Comparisons of one's own: one value of a setting with another, by the same rule.

compare(dataset, {"projection.length": 4}, {"projection.length": 1})
compare_along(dataset, "ppo.discount")
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from freeproj.experiments.dataset import Dataset
from freeproj.findings.answers import Answer
from freeproj.findings.asking import ask
from freeproj.findings.cells import Keep
from freeproj.findings.labels import axis_name, map_title, settings_text, value_text
from freeproj.findings.questions import Contrast, Question, Settings

__all__ = ["compare", "compare_along", "compare_axes", "compare_sources"]

# Runs that differ here are agents of different kinds: they are pooled on demand only.
_KINDS = ("memory", "projection.family", "encoder", "observation")
_TASKS = ("task", "evaluation.task")
_OPPOSITE = {"more": "less than", "less": "more than", "same": "not the same as"}


def compare(
    dataset: Dataset,
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    *,
    on: str = "",
    expects: str = "more",
    margin: float | None = None,
    pool: Collection[str] = (),
) -> Answer:
    """Ask whether runs with the settings `first` earn more than those with `second`.

    All other axes are configurations that are compared by themselves and together.

    Args:
        first: settings of one side; a list allows any of its values.
        on: the test projection; by default `dataset.test_map`.
        margin: for `expects = "same"`; by default 10 % of the headroom.
        pool: kinds of agents that may be pooled, such as `projection.family`.
    """
    if first.keys() != second.keys():
        names = f"{', '.join(first)} and {', '.join(second)}"
        raise ValueError(f"Both sides must name the same settings, got {names}.")
    if tasks := first.keys() & {*_TASKS}:
        raise ValueError(
            f"`{', '.join(tasks)}` cannot be compared: returns of two tasks have no "
            "common scale. Choose a task with where, and compare other settings."
        )
    _check_pool(pool)
    if lacking := [side for side in (first, second) if not len(dataset.where(side))]:
        raise ValueError(f"No run has {dict(lacking[0])}.")
    one, other, on = _side(first), _side(second), on or dataset.test_map
    says = "the same as" if expects == "same" else f"{expects} than"
    told = f"Runs with {one} earn {{}} runs with {other} on {map_title(on)}{{}}."
    opposite = _OPPOSITE.get(expects), ", in at least one comparison or all together"
    needs = f"runs that differ in {' and '.join(first)} only, with the same seeds on"
    how: dict[str, Any] = {"on": on, "expects": expects, "margin": margin}
    how |= {"otherwise": told.format(*opposite), "needs": f"{needs} both sides."}
    contrasts = (_contrast(dataset, first, second, f"{one} minus {other}"),)
    answer = ask(_own(told.format(says, ""), contrasts, **how), dataset)
    for axis in _KINDS:
        found = {f.run.settings.get(axis): None for f in answer.findings if f.run}
        if len(found) > 1 and axis not in (*pool, *first):
            raise ValueError(
                f"This would pool {axis} {', '.join(map(str, found))}: choose one with "
                f"where, or allow it with pool = ({axis!r},)."
            )
    return answer


def compare_along(
    dataset: Dataset, axis: str, reference: Any = None, **how: Any
) -> Answer:
    """Ask whether values of an axis earn more than one: `none`, else the first."""
    values = dataset.values(axis)
    if reference is None:
        reference = "none" if "none" in values else values[0]
    if reference not in values or len(values) < 2:
        known = ", ".join(map(str, values))
        raise ValueError(f"`{axis}` must have {reference!r} and others, got {known}.")
    others = {axis: [value for value in values if value != reference]}
    return compare(dataset, others, {axis: reference}, **how)


def compare_axes(
    dataset: Dataset, *axes: str, on: str = "", pool: Collection[str] = ()
) -> list[Answer]:
    """Compare the values of axes, by default all but tasks, with the first."""
    found = []
    for axis in axes or [each for each in dataset.axes if each not in _TASKS]:
        dataset.values(axis)  # refuses a name that no run has
        for among, group in _apart(dataset, [dataset], {axis, *pool}):
            if len(group.values(axis)) > 1:
                answer = compare_along(group, axis, on=on, pool=pool).noted(among)
                found.append(replace(answer, name=f"{axis}-{len(found)}"))
    return found


def compare_sources(
    sources: Mapping[str, Dataset], on: str = "", pool: Collection[str] = ()
) -> list[Answer]:
    """Compare every source of runs with the first, configuration by configuration.

    Each kind of agents (memory, family, …) has an answer of its own, unless the kind
    varies between the sources only, or is among those to `pool`.
    """
    _check_pool(pool)
    runs = [
        replace(run, settings={**run.settings, "source": name})
        for name, dataset in sources.items()
        for run in dataset.runs
    ]
    axes = tuple(dict.fromkeys(axis for each in sources.values() for axis in each.axes))
    whole = Dataset(tuple(runs))
    on = on or whole.test_map
    first, found = next(iter(sources)), []
    for among, group in _apart(whole, sources.values(), pool):
        there = [name for name in sources if name in group.values("source")]
        if there[0] == first and len(there) > 1:
            found.append(_among_sources(group, there, axes, on).noted(among))
    return found or [_among_sources(whole, [*sources], axes, on)]


def _among_sources(
    dataset: Dataset, names: Sequence[str], axes: tuple[str, ...], on: str
) -> Answer:
    first, *others = names
    contrasts = tuple(
        Contrast(
            what=f"from {first} to {name}",
            first=lambda s, name=name: s["source"] == name,
            second=lambda s: s["source"] == first,
            match=("task", *axes),
        )
        for name in others
    )
    earn = f"{' and '.join(others)} earn{'s' * (len(others) == 1)}"
    needs = "runs of the same task and seeds in all of them."
    statement = f"{earn} more than {first} on {map_title(on)}."
    return ask(_own(statement, contrasts, on=on, needs=needs), dataset)


def _apart(
    dataset: Dataset, sources: Iterable[Dataset], pooled: Collection[str]
) -> Iterator[tuple[str, Dataset]]:
    """Yield the runs of each kind that varies within a source, and its name."""
    found = [[run.settings for run in each.runs] for each in sources]
    varied = [
        kind
        for kind in _KINDS
        if kind not in pooled
        and any(len({settings.get(kind) for settings in each}) > 1 for each in found)
    ]
    for kind, group in dataset.group_by(*varied).items():
        yield settings_text(dict(zip(varied, kind, strict=True))), group


def _check_pool(pool: Collection[str]) -> None:
    if unknown := [each for each in pool if each not in _KINDS]:
        known = f"{', '.join(_KINDS)}; got {unknown[0]!r}"
        raise ValueError(f"`pool` takes kinds of agents: {known}.")


def _own(statement: str, contrasts: tuple[Contrast, ...], **more: Any) -> Question:
    """Return a question about all runs of a dataset."""
    start = "compare", statement, "Your comparison"
    return Question(*start, lambda data: data, contrasts, section="own", **more)


def _contrast(
    dataset: Dataset, first: Mapping[str, Any], second: Mapping[str, Any], what: str
) -> Contrast:
    """Compare along an axis if one differs, otherwise two selections."""
    if len(first) == 1 and not isinstance(next(iter(second.values())), list | set):
        ((axis, value),), (reference,) = first.items(), second.values()
        both = {axis: [*_values(value), reference]}
        sides: dict[str, Any] = {"first": _meets(both), "along": axis}
        return Contrast(what=what, reference=reference, **sides)
    match = ("task", *(a for a in dataset.axes if a not in {*first, "task"}))
    sides = {"first": _meets(first), "second": _meets(second)}
    return Contrast(what=what, match=match, **sides)


def _values(value: Any) -> list[Any]:
    return [*value] if isinstance(value, list | set | tuple) else [value]


def _side(settings: Mapping[str, Any]) -> str:
    """Write settings in a few words: "ℓ = 2, 4, 8"."""
    return " and ".join(
        f"{axis_name(axis)} = {', '.join(value_text(axis, v) for v in _values(value))}"
        for axis, value in settings.items()
    )


def _meets(wanted: Settings) -> Keep:
    allowed = {key: _values(value) for key, value in wanted.items()}.items()
    return lambda settings: all(settings.get(key) in each for key, each in allowed)
