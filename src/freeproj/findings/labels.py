"""Names for people: tasks, methods, test maps, settings and their values.

RP and FRP are the paper's: one random matrix per word (ℓ = 1), or products of ℓ > 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from freeproj.findings.numbers import PAPER_TASKS

__all__ = [
    "GLOSSARY",
    "axis_name",
    "map_title",
    "method",
    "ordered_tasks",
    "run_counts",
    "seeds_text",
    "settings_text",
    "task_title",
    "value_text",
]

_AXES = {
    "projection.length": "ℓ",
    "projection.n_words": "words",
    "projection.n_generators": "n",
    "projection.dim": "d",
    "projection.family": "matrices",
    "redraw_every": "bases",
    "ppo.discount": "discount",
    "n_updates": "updates",
    "n_trials": "trials",
    "previous_reward": "sees reward",
    "evaluation.maps": "tested on",
    "observation": "observation",
}
_VALUES = {
    ("projection.family", "haar"): "true Haar",
    ("projection.family", "qr"): "raw QR",
    ("projection.family", "iid_haar"): "independent Haar",
    ("redraw_every", "0"): "fixed",
    ("redraw_every", "1"): "fresh",
    ("previous_reward", "True"): "yes",
    ("previous_reward", "False"): "no",
}
_MEMORIES = {"gru": "GRU", "s5": "S5", "lstm": "LSTM", "mingru": "minGRU"}
_MAPS = {
    "tile": "tile",
    "tile_unit": "tile",
    "tile_literal": "tile (as printed)",
    "minus_tile": "minus tile",
    "random": "random maps",
    "zero": "blanked",
    "pad": "plain",
}

# Words that a reader may not know, for hovering on the page.
GLOSSARY: Mapping[str, str] = {
    "RP": "random projection: one random orthogonal matrix per word (ℓ = 1)",
    "FRP": "free random projection: a word is a product of ℓ > 1 random matrices",
    "MMER": "maximum over updates of the mean episode return, the paper's score",
    "headroom": "best known player who sees the task, minus best blind policy",
    "blind": "never looking at the observation",
    "blanked": "tested with the observation replaced by zeros",
    "held-out": "not met in training",
    "chance": "mean return of the uniform random policy",
    "ceiling": "the best mean return possible",
    "tile": "the fixed test map of the paper: the observation repeated",
    "minus tile": "the same fixed map with opposite sign",
    "raw QR": "orthogonal matrices by QR without the sign correction: not Haar",
    "true Haar": "uniformly distributed orthogonal matrices",
    "independent Haar": "a Haar matrix for each word, drawn on its own: no products",
    "fresh": "base matrices are redrawn for every rollout",
    "fixed": "base matrices are drawn once and kept for the whole run",
    "seeds": "independent repetitions, the unit of every interval",
}


def axis_name(axis: str) -> str:
    """Return a short name for a dotted setting: `projection.length` is ℓ."""
    return _AXES.get(axis, axis.rsplit(".", 1)[-1].replace("_", " "))


def value_text(axis: str, value: Any) -> str:
    """Return a setting's value for a column: family `qr` is "raw QR"."""
    if axis == "task":
        return task_title(str(value))
    if axis == "memory":
        name = str(value).rsplit(":", 1)[-1]
        return _MEMORIES.get(name, name)
    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    return _VALUES.get((axis, str(value)), str(value))


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return settings in one line: "GRU, raw QR, fresh bases, discount 0.9"."""
    return ", ".join(_phrase(axis, value) for axis, value in settings.items())


def task_title(task: str) -> str:
    """Break a task's name for people: RepeatFirst is "Repeat First"."""
    task = "+".join(part.rsplit(":", 1)[-1] for part in task.split("+"))
    spaced = "".join(f" {c}" if c.isupper() and i else c for i, c in enumerate(task))
    return spaced.replace("+ ", "+").replace("Cart Pole", "CartPole")


def map_title(name: str) -> str:
    """Return a test map's name for people: `zero` is "blanked"."""
    return _MAPS.get(name, name.rsplit(":", 1)[-1].replace("_", " "))


def method(length: int) -> str:
    """Return RP for ℓ = 1 and FRP for longer words."""
    return "RP" if length == 1 else "FRP"


def ordered_tasks(tasks: Iterable[str]) -> list[str]:
    """Return the tasks once each, in the paper's order, then the others by name."""
    found = set(tasks)
    first = [task for task in PAPER_TASKS if task in found]
    return first + sorted(found.difference(PAPER_TASKS))


def seeds_text(counts: Iterable[int]) -> str:
    """Say how many seeds stand behind numbers: "1 seed", "3 seeds", "2–3 seeds"."""
    counts = list(counts) or [0]
    low, high = int(min(counts)), int(max(counts))
    number = str(low) if low == high else f"{low}–{high}"
    return f"{number} seed" + "s" * (high != 1)


def run_counts(dataset: Any) -> str:
    """Count a dataset's runs, and name those that are not finished."""
    counts = dataset.health_counts()
    total = sum(counts.values())
    said = ", ".join(f"{n} {health}" for health, n in counts.items() if n)
    text = f"{total} run{'s' * (total != 1)}: {said}."
    if dataset.set_aside:
        shown = [
            f"{each.health} {each.path} ({each.reason})"
            for each in dataset.set_aside[:3]
        ]
        more = len(dataset.set_aside) - len(shown)
        shown += [f"{more} more"] if more else []
        text += f" Set aside: {'; '.join(shown)}."
    return text


def _phrase(axis: str, value: Any) -> str:
    text = value_text(axis, value)
    if axis in ("task", "memory", "projection.family"):
        return text
    if axis == "redraw_every":
        return f"{text} bases" if text in ("fresh", "fixed") else f"redraw {text}"
    if axis == "projection.length":
        return f"ℓ = {text}"
    if axis == "projection.n_words":
        return f"{text} words"
    return f"{axis_name(axis)} {text}"
