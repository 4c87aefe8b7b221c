"""One self-contained page: everything in one file, readable from disk, offline.

Texts from run folders go through the templates, which escape them; data for the page's
widgets goes through `script_json`. The page's content policy forbids it any network
request. Findings are drawn as forest plots.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import markupsafe
import numpy as np

from freeproj.findings.answers import HEADROOM, Finding
from freeproj.findings.labels import GLOSSARY, duration
from freeproj.projection import cayley
from freeproj.report.page.content import Part, Picture, versions
from freeproj.storage.files import write_atomically
from freeproj.storage.saved import Numbers

__all__ = ["disk_data", "forests", "script_json", "write_page"]

_MARK = '<abbr title="{}" tabindex="0">{}</abbr>'
_MARKED = {t: _MARK.format(markupsafe.escape(text), t) for t, text in GLOSSARY.items()}
_LONGEST_FIRST = sorted(map(re.escape, GLOSSARY), key=len, reverse=True)
_TERMS = re.compile(rf"\b(?:{'|'.join(_LONGEST_FIRST)})\b")
_EVERY_FEW = [0, 4, 8, 12, 16, 20, 23]  # points of an edge: enough for a smooth arc


def write_page(
    path: Path, published: Part | None, own: Part | None, analyses: Part, missing: dict
) -> Path:
    """Write the page; `missing` says why figures could not be drawn."""
    drawn = [picture for picture in analyses.pictures if picture.name in _WIDGETS]
    live = {each.name: _WIDGETS[each.name](each.numbers) for each in drawn}
    how: dict[str, Any] = {"autoescape": True, "undefined": jinja2.StrictUndefined}
    how |= {"trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("freeproj.report.page"), **how
    )
    own_filters = {"duration": duration, "symbols": _symbols, "explained": _explained}
    environment.filters |= own_filters
    environment.tests["picture"] = lambda thing: isinstance(thing, Picture)
    parts = {"published": published, "own": own, "analyses": analyses}
    about = {"missing": missing, "live": live, "versions": versions()}
    data = markupsafe.Markup(script_json(live))
    template = environment.get_template("report.html.jinja")
    page = template.render(**parts, **about, forests=forests, data=data)
    write_atomically(path, lambda file: file.write(page.encode()))
    return path


def _symbols(text: str) -> markupsafe.Markup:
    """Set the symbols of a sentence: d_eff, n^ℓ, and minus signs before numbers."""
    escaped = str(markupsafe.escape(text)).replace("d_eff", "d<sub>eff</sub>")
    escaped = escaped.replace("n^ℓ", "n<sup>ℓ</sup>").replace(" %", "\u00a0%")
    return markupsafe.Markup(re.sub(r"(?<![\w])-(?=\d)", "−", escaped))


def _explained(text: str) -> markupsafe.Markup:
    """Mark the words of the glossary, each where it first appears, for hovering."""
    left = dict(_MARKED)
    marked = _TERMS.sub(lambda term: left.pop(term[0], term[0]), str(_symbols(text)))
    return markupsafe.Markup(marked)


def forests(findings: Sequence[Finding]) -> list[SimpleNamespace]:
    """Return a forest plot for each row of consecutive findings with the same unit.

    It has thresholds, bars and ticks, whose positions are per cent of a line's width,
    and by reason the findings `without` a number.
    """
    groups = groupby(findings, key=lambda finding: (finding.unit, finding.thresholds))
    return [_forest(unit, lines, list(group)) for (unit, lines), group in groups]


def _forest(unit: str, lines: tuple, findings: list[Finding]) -> SimpleNamespace:
    known = [finding for finding in findings if math.isfinite(finding.value)]
    without: dict[str, list[str]] = {}
    for finding in (each for each in findings if not math.isfinite(each.value)):
        why = f"{finding.basis} {finding.remark}".strip()
        without.setdefault(why, []).append(finding.about)
    places = [end for each in findings for end in (each.value, *each.ends)]
    finite = [place for place in (*places, *lines, 0.0) if math.isfinite(place)]
    low, high = min(finite), max(finite)
    room = 0.04 * ((high - low) or 1.0)
    start, span = low - room, (high - low) + 2 * room
    scale, sign = (100, " %") if HEADROOM in unit else (1, "")

    def at(place: float) -> float:
        return round(100 * (place - start) / span, 2)

    marks = _ticks(start, start + span) if known else []
    ticks = [(at(mark), _minus(f"{scale * mark:.3g}{sign}")) for mark in marks]
    bars = []
    for each in known:
        left, right = (e if math.isfinite(e) else each.value for e in each.ends)
        text, ends = _texts(each, scale, sign)
        place = {"value": at(each.value), "low": at(left), "high": at(right)}
        bars.append(SimpleNamespace(finding=each, text=text, range=ends, **place))
    plot = {"thresholds": [at(each) for each in lines], "bars": bars, "ticks": ticks}
    return SimpleNamespace(unit=unit, without=without, **plot)


def _ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= 0.999 * rough)
    first = math.ceil(low / step)
    return [i * step for i in range(first, math.floor(high / step) + 1)]


def _texts(finding: Finding, scale: int, unit: str) -> tuple[str, str]:
    """Write value and interval, with enough decimals to tell the ends apart."""
    low, high = finding.ends
    width = scale * (high - low) if high > low else scale * abs(finding.value)
    digits = max(0, 1 - math.floor(math.log10(width / 3))) if width > 0 else 2
    digits = min(digits, 1) if unit else digits

    def text(value: float) -> str:
        return _minus(f"{scale * value:z.{digits}f}")

    ends = "no interval" if math.isnan(low) else f"[{text(low)}, {text(high)}]{unit}"
    return text(finding.value) + unit, ends


def _minus(number: str) -> str:
    return number.replace("-", "−")


def script_json(data: Any) -> str:
    """Return JSON that can stand in a <script> element whatever the texts in it."""
    text = json.dumps(_plain(data), allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _plain(value: Any) -> Any:
    """Round numbers to what a screen can show and turn nan into null."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    return value


def disk_data(depth: int = 5) -> dict[str, Any]:
    """Return the tree of F_2 in the Poincaré disk: points, words, parents, edges."""
    layout = cayley.arc_layout(depth)
    paths = (  # in SVG, y points down
        "L".join(f"{z.real:.4f},{-z.imag:.4f}" for z in points[_EVERY_FEW])
        for points in layout.edges
    )
    letters = [tuple(word[word != 0].tolist()) for word in layout.words]
    index = {word: vertex for vertex, word in enumerate(letters)}
    return {
        "words": [layout.spelled(vertex) for vertex in range(len(letters))],
        "letters": [list(word) for word in letters],
        "parents": [-1, *(index[word[:-1]] for word in letters[1:])],
        "x": np.real(layout.vertices).tolist(),
        "y": np.imag(layout.vertices).tolist(),
        "edges": [f"M{path}" for path in paths],
    }


def _arrays(numbers: Numbers) -> dict[str, Any]:
    return {name: array.tolist() for name, array in numbers.items()}


# By figure: the data of its live version.
_WIDGETS: dict[str, Callable[[Numbers], Any]] = {
    "effective-dimension": _arrays,
    "kernel-spectra": _arrays,
    "cayley": lambda numbers: disk_data(),
}
