"""The figures by name. Compute, save, then draw.

Every figure is a module with two functions: `compute(**options)` returns the numbers,
`draw(numbers)` a matplotlib figure. `figures.toml` says which module and options belong
to a name, so that the list of figures needs no drawing library. Your own figure is a
`FigureSpec`, named `module:attribute` or added with `FIGURES.add(name, spec)`.
"""

from __future__ import annotations

import importlib
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

__all__ = [
    "FIGURES",
    "FORMATS",
    "OURS",
    "FigureSpec",
    "check_format",
    "compute_figure",
    "draw_numbers",
    "find",
    "make_figure",
    "render",
    "save_figure",
]

FORMATS = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class FigureSpec:
    """A figure: the module that makes it, its options, and one line for people.

    Args:
        module: a module of this package, or your own.
        section: of the page.
        study: the published study that it shows best; for figures of runs.
        own: it is about one's own runs, and not drawn from published studies.
        note: a remark for readers of the page, where the figure may surprise.
    """

    name: str
    title: str
    module: str
    options: Mapping[str, Any] = field(default_factory=dict)
    needs_runs: bool = False  # drawn from a dataset of training runs
    section: str = "appendix"
    study: str = ""
    note: str = ""
    own: bool = False

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
    beside: Sequence[str] = (),
) -> list[Path]:
    """Draw a figure into `out` and save its numbers in an .npz beside it.

    With `numbers_from` nothing is computed: the figure is drawn from that file.
    Figures of runs are computed from `dataset`. Return the files written.

    Args:
        beside: other formats, such as ".svg", to write the same drawing in.
    """
    spec, out = find(name), Path(out)
    check_format(out)
    if numbers_from is not None:
        return [_redraw(spec, spec.load(), Path(numbers_from), out)]
    numbers = compute_figure(name, options or {}, dataset)
    return save_figure(spec.load(), numbers, out, beside)


def save_figure(
    module: ModuleType, numbers: Numbers, out: str | Path, beside: Sequence[str] = ()
) -> list[Path]:
    """Draw a module's numbers into `out` and save them in an .npz beside it."""
    out = Path(out)
    check_format(out)
    saved = save_numbers(numbers, out.with_suffix(".npz"))
    return [*draw_numbers(module, numbers, out, beside), saved]


def draw_numbers(
    module: ModuleType, numbers: Numbers, out: Path, beside: Sequence[str] = ()
) -> list[Path]:
    """Draw a module's numbers into a file, and once more for each format `beside`."""
    forms = (out.suffix, *beside)
    files = [out.with_suffix(form) for form in forms]
    for file, drawn in zip(files, render(module, numbers, *forms), strict=True):
        write_atomically(file, lambda open_file, drawn=drawn: open_file.write(drawn))
    return files


def render(module: ModuleType, numbers: Numbers, *forms: str) -> list[bytes]:
    """Draw a module's numbers; return the contents of a file of each format.

    The first has a background; the others are transparent, for a light or dark page.
    """
    from freeproj.report.figures.style import book_style

    contents = []
    with book_style():
        figure = module.draw(numbers)
        for form in forms:
            contents.append(_save(figure, form, transparent=bool(contents)))
            figure.set_layout_engine("none")  # the layout is final by now
    return contents


def _save(figure: Any, form: str, transparent: bool) -> bytes:
    file = io.BytesIO()
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    figure.savefig(
        file, format=form[1:], metadata=undated.get(form), transparent=transparent
    )
    return file.getvalue()


def check_format(out: Path) -> None:
    """Refuse a file name without a known ending."""
    if out.suffix not in FORMATS:
        known = ", ".join(FORMATS)
        raise ValueError(f"A figure's file must end in {known}, got '{out.name}'.")


def compute_figure(
    name: str, options: Mapping[str, Any], dataset: Dataset | None = None
) -> Numbers:
    """Return the numbers of a figure; those of runs are computed from `dataset`."""
    spec = find(name)
    module = spec.load()
    allowed = [
        n for n in inspect.signature(module.compute).parameters if n != "dataset"
    ]
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        known = ", ".join(allowed) or "none"
        raise ValueError(f"No option {unknown[0]!r} for {spec.name!r}. Known: {known}.")
    if spec.needs_runs and dataset is None:
        raise ValueError(
            f"{spec.name!r} is drawn from training runs: name their folder (--runs "
            "DIR); `freeproj sweep quick --out runs` makes some."
        )
    runs = (dataset,) if spec.needs_runs else ()
    numbers = module.compute(*runs, **{**spec.options, **options})
    return {"figure": np.array(spec.name), **numbers}


def _redraw(spec: FigureSpec, module: ModuleType, source: Path, out: Path) -> Path:
    numbers = _load(spec, source)
    try:
        return draw_numbers(module, numbers, out)[0]
    except OSError:
        raise
    except (*DAMAGED, IndexError, AttributeError, ArithmeticError) as error:
        why = f"{type(error).__name__}: {error}".rstrip(".")
        raise ValueError(
            f"{source} does not hold the numbers that {spec.name!r} needs ({why}); "
            "leave out --from to compute them."
        ) from error


def _load(spec: FigureSpec, path: str | Path) -> Numbers:
    numbers = load_numbers(path)
    drawn = str(numbers.get("figure", "no figure"))
    if drawn != spec.name:
        raise ValueError(f"{path} has the numbers of {drawn!r}, not of {spec.name!r}.")
    return numbers
