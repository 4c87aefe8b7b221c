"""`freeproj spectra DATA`: effective dimension and risk for your own data."""

from __future__ import annotations

import json
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
@click.argument("data", type=click.Path(path_type=Path))
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
    help="Ridges γ, one or several.",
)
@click.option(
    "--words", "n_words", default=256, show_default=True, help="Number of words n^ℓ."
)
@click.option(
    "--trials",
    type=click.IntRange(min=0),
    help="Draws of the bases per length; 0: predict only. Default: depends on d.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the draws.")
@click.option(
    "--group",
    type=click.Choice(["orthogonal", "permutation"]),
    default="orthogonal",
    show_default=True,
    help="Group from which the bases are drawn.",
)
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="File with one value per sample to predict; chooses ℓ and ridge by risk.",
)
@click.option("--transpose", is_flag=True, help="Use if samples are in the rows.")
@click.option("--center", is_flag=True, help="Subtract the mean sample (and target).")
@click.option("--no-rescale", is_flag=True, help="Keep the data's own scale.")
@click.option("--array", help="Name of the array in an .npz file.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="Save a figure as .png, .svg or .pdf.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def spectra(
    data: Path,
    lengths: tuple[tuple[int, ...], ...],
    ridges: tuple[tuple[float, ...], ...],
    n_words: int,
    trials: int | None,
    seed: int,
    group,
    target: Path | None,
    transpose: bool,
    center: bool,
    no_rescale: bool,
    array: str | None,
    plot: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compute the effective dimension of DATA, predicted and measured.

    With --target, also find the word length and ridge with the least predicted risk
    for ridge regression on that target.

    DATA is a .npy, .npz, .csv or .parquet file with dimensions in the rows and samples
    in the columns (d x p); use --transpose if samples are in the rows. The samples are
    scaled to mean squared norm 1, as in the paper (entries N(0, 1/d)), so that ridges
    mean the same for all data; --no-rescale keeps them as they are.
    """
    from freeproj.spectra import own_data_report

    if plot is not None:
        _check_plot(plot)
    matrix, scale = _prepare(data, array, transpose, center, not no_rescale)
    values = None if target is None else _read_target(target, matrix.shape[1], center)
    chosen = [ell for group_ in lengths for ell in group_]
    with _progress(len(matrix), chosen, n_words, trials, quiet) as on_progress:
        report = own_data_report(
            matrix,
            chosen,
            [ridge for group_ in ridges for ridge in group_],
            target=values,
            n_words=n_words,
            n_trials=trials,
            seed=seed,
            group=group,
            on_progress=on_progress,
        )
    if as_json:
        click.echo(json.dumps(_as_json(data, report, scale, center), indent=2))
    else:
        _print(report, _heading(data, report, scale, transpose, center))
    if plot is not None:
        _plot(report, plot)


def _prepare(
    path: Path, array: str | None, transpose: bool, center: bool, scaled: bool
) -> tuple[np.ndarray, float]:
    from freeproj.report.data_files import read_matrix
    from freeproj.spectra import rescale

    matrix = read_matrix(path, array)
    matrix = matrix.T if transpose else matrix
    if center:
        matrix = matrix - matrix.mean(axis=1, keepdims=True)
    return rescale(matrix) if scaled else (matrix, 1.0)


def _read_target(path: Path, n_samples: int, center: bool) -> np.ndarray:
    from freeproj.report.data_files import read_target

    values = read_target(path, n_samples)
    return values - values.mean(axis=0) if center else values


@contextmanager
def _progress(
    dim: int, lengths: list[int], n_words: int, trials: int | None, quiet: bool
) -> Iterator[Callable[[int], None] | None]:
    """Yield a callback that counts drawn bases: a bar on a terminal, else lines."""
    from freeproj.projection import words
    from freeproj.spectra.advice import default_trials

    trials = default_trials(dim) if trials is None else trials
    n_bases = trials * sum(words.generators_for(n_words, ell) for ell in lengths)
    if quiet:
        yield None
    elif not sys.stderr.isatty():
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


def _as_json(
    path: Path, report: OwnDataReport, scale: float, center: bool
) -> dict[str, Any]:
    """Return the report as plain lists; what was not measured is null."""
    numbers = {
        name: _plain(value)
        for name, value in report.numbers().items()
        if name != "eigenvalues"
    }
    risk = None if report.risk is None else report.risk._asdict()
    return {
        "data": path.name,
        "scale": scale,
        "centered": center,
        **numbers,
        "ridges_per_sample": [ridge / report.n_samples for ridge in report.ridges],
        "mean_share": report.mean_share,
        "risk": risk and {name: _plain(value) for name, value in risk.items()},
        "advice": report.advice(),
        "warnings": report.warnings(),
    }


def _plain(value: Any) -> Any:
    """Turn arrays into lists, and nan into None: JSON has no nan."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if value != value else value


def _heading(
    path: Path, report: OwnDataReport, scale: float, transpose: bool, center: bool
) -> str:
    """Return what was read, and what was done to it."""
    places = ("columns", "rows") if transpose else ("rows", "columns")
    lines = [
        f"{path.name}: d = {report.dim} dimensions ({places[0]}) x p = "
        f"{report.n_samples} samples ({places[1]}), c = p/d = {report.aspect:.4g}"
    ]
    if center:
        lines.append("center: the mean sample was subtracted")
    if scale == 1:
        lines.append("scale: as in the file")
    else:
        lines.append(
            f"scale: times {scale:.4g}, so that samples have mean squared norm 1, "
            "as for N(0, 1/d)"
        )
    return "\n".join(lines)


def _check_plot(path: Path) -> None:
    from freeproj.report.figures import check_format

    check_format(path)


def _plot(report: OwnDataReport, path: Path) -> None:
    from freeproj.report.figures import own_data, save_figure

    for written in save_figure(own_data, own_data.compute(report), path):
        click.echo(written)
