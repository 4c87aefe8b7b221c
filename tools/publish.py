"""Turn folders of runs into the published table of a study.

    python tools/publish.py why-table-1 RUNS [RUNS ...] --command "freeproj sweep …"

A study may be carried out in parts: `published:NAME` stands for what is published of it
already. Runs that are not in the study's file are left out. Writes
`src/freeproj/published/NAME.npz`: of every finished run the settings and its
evaluations, twenty points of the curve at most, rounded to five digits. Everything else
stays in the folders.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

from freeproj import __version__
from freeproj.experiments.dataset import Dataset, read_dataset
from freeproj.experiments.records import RunRecord
from freeproj.experiments.settings import config_from, flat, run_name
from freeproj.experiments.store import save_records
from freeproj.experiments.study import read_study, stated_before
from freeproj.learning.config import TrainConfig

PUBLISHED = Path(__file__).parents[1] / "src" / "freeproj" / "published"
MAX_POINTS = 20
# Arms may have numbers of seeds of their own.
ARMS = ("task", "memory", "encoder", "redraw_every", "observation")


def main() -> None:
    """Read the arguments and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--command", required=True, help="what made the runs")
    chosen = parser.parse_args()
    dataset = read_dataset(*chosen.runs)
    planned = {run_name(config) for config in read_study(chosen.study).runs()}
    finished = [
        run
        for run in dataset.runs
        if run.health == "finished" and name_today(run) in planned
    ]
    left_out = sum(run.health != "finished" for run in dataset.runs)
    records = {run.name: compact(run) for run in balanced(finished)}
    hours = sum(run.seconds for run in finished if np.isfinite(run.seconds)) / 3600
    before = [read_dataset(n).meta for n in chosen.runs if n.startswith("published:")]
    new = any(run.folder for run in finished)
    known = [each for meta in before for each in meta["version"].split(" and ")]
    versions = sorted({*known, *[__version__] * new})
    today = datetime.date.today().isoformat()
    path = PUBLISHED / f"{chosen.study}.npz"
    meta = {
        "command": chosen.command,
        "version": " and ".join(versions),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "cpu_hours": round(hours, 2),
        "date": today if new else before[-1]["date"],
        "left_out": left_out + len(dataset.set_aside),
        # As stated for these runs: the study's file may change before the next ones.
        "stated": stated_before(chosen.study),
    }
    save_records(path, records, meta, compressed=True)
    print(f"{path}: {len(records)} runs, {path.stat().st_size / 1024:.0f} kB; {meta}")


def name_today(run: RunRecord) -> str:
    """Return the name of the run's folder; runs of 0.1 and 0.2 had other hashes."""
    settings = settings_today(run)
    settings.pop("projection.n_words", None)
    # Flash cards had no name of their own in 0.2.
    tasks = settings["task"].replace("freeproj.envs.flash_cards:", "").split("+")
    settings["task"] = tasks[0] if len(tasks) == 1 else tasks
    return run_name(config_from({}, settings))


def settings_today(run: RunRecord) -> dict[str, Any]:
    """Return all settings of today: older runs lack those that came after them."""
    defaults = flat(TrainConfig())
    n_words = {"projection.n_words": run.settings["projection.n_words"]}
    return {key: run.settings.get(key, defaults[key]) for key in defaults} | n_words


def balanced(runs: list[RunRecord]) -> list[RunRecord]:
    """Keep, within each arm of a task, the seeds that every one of its cells has."""
    dataset, kept = Dataset(tuple(runs)), []
    known = {key for run in runs for key in run.settings}
    for group in dataset.group_by(*(arm for arm in ARMS if arm in known)).values():
        cells = group.group_by(*group.axes).values()
        shared = set.intersection(*({run.seed for run in cell.runs} for cell in cells))
        kept += [run for run in group.runs if run.seed in shared]
    return kept


def compact(run: RunRecord) -> RunRecord:
    """Keep the evaluations of a run, rounded; drop losses and the paper's window."""
    tested = next(
        c for n, c in run.metrics.items() if n.endswith("/n_finished") and "test/" in n
    )
    rows = np.flatnonzero(~np.isnan(tested))[-MAX_POINTS:]
    metrics = {
        name: _kept(name, column, rows)
        for name, column in run.metrics.items()
        if name == "steps" or name.startswith(("train/", "test/"))
        if "_std" not in name and "n_unfinished" not in name
    }
    return dataclasses.replace(
        run,
        updates=run.updates[rows],
        settings=settings_today(run),
        metrics=metrics,
        folder=None,
        meta={},
    )


def _kept(name: str, column: np.ndarray, rows: np.ndarray) -> np.ndarray:
    values = _at(column, rows, smooth=name.startswith("train/"))
    return values if name == "steps" else _rounded(values)  # counts stay whole


def _at(column: np.ndarray, rows: np.ndarray, smooth: bool) -> np.ndarray:
    """Take rows; training returns are averaged since the row before."""
    if not smooth:
        return column[rows]
    starts = [0, *(rows[:-1] + 1)]
    parts = [column[a : b + 1] for a, b in zip(starts, rows, strict=True)]
    return np.array(
        [np.nanmean(part) if np.isfinite(part).any() else np.nan for part in parts]
    )


def _rounded(values: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = 4 - np.floor(np.log10(np.abs(values)))
    digits = np.where(np.isfinite(digits), digits, 0)
    return np.round(values * 10.0**digits) / 10.0**digits


if __name__ == "__main__":
    main()
