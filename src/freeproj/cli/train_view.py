"""The summary at the end of a training run."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import Any

from freeproj.findings.baselines import episode_levels
from freeproj.learning.config import TrainConfig

__all__ = ["summary", "summary_text"]


def summary(config: TrainConfig, folder: Path, row: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a finished run, with the returns to compare them with."""
    held_out = config.evaluation.task
    levels = {t: _levels(t, config) for t in ([held_out] if held_out else config.tasks)}
    return {
        "folder": str(folder),
        "updates": row["update"],
        "steps": row["steps"],
        "train": _or_none(row.get("train/episode_return", math.nan)),
        "test": {
            name: {
                "return": _or_none(row.get(f"{_of(name)}", math.nan)),
                "std": _or_none(row.get(f"{_of(name)}_std", math.nan)),
                "episodes": row.get(f"test/{name}/episodes/n_finished"),
            }
            for name in config.test_maps
        },
        "compare": levels,
    }


def summary_text(config: TrainConfig, found: dict[str, Any]) -> str:
    """Write the summary of a run for people, with the next two commands."""
    lines = []
    tested = {k: v for k, v in found["test"].items() if v["return"] is not None}
    if not tested:
        lines.append(f"test      – ({_why_missing(config)})")
    for name, test in tested.items():
        what = "observation blanked" if name == "zero" else f"map {name}"
        error = (test["std"] or 0.0) / math.sqrt(max(test["episodes"] or 1, 1))
        lines.append(
            f"test      {test['return']:.2f} ± {error:.2f} ({what}, "
            f"{test['episodes']} episodes, ± standard error)"
        )
    for task, level in found["compare"].items():
        if level is None:
            lines.append(f"compare   {task}: chance and best return are not known")
        else:
            numbers = ", ".join(f"{name} {value:.2f}" for name, value in level.items())
            lines.append(f"compare   {task}: {numbers}")
    folder = shlex.quote(found["folder"])
    lines.append(f"next      freeproj watch {folder}")
    lines.append(f"          freeproj evaluate {folder} --map random")
    return "\n".join(lines)


def _of(name: str) -> str:
    return f"test/{name}/episodes/episode_return"


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _why_missing(config: TrainConfig) -> str:
    if not config.evaluation.every:
        return "evaluation.every is 0, nothing was tested"
    if not config.evaluation.episodes:
        return "evaluation.episodes is off, only the window was counted"
    return "no episode ended"


def _levels(task: str, config: TrainConfig) -> dict[str, float] | None:
    fresh = config.trials != "same_start"
    known = episode_levels(task, config.n_trials, fresh)
    if math.isnan(known.chance):
        return None
    return {"chance": known.chance, "best blind": known.blind, "best": known.ceiling}
