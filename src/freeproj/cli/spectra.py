"""`freeproj spectra DATA`: effective dimension and risk for your own data."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np

    from freeproj.spectra.advice import OwnDataReport

__all__ = ["spectra"]

_SECONDS_BETWEEN_LINES = 3.0


class _SeveralNumbers(click.ParamType):
    """One or more numbers, separated by commas."""

    name = "numbers"

    def __init__(self, kind: type):
        self.kind = kind

    def convert(self, value, param, ctx):
        if not isinstance(value, str):
            return value
        try:
            return tuple(self.kind(part) for part in value.split(",") if part)
        except ValueError:
            what = "whole numbers" if self.kind is int else "numbers"
            self.fail(f"must be {what}, got '{value.replace(',', ' ')}'.", param, ctx)


class _SpreadCommand(click.Command):
    """A command whose `_SeveralNumbers` options take all the numbers that follow."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        several = {
            name
            for param in self.params
            if isinstance(param.type, _SeveralNumbers)
            for name in param.opts
        }
        joined: list[str] = []
        gathering = False  # whether the last argument takes further numbers
        for arg in args:
            if gathering and _is_number(arg):
                first = joined[-1] in several
                joined = (
                    [*joined, arg] if first else [*joined[:-1], f"{joined[-1]},{arg}"]
                )
            else:
                joined.append(arg)
                gathering = arg in several
        return super().parse_args(ctx, joined)


def _is_number(text: str) -> bool:
    try:
        float(text.split(",")[0])
    except ValueError:
        return False
    return True


@click.command(cls=_SpreadCommand)
@click.argument("data")
@click.option(
    "--target",
    help="File with one value per sample to predict, FILE.npz:NAME, or the NAME of "
    "another array of DATA; shows the risk and what words cost.",
)
@click.option(
    "--samples",
    type=click.Choice(["rows", "columns"]),
    help="Where the samples are. Default: as many as the target has; else rows.",
)
@click.option(
    "--lengths",
    type=_SeveralNumbers(int),
    multiple=True,
    default=[(1, 2, 4, 8)],
    show_default="1 2 4 8",
    help="Word lengths ℓ, as `1 2 4` or `1,2,4`.",
)
@click.option(
    "--ridge",
    "--ridges",
    "ridges",
    type=_SeveralNumbers(float),
    multiple=True,
    default=[(1e-2,)],
    show_default="0.01",
    help="Ridges γ of the effective dimension, one or several.",
)
@click.option(
    "--words", "n_words", default=256, show_default=True, help="Number of words n^ℓ."
)
@click.option(
    "--trials",
    type=click.IntRange(min=0),
    help="Draws of the bases per length; 0: predict only. Default: depends on d.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="Save a figure as .png, .svg or .pdf.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def spectra(
    data: str,
    target: str | None,
    samples: str | None,
    lengths: tuple[tuple[int, ...], ...],
    ridges: tuple[tuple[float, ...], ...],
    n_words: int,
    trials: int | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Compute the effective dimension of DATA, predicted and measured.

    With --target, also the risk of ridge regression on that target, with an intercept,
    and what words cost. (Words never lower the predicted risk.)

    DATA is a matrix in a .npy, .npz or .csv file, samples in the rows as for
    scikit-learn; FILE.npz:NAME names an array. As in `own_data_report`, the mean sample
    is subtracted and the samples are scaled to mean squared norm 1, as in the paper.
    """
    from freeproj.spectra import own_data_report

    if plot is not None:
        _check_plot(plot)
    matrix, values, place = _read(data, target, samples)
    chosen = [ell for group in lengths for ell in group]
    with _progress(len(matrix), chosen, n_words, trials) as on_progress:
        report = own_data_report(
            matrix,
            chosen,
            [ridge for group in ridges for ridge in group],
            target=values,
            n_words=n_words,
            n_trials=trials,
            on_progress=on_progress,
        )
    if as_json:
        click.echo(json.dumps(_as_json(data, report, place), indent=2))
    else:
        _print(report, _heading(data, report, place))
    if plot is not None:
        _plot(report, plot)


def _read(
    data: str, target: str | None, samples: str | None
) -> tuple[np.ndarray, np.ndarray | None, str]:
    """Return the data, d x p, the target, and where in the file the samples are."""
    from freeproj.report.data_files import read_matrix, read_numbers

    path, array = _file_and_array(data)
    matrix = read_matrix(path, array)
    if target is None:
        place = samples or "rows"
        return (matrix.T if place == "rows" else matrix), None, place
    is_name = path.suffix.lower() == ".npz" and not Path(target).suffix
    values = read_numbers(*((path, target) if is_name else _file_and_array(target)))
    values = values.ravel() if 1 in values.shape else values
    counts: dict[str, int] = dict(zip(("rows", "columns"), matrix.shape, strict=True))
    possible = [samples] if samples else list(counts)
    fitting = [place for place in possible if counts[place] == len(values)]
    if values.ndim not in (1, 2) or not fitting:
        known = " or ".join(f"{counts[place]} samples ({place})" for place in possible)
        raise ValueError(
            f"The target must have one value or row for each of the {known} of "
            f"{path.name}, got shape {values.shape}."
        )
    return (matrix.T if fitting[0] == "rows" else matrix), values, fitting[0]


def _file_and_array(text: str) -> tuple[Path, str | None]:
    """Split FILE.npz:NAME."""
    named = re.fullmatch(r"(.+\.npz):([^:/\\]+)", text, re.IGNORECASE)
    return (Path(named[1]), named[2]) if named else (Path(text), None)


@contextmanager
def _progress(
    dim: int, lengths: list[int], n_words: int, trials: int | None
) -> Iterator[Callable[[int], None]]:
    """Yield a callback that counts drawn bases: a bar on a terminal, else lines."""
    from freeproj.projection import words
    from freeproj.spectra.advice import default_trials

    trials = default_trials(dim) if trials is None else trials
    n_bases = trials * sum(words.generators_for(n_words, ell) for ell in lengths)
    if not sys.stderr.isatty():
        yield _PlainProgress(n_bases, dim)
    else:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("Drawing bases", total=n_bases)
            yield lambda count: bar.advance(task, count)


class _PlainProgress:
    """Say every few seconds how far the work has come."""

    def __init__(self, total: int, dim: int):
        self.total, self.dim, self.done, self.said = total, dim, 0, time.monotonic()

    def __call__(self, count: int) -> None:
        self.done += count
        if time.monotonic() - self.said > _SECONDS_BETWEEN_LINES:
            self.said = time.monotonic()
            text = f"{self.done} of {self.total} bases in dimension {self.dim} drawn"
            click.echo(text, err=True)


def _print(report: OwnDataReport, heading: str) -> None:
    click.echo(heading)
    click.echo()
    for line in report.table():
        click.echo(line)
    click.echo()
    for line in report.advice():
        click.echo(line)


def _as_json(data: str, report: OwnDataReport, place: str) -> dict[str, Any]:
    """Return the report as plain lists; what was not measured is null."""
    numbers = {
        name: _plain(value)
        for name, value in report.numbers().items()
        if name != "eigenvalues"
    }
    risk = None if report.risk is None else report.risk._asdict()
    return {
        "data": data,
        "samples": place,
        "scale": report.scale,
        "centered": report.centered,
        **numbers,
        "ridges_per_sample": [ridge / report.n_samples for ridge in report.ridges],
        "mean_share": report.mean_share,
        "risk": risk and {name: _plain(value) for name, value in risk.items()},
        "advice": report.advice(),
        "warnings": report.warnings(),
    }


def _plain(value: Any) -> Any:
    """Turn arrays into lists, nan into None and ∞ into text: JSON has neither."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value in (float("inf"), float("-inf")):
        return str(value)
    return None if value != value else value


def _heading(data: str, report: OwnDataReport, place: str) -> str:
    """Return what was read, and what was done to it."""
    other = "columns" if place == "rows" else "rows"
    return (
        f"{Path(data).name}: p = {report.n_samples} samples ({place}) x d = "
        f"{report.dim} dimensions ({other}), c = p/d = {report.aspect:.4g}\n"
        f"the mean sample ({report.mean_share:.0%} of the mean squared norm) was "
        f"subtracted; scaled by {report.scale:.4g} to mean squared norm 1"
    )


def _check_plot(path: Path) -> None:
    from freeproj.report.figures import check_format

    check_format(path)


def _plot(report: OwnDataReport, path: Path) -> None:
    from freeproj.report.figures import own_data, save_figure

    for written in save_figure(own_data, own_data.compute(report), path):
        click.echo(written)
