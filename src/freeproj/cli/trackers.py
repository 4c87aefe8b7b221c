"""Other people's dashboards: TensorBoard files and Weights & Biases."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

__all__ = ["Tracker", "open_trackers"]


def open_trackers(
    folder: Path, settings: dict[str, Any], tensorboard: bool, wandb: bool
) -> list[Tracker]:
    """Open the trackers that were asked for; a folder's name is the run's stable id."""
    boards = [_TensorBoard(folder / "tensorboard", settings)] if tensorboard else []
    return [*boards, *([_WeightsAndBiases(folder, settings)] if wandb else [])]


class _TensorBoard:
    def __init__(self, folder: Path, settings: dict[str, Any]):
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(str(folder))
        plain = ((k, v if _is_number(v) else str(v)) for k, v in settings.items())
        self._settings = dict(plain)
        self._last: dict[str, float] = {}

    def log(self, row: dict[str, Any]) -> None:
        numbers = _scalars(row)
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, row["steps"])
        self._last |= numbers
        self._writer.flush()

    def close(self) -> None:
        """Write the settings and the last returns to the tab of hyperparameters."""
        returns = {k: v for k, v in self._last.items() if k.endswith("episode_return")}
        if returns:
            self._writer.add_hparams(self._settings, returns, name=".")
        self._writer.close()


class _WeightsAndBiases:
    """One run of Weights & Biases per run folder; a resumed run continues it."""

    def __init__(self, folder: Path, settings: dict[str, Any]):
        import wandb

        group = {k: v for k, v in settings.items() if k != "seed"}
        text = json.dumps(group, sort_keys=True, default=str)
        self._run = wandb.init(
            project="freeproj",
            name=folder.name,
            id=folder.name,
            resume="allow",
            # Seeds of the same settings stand together.
            group=f"{settings['task']}-{hashlib.sha256(text.encode()).hexdigest()[:8]}",
            config=settings,
            dir=str(folder),
        )

    def log(self, row: dict[str, Any]) -> None:
        self._run.log(_scalars(row), step=row["steps"])

    def close(self) -> None:
        self._run.finish()


Tracker = _TensorBoard | _WeightsAndBiases


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _scalars(row: dict[str, Any]) -> dict[str, float]:
    """Return the numbers of a row; missing data is left out, a gap in the curve."""
    numbers = {k: v for k, v in row.items() if _is_number(v)}
    return {k: float(v) for k, v in numbers.items() if not math.isnan(v)}
