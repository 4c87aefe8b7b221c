"""Names for people: tasks, methods, test maps, settings and their values.

RP and FRP are the paper's: one random matrix per word (ℓ = 1), or products of ℓ > 1.
"""

import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from freeproj.findings.numbers import PAPER_TASKS

__all__ = ["GLOSSARY", "axis_name", "duration", "map_title", "method", "number_text"]
__all__ += ["ordered_tasks", "run_counts", "seeds_text", "settings_text"]
__all__ += ["short_value", "span_text", "task_title", "value_text"]

_NAMES = tomllib.loads(Path(__file__).with_name("labels.toml").read_text("utf-8"))
GLOSSARY: Mapping[str, str] = _NAMES["glossary"]


def axis_name(axis: str) -> str:
    """Return a short name for a dotted setting: `projection.length` is ℓ."""
    return _NAMES["axes"].get(axis, axis.rsplit(".", 1)[-1].replace("_", " "))


def value_text(axis: str, value: Any) -> str:
    """Return a setting's value for a column: family `qr` is "uncorrected QR"."""
    if axis in ("task", "evaluation.task"):
        return task_title(str(value))
    if axis == "memory":
        name = str(value).rsplit(":", 1)[-1]
        return _NAMES["memories"].get(name, name)
    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    return _NAMES["values"].get(f"{axis} {value}", str(value))


def short_value(axis: str, value: Any) -> str:
    """Return a setting's value for a narrow column, where a note explains it."""
    return value_text(axis, value).replace("uncorrected QR", "QR")


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return settings in one line: "GRU, Haar, redrawn bases, discount 0.9"."""
    phrases, told = _NAMES["phrases"], []
    for axis, value in settings.items():
        form = phrases.get(axis, f"{axis_name(axis)} {{}}")
        form = phrases.get(f"{axis} {value}", form)
        told.append(form.format(value_text(axis, value)))
    return ", ".join(told)


def task_title(task: str) -> str:
    """Break a task's name for people: RepeatFirst is "Repeat First"."""
    task = "+".join(part.rsplit(":", 1)[-1] for part in task.split("+"))
    spaced = "".join(f" {c}" if c.isupper() and i else c for i, c in enumerate(task))
    return spaced.replace("+ ", "+").replace("Cart Pole", "CartPole")


def map_title(name: str) -> str:
    """Return a test map's name for people: `zero` is "blanked"."""
    return _NAMES["maps"].get(name, name.rsplit(":", 1)[-1].replace("_", " "))


def method(length: int) -> str:
    """Return RP for ℓ = 1 and FRP for longer words."""
    return "RP" if length == 1 else "FRP"


def ordered_tasks(tasks: Iterable[str]) -> list[str]:
    """Return the tasks once each, in the paper's order, then the others by name."""
    found = set(tasks)
    first = [task for task in PAPER_TASKS if task in found]
    return first + sorted(found.difference(PAPER_TASKS))


def number_text(value: float, digits: int = 2) -> str:
    """Write a number with some decimals, and no data as a dash."""
    return "–" if math.isnan(value) else f"{value:z.{digits}f}"  # z: no -0.00


def span_text(numbers: Iterable[int]) -> str:
    """Write the smallest and the largest number, or the only one there is."""
    numbers = sorted(numbers)
    return "–".join(dict.fromkeys(map(str, (numbers[0], numbers[-1]))))


def seeds_text(counts: Iterable[int]) -> str:
    """Say how many seeds stand behind numbers: "1 seed", "3 seeds", "2–3 seeds"."""
    counts = list(counts) or [0]
    return f"{span_text(counts)} seed" + "s" * (max(counts) != 1)


def duration(seconds: float) -> str:
    """Write a duration for people: "50 s", "3.4 min", "2.1 h"; unknown is a dash."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return "–" if math.isnan(seconds) else f"{seconds:.{int(seconds < 10)}f} s"


def run_counts(dataset: Any) -> str:
    """Count a dataset's runs, and name those that are not finished."""
    counts = dataset.health_counts()
    total = sum(counts.values())
    said = ", ".join(f"{n} {health}" for health, n in counts.items() if n)
    aside = [f"{e.health} {e.path} ({e.reason})" for e in dataset.set_aside]
    if len(aside) > 3:
        aside[3:] = [f"{len(aside) - 3} more"]
    text = f"{total} run{'s' * (total != 1)}: {said}."
    return f"{text} Set aside: {'; '.join(aside)}." if aside else text
