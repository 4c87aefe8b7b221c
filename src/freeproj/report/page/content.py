"""Collect what the page shows from the registries of claims, figures and tables.

A `Part` is one source of results: a published study, the user's own runs, or the
analyses that need no runs. Nothing here names a claim, a figure or a table.
"""

import base64
import contextlib
import math
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from PIL import Image

from freeproj import __version__
from freeproj.experiments.dataset import Dataset
from freeproj.experiments.measures import length_of, map_of
from freeproj.experiments.settings import dotted
from freeproj.findings.answers import Answer
from freeproj.findings.cells import make_cells
from freeproj.findings.claims import ask_analyses, ask_published, ask_runs
from freeproj.findings.comparing import compare_axes
from freeproj.findings.labels import axis_name, map_title, run_counts, value_text
from freeproj.learning.config import TrainConfig
from freeproj.report.figures import FigureSpec, render
from freeproj.report.tables import TABLES, make_table
from freeproj.report.tables.grid import Grid
from freeproj.storage.saved import Numbers, load_numbers

__all__ = ["Part", "Picture", "analyses_part", "differences_from_paper", "own_part"]
__all__ += ["published_part", "study_facts", "versions"]

# The sections that the page has places for; others are the user's own.
_OF_RUNS = ("training", "invariance")
_SECTIONS = (*_OF_RUNS, "kernel", "planning", "words", "appendix")
# Settings that a study varies: they do not count as differences from the paper.
_SHAPE = {f"projection.{name}" for name in ("length", "n_generators", "input_dim")}
_VARIED = {"task", "memory", "seed", *_SHAPE}


@dataclass(frozen=True)
class Picture:
    """A drawn figure: what it is, its PNG and its numbers."""

    spec: FigureSpec
    png: Path
    source: str = ""  # the study that it was drawn from

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def numbers(self) -> Numbers:
        return load_numbers(self.png.with_suffix(".npz"))

    @property
    def data_address(self) -> str:
        """The figure as SVG in a data address, so that the page needs no other file."""
        svg = self.png.with_suffix(".svg")
        if svg.exists() and svg.stat().st_mtime_ns >= self.png.stat().st_mtime_ns:
            drawn = svg.read_bytes()
        else:  # drawn by `freeproj figure`, as PNG only
            drawn = render(self.spec, self.numbers, ".png", ".svg")[1]
        # Cut to hundredths of a point, but not below 1, where numbers may scale glyphs.
        shorter = re.sub(rb"\b([1-9]\d*\.\d\d)\d+", rb"\1", drawn)
        return f"data:image/svg+xml;base64,{base64.b64encode(shorter).decode()}"

    @property
    def width(self) -> int:
        """Width in CSS pixels at which its type is as large as the page's text."""
        with Image.open(self.png) as image:
            return image.width // 2


@dataclass(frozen=True)
class Part:
    """One source of results on the page."""

    key: str  # for anchors
    claims: Mapping[str, Answer]
    pictures: Sequence[Picture]
    tables: Mapping[str, Grid] = field(default_factory=dict)
    compared: Sequence[Answer] = ()  # the axes that vary in the user's own runs
    facts: SimpleNamespace | None = None
    name: str = ""  # the folder of the runs
    studies: Sequence[Dataset] = ()

    def in_section(self, *sections: str) -> list[Picture | Answer]:
        """Return figures and answers of sections, figures first."""
        drawn = [each for each in self.pictures if each.spec.section in sections]
        said = [each for each in self.claims.values() if each.section in sections]
        return [*drawn, *(claim for claim in said if not claim.missing)]

    @property
    def others(self) -> list[Picture | Answer]:
        """Figures and answers in sections of the user's own."""
        placed = _OF_RUNS if self.key == "own" else _SECTIONS
        found = {p.spec.section for p in self.pictures}
        found |= {claim.section for claim in self.claims.values()}
        return self.in_section(*sorted(found - set(placed)))

    @property
    def opening(self) -> list[Answer]:
        """The answers that this part opens with."""
        found = [claim for claim in self.claims.values() if claim.opens]
        return [*self.compared, *(each for each in found if each.status == "answered")]

    @property
    def hero(self) -> Picture | None:
        """The figure that stands with the opening answers."""
        return next((p for p in self.pictures if p.spec.needs_runs), None)


def own_part(
    dataset: Dataset, pictures: Sequence[Picture], questions: Sequence[str] = ()
) -> Part:
    """Return the user's own runs: what varies in them, then all questions."""
    found = ask_runs(dataset, questions), pictures, _tables(dataset)
    facts, name = study_facts(dataset), str(dataset.meta.get("study"))
    return Part("own", *found, compare_axes(dataset), facts, name)


def published_part(studies: Sequence[Dataset], pictures: Sequence[Picture]) -> Part:
    """Return the published studies: each question's answer from its own study."""
    tables = {
        f"{study.meta.get('study')}: {title}": grid
        for study in studies
        for title, grid in _tables(study).items()
    }
    answers = ask_published(studies)
    return Part("published", answers, pictures, tables, studies=studies)


def analyses_part(pictures: Sequence[Picture]) -> Part:
    """Return the analyses that need no runs."""
    numbers = {picture.name: picture.numbers for picture in pictures}
    return Part("analyses", ask_analyses(numbers), pictures)


def study_facts(dataset: Dataset) -> SimpleNamespace:
    """Return a dataset in numbers, as the page shows it; spans are least and most."""
    runs = dataset.runs
    groups = [make_cells(dataset, protocol) for protocol in ("projection", "task")]
    axes = [a for a in dataset.axes if any(a in cells.axes for cells in groups)]
    seeds = [len(cell) for cells in groups for cell in cells.runs.values()]
    updates = [int(run.updates[-1]) if len(run.updates) else 0 for run in runs]
    settings = [run.settings for run in runs]
    trials = [length_of(each) for each in settings]
    per_update = [int(s.get("n_envs", 0)) * int(s.get("n_steps", 0)) for s in settings]
    seconds = [run.seconds for run in runs if not math.isnan(run.seconds)]
    values = {a: [value_text(a, value) for value in dataset.values(a)] for a in axes}
    return SimpleNamespace(
        runs=run_counts(dataset),
        n_runs=len(runs) + len(dataset.set_aside),
        n_finished=dataset.n_finished,
        axes=tuple((axis_name(axis), ", ".join(values[axis])) for axis in axes),
        seeds=(min(seeds), max(seeds)),  # of a cell
        trials=(min(trials), max(trials)),  # of an episode
        updates=(min(updates), max(updates)),  # of a run, those done
        n_steps=sum(n * steps for n, steps in zip(updates, per_update, strict=True)),
        seconds=sum(seconds) if seconds else math.nan,  # of training
        maps=list(dict.fromkeys(map_title(map_of(run)) for run in runs)),
        differences=differences_from_paper(settings),
        shows_reward=any(each.get("previous_reward") for each in settings),
    )


def differences_from_paper(
    settings: Sequence[Mapping[str, Any]],
) -> tuple[tuple[str, str, str], ...]:
    """Return the settings that are not the paper's: name, value here, the paper's."""
    paper = dotted(asdict(TrainConfig())) | {"projection.n_words": 256}
    found = []
    for name, expected in paper.items():
        values = {_text(each[name]): None for each in settings if name in each}
        if name not in _VARIED and values and list(values) != [_text(expected)]:
            found.append((name, ", ".join(values), _text(expected)))
    return tuple(found)


def versions() -> dict[str, str]:
    """Return the versions that the page was made with."""
    found = {"freeproj": __version__, "Python": platform.python_version()}
    for name in ("jax", "numpy", "scipy", "matplotlib"):
        with contextlib.suppress(PackageNotFoundError):  # not installed, so not used
            found[name] = version(name)
    return found


def _tables(dataset: Dataset) -> dict[str, Grid]:
    found = {TABLES.resolve(name).title: make_table(name, dataset) for name in TABLES}
    return {title: grid for title, grid in found.items() if grid}


def _text(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
