"""Collect what the page shows from the registries of claims, figures and tables.

A `Part` is one source of results: a published study, the user's own runs, or the
analyses that need no runs. Nothing here names a claim, a figure or a table.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from PIL import Image

from freeproj.experiments.dataset import Dataset
from freeproj.findings.answers import Answer
from freeproj.findings.claims import ask_analyses, ask_published, ask_runs
from freeproj.findings.comparing import compare_axes
from freeproj.findings.facts import study_facts
from freeproj.report.figures import FigureSpec, render
from freeproj.report.tables import TABLES, make_table
from freeproj.report.tables.grid import Grid
from freeproj.storage.saved import Numbers, load_numbers

__all__ = ["Part", "Picture", "analyses_part", "own_part", "published_part"]

# The sections that the page has places for; others are the user's own.
_OF_RUNS = ("training", "invariance")
_SECTIONS = (*_OF_RUNS, "kernel", "planning", "words", "appendix")


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


def _tables(dataset: Dataset) -> dict[str, Grid]:
    found = {TABLES.resolve(name).title: make_table(name, dataset) for name in TABLES}
    return {title: grid for title, grid in found.items() if grid}
