"""From the saved numbers of a figure of runs to a chart of the page.

A chart is plain data: choices (`selects`), panels side by side (`columns`), series and
levels, each with the choices it belongs to (`at`). charts.js draws any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from freeproj.findings.labels import method, task_title, value_text
from freeproj.storage.saved import Numbers

__all__ = ["CHARTS", "length_colour"]

_Chart = dict[str, Any]
_PALETTE = ("--l1", "--l8", "--l2", "--l4", "--la", "--lb")
_DASHES = ("", "6 4", "2 3", "8 3 2 3")


def length_colour(length: int) -> str:
    """Return the page's colour of a word length."""
    known = {1: "--l1", 2: "--l2", 4: "--l4", 8: "--l8"}
    return f"var({known.get(length, '--la' if length % 2 else '--lb')})"


def _update_chart(numbers: Numbers) -> _Chart:
    """Return curves over updates, one task and setting at a time."""
    x = {"title": "update", "name": "update"}
    return _curves(numbers, "updates", x, "return of an episode")


def _trial_chart(numbers: Numbers) -> _Chart:
    """Return the return of trial 1, 2, …, one task and setting at a time."""
    x = {"title": "trial", "name": "trial", "whole": True}
    return _curves(numbers, "trials", x, "return of a trial", per_trial=True)


def _split_chart(numbers: Numbers) -> _Chart:
    """Return training beside test, one setting at a time."""
    train = {
        name.removeprefix("train_"): column
        for name, column in numbers.items()
        if name.startswith("train_")
    }
    parts = [("train", "training", train), ("test", "held out", numbers)]
    x = {"title": "update", "name": "update"}
    charts = [
        _curves(part, "updates", x, "return of an episode", {"split": split})
        for split, _, part in parts
    ]
    columns = {"key": "split", "values": [[split, title] for split, title, _ in parts]}
    series = [each for chart in charts for each in chart["series"]]
    return {**charts[1], "series": series, "columns": columns}


def _study_chart(numbers: Numbers) -> _Chart:
    """Return all configurations of a task in one panel."""
    x = {"title": "update", "name": "update"}
    chart = _curves(numbers, "updates", x, "return per trial", per_trial=True)
    for series, line, place in zip(
        chart["series"], numbers["line"], numbers["colour"].tolist(), strict=True
    ):
        series["name"] = str(line)
        series["colour"] = f"var({_PALETTE[place % len(_PALETTE)]})"
        series["dash"] = _DASHES[place // len(_PALETTE) % len(_DASHES)]
    return chart


def _why_chart(numbers: Numbers) -> _Chart:
    """Return returns per trial on the test maps, uncorrected QR beside Haar."""
    lengths = sorted(set(numbers["length"].tolist()))
    spread = np.linspace(-0.26, 0.26, len(lengths)) if len(lengths) > 1 else [0.0]
    place = dict(zip(lengths, spread, strict=True))
    series = [_why_series(numbers, row, place) for row in range(len(numbers["task"]))]
    at = [each["at"] for each in series]
    families = [f for f in ("qr", "haar") if f in set(numbers["family"].tolist())]
    clearest = _clearest(numbers)
    return {
        "x": {"title": "test projection", "labels": numbers["map_titles"].tolist()},
        "y": {"title": "return per trial"},
        "selects": [
            _select("task", "task", at, task_title, clearest["task"]),
            _select("setting", "settings", at, value=clearest["setting"]),
            _select("bases", "bases", at, value=clearest["bases"]),
        ],
        "columns": {
            "key": "family",
            "values": [[f, value_text("projection.family", f)] for f in families],
        },
        "series": series + _paper_series(numbers, place),
        "levels": _levels(numbers, ("task",), True, with_blind=False),
        "height": 340,
    }


def _storage_chart(numbers: Numbers) -> _Chart:
    """Return training and held-out return per trial against the word length."""
    maps = numbers["maps"].tolist()
    test = "random" if "random" in maps else maps[0]
    lengths = sorted(set(numbers["length"].tolist()))
    kinds = (("train", "open", "training"), (test, "points", "held out"))
    series = [
        {
            "at": _at(numbers, row, ("task", "setting")),
            "name": f"{kind}, ℓ = {numbers['length'][row]}",
            "colour": length_colour(int(numbers["length"][row])),
            "mode": mode,
            "x": [lengths.index(int(numbers["length"][row]))],
            **_ends(numbers, row, [maps.index(name)]),
        }
        for name, mode, kind in kinds
        for row in range(len(numbers["task"]))
    ]
    at = [each["at"] for each in series]
    return {
        "x": {"title": "word length ℓ", "labels": [str(each) for each in lengths]},
        "y": {"title": "return per trial"},
        "selects": [
            _select("task", "task", at, task_title, _most(numbers)),
            _select("setting", "settings", at),
        ],
        "columns": None,
        "series": series,
        "levels": _levels(numbers, ("task",), True),
    }


# By figure: its chart from its numbers.
CHARTS: dict[str, Callable[[Numbers], _Chart]] = {
    "study": _study_chart,
    "why-table-1": _why_chart,
    "storage": _storage_chart,
    "length-curves": _update_chart,
    "cartpole-curves": _split_chart,
    "adaptation": _trial_chart,
}


def _curves(
    numbers: Numbers,
    places: str,
    x: dict[str, Any],
    ylabel: str,
    also: dict[str, str] | None = None,
    per_trial: bool = False,
) -> _Chart:
    series, dashes = [], {}
    for row in range(len(numbers["task"])):
        at = _at(numbers, row, ("task", "panel")) | (also or {})
        length, seen = int(numbers["length"][row]), numbers["n_seeds"][row] > 0
        number = dashes.setdefault((*at.values(), length), 0)
        dashes[(*at.values(), length)] += 1
        rp = " (RP)" if method(length) == "RP" else ""
        series.append(
            {
                "at": at,
                "name": f"{numbers['line'][row]}{rp}",
                "colour": length_colour(length),
                "dash": _DASHES[number % len(_DASHES)],
                "x": numbers[places][seen].tolist(),
                **_ends(numbers, row, np.flatnonzero(seen)),
            }
        )
    at = [each["at"] for each in series]
    return {
        "x": x,
        "y": {"title": ylabel},
        "selects": [
            _select("task", "task", at, task_title, _most(numbers)),
            _select("panel", "settings", at),
        ],
        "columns": None,
        "series": series,
        "levels": _levels(numbers, ("task",), per_trial),
    }


def _at(numbers: Numbers, row: int, names: Iterable[str]) -> dict[str, str]:
    return {name: str(numbers[name][row]) for name in names}


def _ends(numbers: Numbers, row: int, columns: Any) -> dict[str, list]:
    ends = {n: numbers[f][row][columns].tolist() for n, f in _FIELDS.items()}
    return {**ends, "n": numbers["n_seeds"][row][columns].tolist()}


_FIELDS = {"y": "mean", "low": "low", "high": "high"}


def _select(
    key: str,
    label: str,
    at: list[dict[str, str]],
    title: Callable[[str], str] = str,
    value: str = "",
) -> dict[str, Any]:
    values = list(dict.fromkeys(each[key] for each in at if key in each))
    return {
        "key": key,
        "label": label,
        "options": [[each, title(each)] for each in values],
        "value": value or (values[0] if values else ""),
    }


def _most(numbers: Numbers) -> str:
    """Return the task with returns farthest from chance, on the task's own scale."""

    def reach(task: str) -> float:
        rows = np.flatnonzero(numbers["task"] == task)
        room = (numbers["ceiling"] - numbers["chance"])[rows, None]
        mean = numbers["mean"][rows]
        per_trial = 1 if "updates" in numbers else numbers["n_trials"][rows, None]
        gaps = np.abs(mean * per_trial - numbers["chance"][rows, None])
        scaled = gaps / np.where(room > 0, room, np.inf)
        return float(np.nanmax(scaled, initial=0.0))

    tasks = list(dict.fromkeys(numbers["task"].tolist()))
    return max(tasks, key=reach)


def _clearest(numbers: Numbers) -> dict[str, str]:
    """Return the cell whose intervals on a map and its negative lie farthest apart."""
    low, high = numbers["low"][:, :2], numbers["high"][:, :2]
    apart = np.fmax(low[:, 1] - high[:, 0], low[:, 0] - high[:, 1])
    room = (numbers["ceiling"] - numbers["chance"]) / numbers["n_trials"]
    share = np.where(room > 0, apart / room, -np.inf)
    row = int(np.argmax(np.nan_to_num(share, nan=-np.inf)))
    return _at(numbers, row, ("task", "setting", "bases"))


def _why_series(numbers: Numbers, row: int, place: dict[int, float]) -> dict[str, Any]:
    length = int(numbers["length"][row])
    columns = np.arange(len(numbers["maps"]))
    return {
        "at": _at(numbers, row, ("task", "setting", "bases", "family")),
        "name": f"ℓ = {length}" + " (RP)" * (length == 1),
        "colour": length_colour(length),
        "mode": "points",
        "x": (columns + place[length]).tolist(),
        **_ends(numbers, row, columns),
    }


def _paper_series(numbers: Numbers, place: dict[int, float]) -> list[dict[str, Any]]:
    """Return the paper's raw returns, on tile, for each setting's memory."""
    settings = list(dict.fromkeys(numbers["setting"].tolist()))
    found = []
    for row, task in enumerate(numbers["paper_task"].tolist()):
        memory, length = numbers["paper_memory"][row], int(numbers["paper_length"][row])
        found += [
            {
                "at": {"task": task, "setting": setting, "family": "qr"},
                "name": f"the paper's {method(length)}",
                "colour": length_colour(length),
                "mode": "diamond",
                "x": [place.get(length, 0.0) + 0.07],
                "y": [float(numbers["paper_mean"][row])],
            }
            for setting in settings
            if setting.split(",")[0].lower() == memory
        ]
    return found


def _levels(
    numbers: Numbers, names: Iterable[str], per_trial: bool, with_blind: bool = True
) -> list[dict[str, Any]]:
    """Return the lines of chance and of the best open-loop policy, once per task."""
    found: dict[tuple, dict[str, Any]] = {}
    for row in range(len(numbers["task"])):
        at = _at(numbers, row, names)
        share = int(numbers["n_trials"][row]) if per_trial else 1
        chance, blind = (float(numbers[n][row]) / share for n in ("chance", "blind"))
        lines = [("chance", chance, "2 4")]
        if with_blind and blind > chance:
            lines.append(("best open-loop policy", blind, "8 4 2 4"))
        for label, y, dash in lines:
            if not np.isnan(y):
                line = {"at": at, "label": label, "y": y, "dash": dash}
                found.setdefault((*at.values(), label), line)
    return list(found.values())
