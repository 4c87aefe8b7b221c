"""Other people's dashboards: TensorBoard files and Weights & Biases."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

__all__ = ["Tracker", "open_trackers"]


@runtime_checkable
class Tracker(Protocol):
    """Whatever takes the rows of a log."""

    def log(self, row: dict[str, Any]) -> None:
        """Takes one update."""

    def close(self) -> None:
        """Ends; nothing may be lost."""


def open_trackers(folder: Path, tensorboard: bool, wandb: bool) -> list[Tracker]:
    """Opens those that were asked for."""
    trackers: list[Tracker] = []
    if tensorboard:
        trackers.append(_TensorBoard(folder / "tensorboard"))
    if wandb:
        trackers.append(_WeightsAndBiases(folder))
    return trackers


class _TensorBoard:
    def __init__(self, folder: Path):
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(str(folder))

    def log(self, row: dict[str, Any]) -> None:
        for name, value in _scalars(row).items():
            self._writer.add_scalar(name, value, row["steps"])
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class _WeightsAndBiases:
    def __init__(self, folder: Path):
        import wandb

        self._run = wandb.init(project="freeproj", name=folder.name, dir=str(folder))

    def log(self, row: dict[str, Any]) -> None:
        self._run.log(_scalars(row), step=row["steps"])

    def close(self) -> None:
        self._run.finish()


def _scalars(row: dict[str, Any]) -> dict[str, float]:
    """The numbers of a row; what has no data is left out, as a gap in the curve."""
    numbers = {k: v for k, v in row.items() if isinstance(v, int | float)}
    return {k: float(v) for k, v in numbers.items() if not math.isnan(v)}
