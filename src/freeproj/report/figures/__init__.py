"""The pictures by name. Compute, save, then draw.

Every picture is a module beside this one with two functions: `compute(**options)`
returns the numbers, `draw(numbers)` a matplotlib figure. `REGISTRY` says which module
and options belong to a name, so that the list of pictures needs no drawing library.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from freeproj.files import write_atomically
from freeproj.report.saved import Numbers, load_numbers, save_numbers

__all__ = [
    "FORMATS",
    "REGISTRY",
    "FigureSpec",
    "check_format",
    "find",
    "make_figure",
    "save_figure",
]

FORMATS = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class FigureSpec:
    """A picture: the module that makes it, its options, and one line for people."""

    name: str
    title: str
    module: str
    options: Mapping[str, Any] = field(default_factory=dict)
    needs_runs: bool = False  # drawn from a folder of training runs

    def load(self) -> ModuleType:
        """Imports the picture's module, and with it the drawing library."""
        return importlib.import_module(f"freeproj.report.figures.{self.module}")


_SPECS = (
    FigureSpec(
        "cayley", "Cayley graph of F_2 in the Poincaré disk (Fig. 1 left)", "cayley"
    ),
    FigureSpec(
        "overview", "RP against FRP: shared prefixes (Fig. 1 right)", "overview"
    ),
    FigureSpec(
        "effective-dimension",
        "Effective dimension against the ridge, theory and measurement (Fig. 2 left)",
        "effective_dimension",
    ),
    FigureSpec(
        "kernel-spectra",
        "Spectra of √K for four word lengths, with theory (Fig. 2 right)",
        "kernel_spectra",
    ),
    FigureSpec(
        "cartpole-curves",
        "Training and held-out returns, RP and FRP, GRU and S5 (Fig. 3)",
        "cartpole_curves",
        needs_runs=True,
    ),
    FigureSpec("lsmdp", "LSMDP: four distances against word length (Fig. 4)", "lsmdp"),
    FigureSpec(
        "block-spectra",
        "Block matrices after the partial transpose, O(64) (appendix C)",
        "block_spectra",
    ),
    FigureSpec(
        "block-spectra-raw",
        "Block matrices as they stand: 16 and 0 (appendix C)",
        "block_spectra",
        {"arrangement": "raw"},
    ),
    FigureSpec(
        "block-spectra-shuffled",
        "Block matrices shuffled: no length differs (appendix C)",
        "block_spectra",
        {"arrangement": "shuffled"},
    ),
    FigureSpec(
        "block-spectra-permutation",
        "Block matrices over S(16), with and without the ones (appendix C)",
        "block_spectra",
        {"group": "permutation", "dim": 16},
    ),
    FigureSpec(
        "lsmdp-spaces", "LSMDP: the two state spaces (appendix E)", "lsmdp_spaces"
    ),
    FigureSpec(
        "length-curves",
        "Held-out returns for each word length, task by task (appendix F)",
        "length_curves",
        needs_runs=True,
    ),
    FigureSpec(
        "adaptation",
        "Return of trial 1 to 16: what in-context learning looks like",
        "adaptation",
        needs_runs=True,
    ),
)

REGISTRY: dict[str, FigureSpec] = {spec.name: spec for spec in _SPECS}


def find(name: str) -> FigureSpec:
    """Returns the picture of that name; an error lists those there are."""
    if name not in REGISTRY:
        raise ValueError(f"No figure {name!r}. Known: {', '.join(REGISTRY)}.")
    return REGISTRY[name]


def make_figure(
    name: str,
    out: str | Path,
    numbers_from: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Draws a picture into `out` and saves its numbers in an .npz beside it.

    With `numbers_from` nothing is computed: the picture is drawn from that file.
    Returns the files written.
    """
    spec, out = find(name), Path(out)
    check_format(out)
    module = spec.load()
    if numbers_from is not None:
        return [_draw(module, _load(spec, numbers_from), out)]
    return save_figure(module, _compute(spec, module, options or {}), out)


def save_figure(module: ModuleType, numbers: Numbers, out: str | Path) -> list[Path]:
    """Draws a module's numbers into `out`, saves them in an .npz beside it."""
    out = Path(out)
    check_format(out)
    saved = save_numbers(numbers, out.with_suffix(".npz"))
    return [_draw(module, numbers, out), saved]


def check_format(out: Path) -> None:
    """Refuses a file's name that says no known format."""
    if out.suffix not in FORMATS:
        known = ", ".join(FORMATS)
        raise ValueError(f"A picture's file must end in {known}, got '{out.name}'.")


def _compute(
    spec: FigureSpec, module: ModuleType, options: Mapping[str, Any]
) -> Numbers:
    allowed = list(inspect.signature(module.compute).parameters)
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        known = ", ".join(allowed) or "none"
        raise ValueError(f"No option {unknown[0]!r} for {spec.name!r}. Known: {known}.")
    if spec.needs_runs and not options.get("runs"):
        raise ValueError(
            f"{spec.name!r} is drawn from training runs: name their folder (--runs "
            "DIR); `freeproj sweep quick --out runs` makes some."
        )
    numbers = module.compute(**{**spec.options, **options})
    return {"figure": np.array(spec.name), **numbers}


def _load(spec: FigureSpec, path: str | Path) -> Numbers:
    numbers = load_numbers(path)
    drawn = str(numbers.get("figure", "no figure"))
    if drawn != spec.name:
        raise ValueError(f"{path} has the numbers of {drawn!r}, not of {spec.name!r}.")
    return numbers


def _draw(module: ModuleType, numbers: Numbers, out: Path) -> Path:
    from freeproj.report.figures.style import book_style

    with book_style():
        figure = module.draw(numbers)
        undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        form = {"format": out.suffix[1:], "metadata": undated.get(out.suffix)}
        write_atomically(out, lambda file: figure.savefig(file, **form))
    return out
