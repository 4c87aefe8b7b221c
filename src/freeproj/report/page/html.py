"""One self-contained page: everything in one file, readable from disk, offline.

Texts from run folders go through the templates, which escape them; data for the charts
goes through `script_json`. The page's content policy forbids it any network request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import jinja2
import markupsafe

from freeproj.findings.facts import versions
from freeproj.findings.labels import GLOSSARY, duration
from freeproj.report.page.content import Part, Picture
from freeproj.report.page.forest import forests
from freeproj.report.page.widgets import WIDGETS, script_json
from freeproj.storage.files import write_atomically

__all__ = ["SECTIONS", "write_page"]

# The sections of the analyses: name, title, and what a reader has to know first.
SECTIONS = {
    "kernel": (
        "The kernel: longer words, fewer dimensions",
        "Averaging the projections over all n^ℓ words gives a kernel K. Its effective "
        "dimension d_eff = Tr K(K+γ)⁻¹ counts the directions that survive a ridge γ. "
        "With the number of words held fixed, longer words over fewer generators "
        "lower it.",
    ),
    "planning": (
        "Linearly solvable MDPs",
        "No learning here: the solution z* of a small planning problem is averaged "
        "over permutations of its states, one for each word of length ℓ. The figures "
        "show how far the average is from the optimum.",
    ),
    "words": (
        "Words and their prefixes",
        "The free group with two generators, drawn in the Poincaré disk: every vertex "
        "is a word, every edge a letter. Two words follow the same path from the "
        "centre for as long as their letters agree.",
    ),
    "appendix": ("Further figures", ""),
}
_SCRIPTS = ("page.js", "charts.js", "kernel.js", "disk.js")
_TERMS = re.compile(
    r"\b(" + "|".join(sorted(map(re.escape, GLOSSARY), key=len, reverse=True)) + r")\b"
)


def write_page(
    path: str | Path,
    published: Part | None,
    own: Part | None,
    analyses: Part,
    missing: Mapping[str, str] | None = None,
) -> Path:
    """Write the page of published studies, own runs and analyses.

    Args:
        missing: figures that could not be drawn, and why.
    """
    data = {}
    for picture in analyses.pictures:
        if picture.name in WIDGETS:
            data[picture.name] = WIDGETS[picture.name](picture.numbers)
    page = (
        _templates()
        .get_template("report.html.jinja")
        .render(
            published=published,
            own=own,
            analyses=analyses,
            first=own or published,
            sections=SECTIONS,
            missing=missing or {},
            live=data,
            forests=forests,
            versions=versions(),
            data=markupsafe.Markup(script_json(data)),
            style=_raw("report.css"),
            scripts=[_raw(name) for name in _SCRIPTS],
        )
    )
    path = Path(path)
    write_atomically(path, lambda file: file.write(page.encode()))
    return path


def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("freeproj.report.page"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "duration": duration,
        "symbols": _symbols,
        "explained": _explained,
    }
    environment.tests["picture"] = lambda thing: isinstance(thing, Picture)
    return environment


def _symbols(text: str) -> markupsafe.Markup:
    """Set the symbols of a sentence: d_eff, n^ℓ, and minus signs before numbers."""
    escaped = str(markupsafe.escape(text)).replace("d_eff", "d<sub>eff</sub>")
    escaped = escaped.replace("n^ℓ", "n<sup>ℓ</sup>")
    return markupsafe.Markup(re.sub(r"(?<![\w])-(?=\d)", "−", escaped))


def _explained(text: str) -> markupsafe.Markup:
    """Mark the words of the glossary, each where it first appears, for hovering."""
    seen: set[str] = set()

    def mark(match: re.Match) -> str:
        term = match[1]
        if term in seen:
            return term
        seen.add(term)
        meaning = markupsafe.escape(GLOSSARY[term])
        return f'<abbr title="{meaning}" tabindex="0">{term}</abbr>'

    return markupsafe.Markup(_TERMS.sub(mark, str(_symbols(text))))


def _raw(name: str) -> markupsafe.Markup:
    """Return a style sheet or script of this package, not escaped."""
    file = Path(__file__).parent / "templates" / name
    return markupsafe.Markup(file.read_text(encoding="utf-8"))
