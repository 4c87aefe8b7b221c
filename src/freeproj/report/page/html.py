"""One self-contained page: everything in one file, readable from disk, offline.

Texts from run folders go through the templates, which escape them; data for the plots
goes through `script_json`. The page carries a policy that forbids it any request.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
import markupsafe
import plotly.offline
from PIL import Image

from freeproj.files import write_atomically
from freeproj.report.gathering import Gathered
from freeproj.report.page.forest import forest
from freeproj.report.page.interactive import (
    adaptation_data,
    curves_data,
    dimension_data,
    disk_data,
    script_json,
    spectra_data,
    task_data,
)
from freeproj.report.paper.baselines import table_baselines
from freeproj.report.paper.claims import judge
from freeproj.report.paper.facts import duration_text, study_facts, versions
from freeproj.report.paper.verdicts import Claim
from freeproj.report.saved import Numbers, load_numbers
from freeproj.report.tables.lengths import length_records, lengths_grid
from freeproj.report.tables.results import result_records
from freeproj.report.tables.results_grid import results_grid

__all__ = ["Picture", "write_page"]

_MAX_WIDTH = 1500  # pixels of an embedded picture: sharp at the page's width
_COLOURS = 128
_JUDGED = ("effective-dimension", "kernel-spectra", "lsmdp")
# Where the page has a live version of a picture: its place.
_LIVE = {
    "cayley": "disk",
    "effective-dimension": "dimension",
    "kernel-spectra": "spectra",
    "adaptation": "adaptation",
}


@dataclass(frozen=True)
class Picture:
    """A drawn picture: its name, its one-line title, its PNG and its numbers."""

    name: str
    title: str
    png: Path
    numbers: Path

    @property
    def source(self) -> str:
        """A small copy of the PNG as a data address: the page needs no other file."""
        with Image.open(self.png) as image:
            width = min(image.width, _MAX_WIDTH)
            size = (width, round(image.height * width / image.width))
            small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        file = io.BytesIO()
        small.quantize(_COLOURS).save(file, "PNG", optimize=True)
        return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"

    @property
    def width(self) -> int:
        """Width on the page in its pixels: type is then as large as the text's."""
        with Image.open(self.png) as image:
            return image.width // 2

    @property
    def place(self) -> str:
        """The id of the element that shows it."""
        return _LIVE.get(self.name, self.name)

    @property
    def is_live(self) -> bool:
        """Whether the page shows it as a plot or a table instead."""
        return self.name in _LIVE


def write_page(
    path: str | Path,
    pictures: Sequence[Picture],
    gathered: Gathered | None = None,
    *,
    runs: str = "",
    missing: Mapping[str, str] | None = None,
) -> tuple[Claim, ...]:
    """Writes the page and returns the claims with their verdicts.

    Args:
        pictures: what was drawn; the numbers beside some of them are judged.
        gathered: training runs; without them the page says so where they would stand.
        runs: the folder of the runs, to be named on the page.
        missing: pictures that could not be drawn, with the reason.
    """
    path = Path(path)
    gathered = gathered if gathered is not None and gathered.runs else None
    analyses = _analyses(pictures)
    claims = judge(gathered, analyses)
    page = (
        _templates()
        .get_template("report.html.jinja")
        .render(
            claims=[(claim, forest(claim.findings)) for claim in claims],
            pictures=pictures,
            facts=study_facts(gathered) if gathered else None,
            tables=_tables(gathered) if gathered else {},
            runs=runs,
            missing=missing or {},
            versions=versions(),
            data=markupsafe.Markup(script_json(_data(gathered, analyses))),
            style=_raw("report.css"),
            scripts=[_raw(name) for name in ("page.js", "plots.js", "disk.js")],
            plotly=markupsafe.Markup(plotly.offline.get_plotlyjs()),
            has=set(analyses),
        )
    )
    write_atomically(path, lambda file: file.write(page.encode()))
    return claims


def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("freeproj.report.page"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"duration": duration_text, "symbols": _symbols}
    return environment


def _symbols(text: str) -> markupsafe.Markup:
    """Sets the symbols of a sentence: d_eff, and minus signs before numbers."""
    escaped = str(markupsafe.escape(text)).replace("d_eff", "d<sub>eff</sub>")
    return markupsafe.Markup(re.sub(r"(?<![\w])-(?=\d)", "−", escaped))


def _raw(name: str) -> markupsafe.Markup:
    """A style sheet or script of this package, as it stands."""
    file = Path(__file__).parent / "templates" / name
    return markupsafe.Markup(file.read_text(encoding="utf-8"))


def _analyses(pictures: Sequence[Picture]) -> dict[str, Numbers]:
    return {
        picture.name: load_numbers(picture.numbers)
        for picture in pictures
        if picture.name in _JUDGED and picture.numbers.exists()
    }


def _tables(gathered: Gathered) -> dict:
    """Table 1 by both ways to count, and Table 2."""
    baselines = table_baselines(gathered.runs)
    results = {
        counting: results_grid(
            result_records(gathered.table, baselines=baselines, counting=counting)
        )
        for counting in ("window", "episodes")
    }
    return {**results, "lengths": lengths_grid(length_records(gathered.table))}


def _data(gathered: Gathered | None, analyses: dict[str, Numbers]) -> dict:
    data = {"disk": disk_data(), "curves": None, "dimension": None, "spectra": None}
    if gathered:
        data["curves"] = {
            "tasks": task_data(gathered),
            "views": curves_data(gathered),
            "adaptation": adaptation_data(gathered),
        }
    if "effective-dimension" in analyses:
        data["dimension"] = dimension_data(analyses["effective-dimension"])
    if "kernel-spectra" in analyses:
        data["spectra"] = spectra_data(analyses["kernel-spectra"])
    return data
