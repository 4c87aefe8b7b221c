"""One run as data: its settings, its health and what its log holds, as arrays.

Settings and logs are parsed, never executed: no `module:attribute` is imported here.
Columns of version 0.1, `test/window/...`, get today's names, `test/MAP/window/...`. A
bad run becomes a `SetAside` with its reason.

A finished run has all updates in its log, the last one in `final.json` too, and the
hash of its settings in its folder's name; otherwise it is damaged (`check_whole`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from freeproj.experiments.log import read_lines
from freeproj.storage.files import DAMAGED, read_regular
from freeproj.storage.toml import read_toml

if TYPE_CHECKING:
    from freeproj.learning.config import TrainConfig

__all__ = ["HEALTHS", "RunRecord", "SetAside", "check_whole", "checked", "read_record"]

_Rows = Sequence[Mapping[str, Any]]  # of a log
_NEEDED = ("task", "memory", "projection.length", "n_updates", "n_trials", "seed")
_OLD_TESTS = ("test/window/", "test/episodes/", "test/trial_")  # columns of 0.1
_MAX_FINAL = 2**24  # bytes of final.json, which holds one line of a log
_NAMED_BY_HASH = re.compile(r".*-n\d+-l\d+-s\d+-[0-9a-f]{12}", re.DOTALL)
HEALTHS = ("running", "finished", "diverged", "damaged", "foreign", "duplicate")


@dataclass(frozen=True, eq=False)
class RunRecord:
    """A run that can be read.

    Args:
        settings: by their dotted keys, several tasks joined by +; also
            `projection.n_words`, which follows from the others.
        metrics: the columns of the log, aligned with its `updates`; nan where there is
            no data; two-dimensional for the returns of each trial.
        seconds: from the first to the last update, without pauses; nan if unknown.
        meta: versions that wrote the run, where it says so.
    """

    name: str
    settings: Mapping[str, Any]
    health: str
    updates: Int[np.ndarray, " n"]
    metrics: Mapping[str, Float[np.ndarray, " n"] | Float[np.ndarray, "n k"]]
    folder: Path | None = None
    seconds: float = math.nan
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.settings["seed"]

    def __repr__(self) -> str:
        counts = f"{len(self.updates)} rows of {len(self.metrics)} metrics"
        return f"RunRecord({self.name}: {self.health}, {counts})"


class SetAside(NamedTuple):
    """A run that is counted and named, and left out of all numbers."""

    path: Path
    health: str  # diverged, damaged, foreign or duplicate
    reason: str


def checked(record: RunRecord) -> RunRecord:
    """Check a record of unknown origin; it may have settings of other versions."""
    from freeproj.experiments.settings import typed

    missing = [key for key in _NEEDED if key not in record.settings]
    if missing:
        raise ValueError(f"the setting `{missing[0]}` is missing")
    for key, value in record.settings.items():
        if not re.fullmatch(r"[\w.-]{1,100}", key):
            raise ValueError(f"{key!r} is not the name of a setting")
        several = value if isinstance(value, tuple) else (value,)
        plain = all(isinstance(each, str | int | float) for each in several)
        if not plain and key != "stages":
            raise ValueError(f"`{key}` must be a plain value, got {value!r}")
        typed(key, value)  # refuses a value of another kind
    if not 0 <= record.seed < 2**64:
        raise ValueError(f"`seed` must lie in [0, 2^64), got {record.seed}")
    if record.health not in HEALTHS:
        raise ValueError(f"`health` must be one of {HEALTHS}, got {record.health!r}")
    return record


def read_record(folder: Path) -> RunRecord | SetAside:
    """Read a run's folder; whatever is wrong with it becomes a reason."""
    from freeproj.experiments.settings import flat_settings, unresolved_config

    try:
        table = read_toml(folder / "config.toml")
        settings, config = flat_settings(table), unresolved_config(table)
    except DAMAGED as error:
        return SetAside(folder, "foreign", _one_line(error))
    meta = table.get("written_by", {})
    meta = meta if isinstance(meta, dict) else {}
    try:
        rows = read_lines(folder / "log.jsonl")
        metrics = _columns(rows, settings["evaluation.maps"][0])
        if reason := _divergence(folder, rows, metrics):
            return SetAside(folder, "diverged", reason)
        check_whole(folder, config, rows, meta.get("schema"))
        seconds = _seconds(folder / "timing.jsonl")
    except DAMAGED as error:
        return SetAside(folder, "damaged", _one_line(error))
    health = "finished" if (folder / "final.json").exists() else "running"
    numbers = np.arange(1, len(rows) + 1), metrics
    return RunRecord(folder.name, settings, health, *numbers, folder, seconds, meta)


def check_whole(
    folder: Path, config: TrainConfig, rows: _Rows, schema: int | None = None
) -> None:
    """Refuse a run whose name, settings, log and final record contradict each other."""
    from freeproj.experiments.settings import SCHEMA, old_name, run_name

    updates = [row.get("update") for row in rows]
    # True equals 1, so the types count as well.
    if updates != list(range(1, len(rows) + 1)) or {*map(type, updates)} - {int}:
        raise ValueError("log.jsonl does not hold the updates 1, 2, … one by one")
    if not (folder / "final.json").exists():
        return
    if len(rows) != config.n_updates:
        found = f"{len(rows)} of {config.n_updates} updates"
        raise ValueError(f"it is marked as finished, but log.jsonl holds {found}")
    if json.loads(read_regular(folder / "final.json", _MAX_FINAL)) != rows[-1]:
        raise ValueError("final.json is not the last line of log.jsonl")
    # The names of other schemas are not known; a folder may have a name of its own.
    known = schema in (None, 1, SCHEMA) and _NAMED_BY_HASH.fullmatch(folder.name)
    if known and folder.name not in (run_name(config), old_name(config)):
        raise ValueError("config.toml holds other settings than the folder's name says")


def _columns(rows: _Rows, old_map: str) -> dict[str, np.ndarray]:
    """Turn rows into arrays; values that are not numbers are left out."""
    names = dict.fromkeys(name for row in rows for name in row if name != "update")
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        if not any(isinstance(value, str | dict | bool) for value in values):
            is_old = name.startswith(_OLD_TESTS)
            today = name.replace("test/", f"test/{old_map}/", 1) if is_old else name
            columns[today] = _column(values, name)
    return columns


def _column(values: list[Any], name: str) -> np.ndarray:
    widths = {len(value) for value in values if isinstance(value, list)}
    if len(widths) > 1:
        raise ValueError(f"log.jsonl has lists of different lengths in {name}")
    if widths:
        empty = [None] * widths.pop()
        values = [value if isinstance(value, list) else empty for value in values]
    column = np.array(values, float)  # None becomes nan
    if column.ndim > 2:
        raise ValueError(f"log.jsonl has lists in lists in {name}")
    return column


def _divergence(folder: Path, rows: _Rows, metrics: Mapping[str, np.ndarray]) -> str:
    """Return what the run's mark says, or where a loss became nan, or ""."""
    mark = folder / "diverged.json"
    if mark.exists():
        try:
            return str(json.loads(read_regular(mark, 2**16))["reason"])
        except DAMAGED:
            return "marked as diverged"
    # Version 0.1 made no mark, and did not stop.
    for name in ("loss/policy", "loss/value", "loss/gradient_norm"):
        bad = np.flatnonzero(np.isnan(metrics.get(name, np.zeros(0))))
        if bad.size:
            return f"{name} is not finite at update {rows[bad[0]].get('update')}"
    return ""


def _seconds(path: Path) -> float:
    """Add up the times between updates; a gap above ten medians is a pause."""
    times = np.array([row["time"] for row in read_lines(path)], float)
    gaps = np.diff(times)
    if not gaps.size:
        return math.nan
    usual = float(np.median(gaps))
    gaps = np.where((gaps < 0) | (gaps > 10 * usual + 60), usual, gaps)
    return float(gaps.sum() + usual)  # the first update has no gap of its own


def _one_line(error: Exception) -> str:
    text = f"no key {error}" if isinstance(error, KeyError) else str(error)
    return (" ".join(text.split()) or type(error).__name__)[:300]
