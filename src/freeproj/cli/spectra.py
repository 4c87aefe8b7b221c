"""`freeproj spectra DATA`: effective dimension and risk for your own data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj.cli.options import SpreadCommand, json_option, split_words
from freeproj.cli.output import show
from freeproj.experiments.progress import working

if TYPE_CHECKING:
    import numpy as np

__all__ = ["spectra"]


def _numbers(kind: type) -> Any:
    """Return a callback that reads numbers, given one by one or with commas."""

    def read(ctx: click.Context, param: click.Parameter, values: Sequence[str]):
        words = split_words(values)
        try:
            return [kind(word) for word in words]
        except ValueError:
            what = "whole numbers" if kind is int else "numbers"
            told = f"must be {what}, got '{' '.join(words)}'."
            raise click.BadParameter(told, ctx, param) from None

    return read


@click.command(cls=SpreadCommand, spread=("--lengths", "--ridge"))
@click.argument("data")
@click.option(
    "--target",
    help="File with one value per sample to predict, FILE.npz:NAME, or the NAME of "
    "another array of DATA; shows the risk and what words cost.",
)
@click.option(
    "--lengths",
    multiple=True,
    default=["1", "2", "4", "8"],
    show_default="1 2 4 8",
    callback=_numbers(int),
    help="Word lengths ℓ, as `1 2 4` or `1,2,4`.",
)
@click.option(
    "--ridge",
    "ridges",
    multiple=True,
    default=["0.01"],
    show_default="0.01",
    callback=_numbers(float),
    help="Ridges γ of the effective dimension, one or several.",
)
@click.option("--words", "n_words", default=256, help="Number of words n^ℓ.")
@click.option(
    "--trials",
    "n_trials",
    type=click.IntRange(min=0),
    help="Draws of the bases per length; 0: predict only. Default: depends on d.",
)
@json_option
def spectra(
    data: str, target: str | None, lengths: list[int], as_json: bool, **how: Any
) -> None:
    """Compute the effective dimension of DATA, predicted and measured.

    With --target, also the risk of ridge regression on that target, with an intercept,
    and what words cost. (Words never lower the predicted risk.)

    DATA is a matrix in a .npy, .npz or .csv file, samples in the rows as for
    scikit-learn; FILE.npz:NAME names an array. As in `own_data_report`, the mean sample
    is subtracted and the samples are scaled to mean squared norm 1, as in the paper.
    """
    from freeproj.spectra import own_data_report

    matrix, values, place = _read(data, target)
    with working("drawing bases"):
        report = own_data_report(matrix, lengths, target=values, **how)
    facts = {
        "data": data,
        "samples": place,
        **{k: v for k, v in vars(report).items() if k != "eigenvalues"},
        "n_generators": report.n_generators,
        "ridges_per_sample": [ridge / report.n_samples for ridge in report.ridges],
        "risk": report.risk and report.risk._asdict(),
        "advice": report.advice(),
        "warnings": report.warnings(),
    }
    other = "columns" if place == "rows" else "rows"
    head = (
        f"{Path(data).name}: p = {report.n_samples} samples ({place}) x d = "
        f"{report.dim} dimensions ({other}), c = p/d = {report.aspect:.4g}\n"
        f"the mean sample ({report.mean_share:.0%} of the mean squared norm) was "
        f"subtracted; scaled by {report.scale:.4g} to mean squared norm 1"
    )
    show(facts, [head, "", *report.table(), "", *report.advice()], as_json)


def _read(data: str, target: str | None) -> tuple[np.ndarray, np.ndarray | None, str]:
    """Return the data, d x p, the target, and where in the file the samples are."""
    from freeproj.report.data_files import read_matrix, read_numbers

    path, array = _file_and_array(data)
    matrix = read_matrix(path, array)
    if target is None:
        return matrix.T, None, "rows"
    is_name = path.suffix.lower() == ".npz" and not Path(target).suffix
    values = read_numbers(*((path, target) if is_name else _file_and_array(target)))
    values = values.ravel() if 1 in values.shape else values
    counts: dict[str, int] = dict(zip(("rows", "columns"), matrix.shape, strict=True))
    fitting = [place for place in counts if counts[place] == len(values)]
    if values.ndim not in (1, 2) or not fitting:
        known = " or ".join(f"{counts[place]} samples ({place})" for place in counts)
        rule = f"one value or row for each of the {known} of {path.name}"
        raise ValueError(f"The target must have {rule}, got shape {values.shape}.")
    return (matrix.T if fitting[0] == "rows" else matrix), values, fitting[0]


def _file_and_array(text: str) -> tuple[Path, str | None]:
    """Split FILE.npz:NAME."""
    named = re.fullmatch(r"(.+\.npz):([^:/\\]+)", text, re.IGNORECASE)
    return (Path(named[1]), named[2]) if named else (Path(text), None)
