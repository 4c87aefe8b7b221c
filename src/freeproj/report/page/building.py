"""From a folder of runs and the analyses to a folder with pictures and one page.

What is there already is kept, so that work that was broken off goes on; pictures of
runs are drawn anew each time, as there may be more runs by now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from freeproj.report.figures import REGISTRY, FigureSpec, find, make_figure
from freeproj.report.page.html import Picture, write_page
from freeproj.report.paper.run_numbers import read_runs
from freeproj.report.paper.verdicts import Claim

__all__ = ["Report", "key_lines", "make_report"]


class Report(NamedTuple):
    """The page, what it concludes, and the pictures that it could not have."""

    page: Path
    claims: tuple[Claim, ...]
    missing: dict[str, str]  # name: why


def make_report(
    out: str | Path,
    runs: str | Path | None = None,
    *,
    only: Sequence[str] = (),
    again: bool = False,
    follow: Callable[[Sequence[FigureSpec]], Iterable[FigureSpec]] = iter,
) -> Report:
    """Draws what is missing in `out`, writes `out/report.html` and says what it shows.

    Args:
        runs: a folder of training runs; without it the page has the analyses only.
        only: names of pictures; all of them by default.
        again: compute anew what is already there.
        follow: yields the pictures as they are worked on, for a progress display.
    """
    out = Path(out)
    gathered = None if runs is None else read_runs(runs)
    specs = [find(name) for name in only or REGISTRY]
    specs = [spec for spec in specs if runs is not None or not spec.needs_runs]
    drawn, missing = set(), {}
    for spec in follow(specs):
        try:
            _draw(spec, out, runs, again)
            drawn.add(spec.name)
        except ValueError as error:
            if not spec.needs_runs:
                raise
            missing[spec.name] = str(error)  # these runs have nothing to draw it from
    # Analyses of an earlier call are shown too; pictures of runs could be of others.
    pictures = [
        _picture(spec, out)
        for spec in REGISTRY.values()
        if spec.name in drawn or (not spec.needs_runs and _is_there(spec, out))
    ]
    page = out / "report.html"
    claims = write_page(page, pictures, gathered, runs=str(runs or ""), missing=missing)
    return Report(page, claims, missing)


def key_lines(claims: Sequence[Claim]) -> list[str]:
    """Returns the three most important numbers, each with its verdict."""
    names = {
        "effective-dimension": "Effective dimension",
        "theory": "Theory",
        "frp-beats-rp": "FRP against RP",
    }
    return [
        f"{names[claim.name]}: {claim.headline} ({claim.verdict.value})"
        for claim in claims
        if claim.name in names
    ]


def _picture(spec: FigureSpec, out: Path) -> Picture:
    png = out / f"{spec.name}.png"
    return Picture(spec.name, spec.title, png, png.with_suffix(".npz"))


def _is_there(spec: FigureSpec, out: Path) -> bool:
    picture = _picture(spec, out)
    return picture.png.exists() and picture.numbers.exists()


def _draw(spec: FigureSpec, out: Path, runs: str | Path | None, again: bool) -> None:
    png = _picture(spec, out).png
    if spec.needs_runs:
        make_figure(spec.name, png, options={"runs": str(runs)})
    elif again or not _is_there(spec, out):
        make_figure(spec.name, png)
