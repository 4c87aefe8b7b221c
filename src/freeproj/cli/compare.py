"""`freeproj compare`: runs, or folders of runs, side by side."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from freeproj.cli.output import echo
from freeproj.cli.plotting import plot

if TYPE_CHECKING:
    from freeproj.experiments.dataset import Dataset

__all__ = ["compare"]

_POINTS = 40  # of a plotted curve


class _Side(NamedTuple):
    """The runs of one cell of one source: repetitions of the same settings."""

    label: str
    runs: Dataset
    scores: dict[int, float]  # by seed; only where there is a number


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="A B...")
@click.option(
    "--metric",
    default="",
    help="Column of the logs to compare. Default: the test return.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(sources: tuple[str, ...], metric: str, as_json: bool) -> None:
    """Compare A, B, …: each a run, or a folder with one run per seed.

    All are compared with the first. A run's score is the mean of its last three
    evaluations. Differences are between runs of the same seed; an interval needs at
    least three such pairs.
    """
    from freeproj.experiments.dataset import read_dataset

    found = {source: read_dataset(source) for source in sources}
    for source, dataset in found.items():
        for path, health, reason in dataset.set_aside:
            echo(f"Left out as {health}: {path}: {reason}", err=True)
        if not len(dataset):
            raise ValueError(f"{source}: no runs that can be read.")
    metric = metric or _usual_metric(next(iter(found.values())))
    sides = [side for item in found.items() for side in _sides(*item, metric)]
    if len(sides) < 2:
        raise ValueError(
            "All these runs have the same settings; name others to compare them with."
        )
    rows = [_row(side) for side in sides]
    pairs = [_difference(sides[0], side) for side in sides[1:]]
    if as_json:
        result = {"metric": metric, "rows": rows, "differences": pairs}
        echo(json.dumps(result, indent=2))
        return
    echo(f"{metric}, mean of the last three evaluations of each run\n")
    echo(_table(rows))
    echo()
    for pair in pairs:
        echo(_sentence(pair))
    echo()
    echo(_curves(sides, metric))


def _usual_metric(dataset: Dataset) -> str:
    maps = dataset.runs[0].settings.get("evaluation.maps") or ("tile",)
    return f"test/{maps[0]}/episodes/episode_return"


def _sides(source: str, dataset: Dataset, metric: str) -> list[_Side]:
    name = Path(source).name or source
    sides = []
    for cell, group in dataset.group_by(*dataset.axes).items():
        pairs = zip(dataset.axes, cell, strict=True)
        which = ", ".join(f"{axis.rpartition('.')[2]}={value}" for axis, value in pairs)
        scores = group.scores(metric, "last3")
        known = {
            seed: float(value)
            for seed, value in zip(scores.seeds, scores.values, strict=True)
            if math.isfinite(value)
        }
        sides.append(_Side(f"{name}: {which}" if which else name, group, known))
    return sides


def _row(side: _Side) -> dict[str, Any]:
    from freeproj.stats import interval

    values = list(side.scores.values())
    ends = interval(values) if values else None
    return {
        "runs": side.label,
        "mean": sum(values) / len(values) if values else None,
        "interval": None if ends is None else [ends.low, ends.high],
        "seeds": len(values),
        "without": len(side.runs) - len(values),
    }


def _difference(first: _Side, other: _Side) -> dict[str, Any]:
    from freeproj.stats import paired

    found = paired(other.scores, first.scores)
    ends = found.interval
    return {
        "first": other.label,
        "second": first.label,
        "mean": found.mean if found.n else None,
        "interval": None if ends is None else [ends.low, ends.high],
        "p": found.p if found.n else None,
        "pairs": found.n,
    }


def _table(rows: Sequence[dict[str, Any]]) -> str:
    head = ("runs", "mean", "95 % interval", "seeds")
    cells = [
        (
            row["runs"] if len(row["runs"]) <= 40 else f"{row['runs'][:39]}…",
            "–" if row["mean"] is None else f"{row['mean']:.3f}",
            _ends(row["interval"]),
            f"{row['seeds']}"
            + (f" ({row['without']} untested)" if row["without"] else ""),
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()
        for line in (head, *cells)
    )


def _ends(ends: Sequence[float] | None) -> str:
    return "–" if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}"


def _sentence(pair: dict[str, Any]) -> str:
    what = f"{pair['first']} minus {pair['second']}"
    if not pair["pairs"]:
        return f"{what}: – (they have no seed in common)"
    if pair["interval"] is None:
        few = "1 pair" if pair["pairs"] == 1 else f"{pair['pairs']} pairs"
        return f"{what}: {pair['mean']:+.3f} ({few} of seeds, too few for an interval)"
    return (
        f"{what}: {pair['mean']:+.3f}, 95 % interval {_ends(pair['interval'])}, "
        f"{pair['pairs']} pairs of seeds, sign-flip p = {pair['p']:.2g}"
    )


def _curves(sides: Sequence[_Side], metric: str) -> str:
    """Draw the means over seeds against updates."""
    import numpy as np

    last = max(int(run.updates.max(initial=1)) for s in sides for run in s.runs.runs)
    grid = np.linspace(1, last, _POINTS)
    series = {}
    for side in sides[:6]:
        lines = []
        for run in side.runs.runs:
            values = np.asarray(
                run.metrics.get(metric, np.full(len(run.updates), np.nan))
            )
            known = np.isfinite(values)
            if known.any():
                at, shown = run.updates[known], values[known]
                inside = (grid >= at[0]) & (grid <= at[-1])
                lines.append(np.where(inside, np.interp(grid, at, shown), np.nan))
        mean = np.mean(lines, axis=0) if lines else np.full(_POINTS, np.nan)
        series[side.label] = mean.tolist()
    return plot(series, x_name="updates", x_ends=("1", str(last)))
