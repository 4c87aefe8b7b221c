"""What the page shows, gathered from the registries of claims, figures and tables.

A `Part` is one source of results: a published study, the user's own runs, or the
analyses that need no runs. Nothing here names a claim, a figure or a table.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from freeproj.experiments.dataset import Dataset
from freeproj.findings.claims import CLAIMS, judge_analyses, judge_runs
from freeproj.findings.facts import StudyFacts, study_facts
from freeproj.findings.verdicts import Claim
from freeproj.published import names, published
from freeproj.report.figures import FigureSpec, render
from freeproj.report.tables import TABLES, make_table
from freeproj.report.tables.grid import Grid
from freeproj.storage.saved import Numbers, load_numbers

__all__ = [
    "Part",
    "Picture",
    "Study",
    "analyses_part",
    "answer_of",
    "by_preference",
    "own_part",
    "published_part",
    "published_studies",
]


class Study(NamedTuple):
    """A published study: its runs and the facts stored with them."""

    name: str
    dataset: Dataset
    meta: Mapping[str, Any]  # command, version, cpu_hours, date, …


@dataclass(frozen=True)
class Picture:
    """A drawn figure: what it is, its PNG and its numbers."""

    spec: FigureSpec
    png: Path
    source: str = ""  # the study that it was drawn from

    @property
    def name(self) -> str:
        """The figure's name."""
        return self.spec.name

    @property
    def numbers(self) -> Numbers:
        """The numbers that were drawn."""
        return load_numbers(self.png.with_suffix(".npz"))

    @property
    def data_address(self) -> str:
        """The figure as SVG in a data address: sharp, and the page needs no other file.

        The background is transparent, so that the page's own shows, light or dark.
        """
        svg = self._svg().decode()
        # Cut to hundredths of a point, but not below 1, where numbers may scale glyphs.
        shorter = re.sub(r"\b([1-9]\d*\.\d\d)\d+", r"\1", svg)
        return (
            f"data:image/svg+xml;base64,{base64.b64encode(shorter.encode()).decode()}"
        )

    def _svg(self) -> bytes:
        """The SVG beside the PNG, or a new one if it is missing or too old."""
        svg, numbers = self.png.with_suffix(".svg"), self.png.with_suffix(".npz")
        if svg.is_file() and svg.stat().st_mtime_ns >= numbers.stat().st_mtime_ns:
            return svg.read_bytes()
        return render(self.spec.load(), self.numbers, ".png", ".svg")[1]

    @property
    def width(self) -> int:
        """Width in CSS pixels at which its type is as large as the page's text."""
        with Image.open(self.png) as image:
            return image.width // 2


@dataclass(frozen=True)
class Part:
    """One source of results on the page."""

    key: str  # for anchors
    claims: Mapping[str, Claim] = field(default_factory=dict)
    pictures: Sequence[Picture] = ()
    tables: Mapping[str, Grid] = field(default_factory=dict)
    facts: StudyFacts | None = None
    name: str = ""  # the folder of the runs
    studies: Sequence[Study] = ()
    sources: Mapping[str, str] = field(default_factory=dict)  # claim: study

    def in_section(self, section: str) -> list[Picture | Claim]:
        """Return figures and claims of a section, figures first."""
        pictures = [p for p in self.pictures if p.spec.section == section]
        claims = [
            claim
            for name, claim in self.claims.items()
            if CLAIMS.resolve(name).section == section and not claim.missing
        ]
        return [*pictures, *claims]

    @property
    def unanswered(self) -> list[Claim]:
        """The claims that these runs cannot answer."""
        return [claim for claim in self.claims.values() if claim.missing]


def published_studies() -> list[Study]:
    """Read the studies that ship with the package; there may be none."""
    found = [(name, published(name)) for name in names()]
    return [Study(n, each.dataset, each.meta) for n, each in found if each.dataset.runs]


def own_part(dataset: Dataset, name: str, pictures: Sequence[Picture]) -> Part:
    """Return the user's own runs: all claims, tables and figures of them."""
    return Part(
        key="own",
        claims=judge_runs(dataset),
        pictures=pictures,
        tables=_tables(dataset),
        facts=study_facts(dataset),
        name=name,
    )


def published_part(studies: Sequence[Study], pictures: Sequence[Picture]) -> Part:
    """Return the published studies: each claim from the study that answers it."""
    judged = {study.name: judge_runs(study.dataset) for study in studies}
    claims: dict[str, Claim] = {}
    sources: dict[str, str] = {}
    for name in CLAIMS:
        order = by_preference(studies, CLAIMS.resolve(name).study)
        answers = [
            (s.name, judged[s.name][name]) for s in order if name in judged[s.name]
        ]
        usable = [(s, claim) for s, claim in answers if not claim.missing] or answers[
            :1
        ]
        if usable:
            sources[name], claims[name] = usable[0]
    tables = {
        f"{study.name}: {title}": grid
        for study in studies
        for title, grid in _tables(study.dataset).items()
    }
    return Part(
        key="published",
        claims=claims,
        pictures=pictures,
        tables=tables,
        studies=studies,
        sources=sources,
    )


def analyses_part(pictures: Sequence[Picture]) -> Part:
    """Return the analyses that need no runs."""
    numbers = {picture.name: picture.numbers for picture in pictures}
    return Part(key="analyses", claims=judge_analyses(numbers), pictures=pictures)


def by_preference(studies: Iterable[Study], wanted: str) -> list[Study]:
    """Return the studies, the wanted one first, then those with most runs."""
    return sorted(studies, key=lambda s: (s.name != wanted, -len(s.dataset)))


def answer_of(part: Part | None) -> list[Claim]:
    """Return the claims that make up the answer of a part."""
    if part is None:
        return []
    return [
        claim
        for name, claim in part.claims.items()
        if CLAIMS.resolve(name).answers and not claim.missing
    ]


def _tables(dataset: Dataset) -> dict[str, Grid]:
    found = {name: make_table(name, dataset) for name in TABLES}
    return {TABLES.resolve(n).title: grid for n, grid in found.items() if grid}
