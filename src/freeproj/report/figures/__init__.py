"""The figures by name. Compute, save, then draw.

Every figure is a module with two functions: `compute(**options)` returns the numbers,
`draw(numbers)` a matplotlib figure. `figures.toml` says which module and options belong
to a name, so that the list of figures needs no drawing library. Your own figure is a
`FigureSpec`, named `module:attribute` or added with `FIGURES.add(name, spec)`.
"""

import contextlib
import importlib.util
import inspect
import io
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from freeproj.experiments.dataset import Dataset
from freeproj.storage.files import DAMAGED, write_atomically
from freeproj.storage.names import Registry, import_own
from freeproj.storage.saved import Numbers, load_numbers, save_numbers

__all__ = ["FIGURES", "OURS", "FigureSpec", "find", "make_figure", "render"]

_FORMATS = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class FigureSpec:
    """A figure: the module that makes it, its options, and one line for people."""

    name: str
    title: str
    module: str  # of this package, or your own
    options: Mapping[str, Any] = field(default_factory=dict)
    needs_runs: bool = False  # drawn from a dataset of training runs
    section: str = "appendix"  # of the page
    study: str = ""  # the published study that it shows best
    note: str = ""  # for readers of the page, where the figure may surprise
    own: bool = False  # about one's own runs, and not drawn from published studies

    def load(self) -> ModuleType:
        """Import the figure's module, and with it the drawing library."""
        ours = f"freeproj.report.figures.{self.module}"
        if "." not in self.module and importlib.util.find_spec(ours):
            return importlib.import_module(ours)
        return import_own(self.module, f"figure {self.name!r}")


FIGURES: Registry[FigureSpec] = Registry("figure")
with (Path(__file__).parent / "figures.toml").open("rb") as _file:
    for _name, _fields in tomllib.load(_file).items():
        FIGURES.add(_name, FigureSpec(_name, **_fields))
OURS = frozenset(FIGURES)  # those of the package; an error in one is ours


def find(name: str) -> FigureSpec:
    """Return the figure of that name; an error suggests the nearest."""
    return FIGURES.resolve(name)


def make_figure(
    name: str,
    out: str | Path,
    numbers_from: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    dataset: Dataset | None = None,
    *,
    beside: Sequence[str] = (),
    keep: bool = False,
) -> list[Path]:
    """Draw a figure into `out`, save its numbers beside it, return the files written.

    Args:
        numbers_from: an .npz file to draw; then nothing is computed.
        dataset: what figures of runs are computed from.
        beside: other formats, such as ".svg", to write the same drawing in.
        keep: leave the files as they are if they show exactly these numbers.
    """
    spec, out = find(name), Path(out)
    if out.suffix not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise ValueError(f"A figure's file must end in {known}, got '{out.name}'.")
    files = [out.with_suffix(form) for form in (out.suffix, *beside)]
    if numbers_from is not None:
        return _redraw(spec, numbers_from, files)
    numbers, saved = _compute(spec, options or {}, dataset), out.with_suffix(".npz")
    if not (keep and _show(files, saved, numbers)):
        _draw(spec, numbers, files)
        save_numbers(numbers, saved)  # last: numbers that are there have been drawn
    return [*files, saved]


def render(spec: FigureSpec, numbers: Numbers, *forms: str) -> list[bytes]:
    """Draw a figure's numbers; return the contents of a file of each format.

    The first has a background; the others are transparent, for a light or dark page.
    """
    from freeproj.report.figures.style import book_style

    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    contents: list[bytes] = []
    module = spec.load()
    with book_style():
        figure = module.draw(numbers)
        for form in forms:
            file, how = io.BytesIO(), {"transparent": bool(contents)}
            figure.savefig(file, format=form[1:], metadata=undated.get(form), **how)
            figure.set_layout_engine("none")  # the layout is final by now
            contents.append(file.getvalue())
    return contents


def _draw(spec: FigureSpec, numbers: Numbers, files: Sequence[Path]) -> None:
    drawn = render(spec, numbers, *(file.suffix for file in files))
    for path, content in zip(files, drawn, strict=True):
        write_atomically(path, lambda file, content=content: file.write(content))


def _compute(spec: FigureSpec, options: Mapping, dataset: Dataset | None) -> Numbers:
    compute = spec.load().compute
    allowed = [n for n in inspect.signature(compute).parameters if n != "dataset"]
    if unknown := sorted(set(options) - set(allowed)):
        known = ", ".join(allowed) or "none"
        raise ValueError(f"No option {unknown[0]!r} for {spec.name!r}. Known: {known}.")
    if spec.needs_runs and dataset is None:
        raise ValueError(
            f"{spec.name!r} is drawn from training runs: name their folder (--runs "
            "DIR); `freeproj sweep quick --out runs` makes some."
        )
    runs = (dataset,) if spec.needs_runs else ()
    numbers = compute(*runs, **{**spec.options, **options})
    return {"figure": np.array(spec.name), **numbers}


def _redraw(spec: FigureSpec, source: str | Path, files: list[Path]) -> list[Path]:
    numbers = load_numbers(source)
    drawn = str(numbers.get("figure", "no figure"))
    if drawn != spec.name:
        raise ValueError(f"{source} has numbers of {drawn!r}, not of {spec.name!r}.")
    try:
        _draw(spec, numbers, files)
        return files
    except OSError:
        raise
    except (*DAMAGED, IndexError, AttributeError, ArithmeticError) as error:
        why = f"{type(error).__name__}: {error}".rstrip(".")
        raise ValueError(
            f"{source} does not hold the numbers that {spec.name!r} needs ({why}); "
            "leave out --from to compute them."
        ) from error


def _show(files: Sequence[Path], saved: Path, numbers: Numbers) -> bool:
    """Whether the files show exactly these numbers: drawing them takes longest."""

    def contents(found: Numbers) -> dict[str, tuple]:
        arrays = {name: np.asarray(array) for name, array in found.items()}
        return {name: (a.dtype, a.shape, a.tobytes()) for name, a in arrays.items()}

    there = saved.is_file() and all(file.is_file() for file in files)
    with contextlib.suppress(ValueError):  # a damaged file is written again
        return there and contents(load_numbers(saved)) == contents(numbers)
    return False
