"""From runs, published studies and analyses to a folder with figures and one page.

Analyses that exist already are kept, so that interrupted work can be resumed. Figures
of runs are drawn again if their numbers have changed, since there may be more runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from freeproj.experiments.dataset import Dataset, read_dataset
from freeproj.findings.answer import answer
from freeproj.findings.verdicts import Claim
from freeproj.report.figures import (
    FIGURES,
    FigureSpec,
    compute_figure,
    find,
    make_figure,
    save_figure,
)
from freeproj.report.page.content import (
    Part,
    Picture,
    Study,
    analyses_part,
    answer_of,
    by_preference,
    own_part,
    published_part,
    published_studies,
)
from freeproj.report.page.html import write_page
from freeproj.storage.saved import Numbers, load_numbers

__all__ = ["Report", "key_lines", "make_report"]


class Report(NamedTuple):
    """The page, its conclusions, and the figures that could not be drawn."""

    page: Path
    claims: tuple[Claim, ...]  # its answer first
    missing: dict[str, str]  # name: why


class _Job(NamedTuple):
    """A figure to draw, and from what."""

    spec: FigureSpec
    folder: Path
    studies: Sequence[Study]  # to try, best first; empty for analyses

    @property
    def name(self) -> str:
        return self.spec.name


def make_report(
    out: str | Path,
    runs: str | Path | None = None,
    *,
    published: Sequence[Study] | None = None,
    only: Sequence[str] = (),
    again: bool = False,
    follow: Callable[[Sequence[_Job]], Iterable[_Job]] = iter,
) -> Report:
    """Draw what is missing in `out`, write `out/report.html` and say what it shows.

    Args:
        runs: the user's own runs; None leaves them out of the page.
        published: studies to open with; those that ship with the package by default.
        only: names of figures; all of them by default.
        again: compute and draw again what exists already.
        follow: yields the figures as they are worked on, for a progress display.
    """
    out = Path(out)
    own = None if runs is None else _read_own(runs)
    studies = published_studies() if published is None else published
    specs = [find(name) for name in only or FIGURES]
    drawn: dict[str, list[Picture]] = {"own": [], "published": [], "analyses": []}
    missing: dict[str, str] = {}
    for job in follow(_jobs(specs, out, own, str(runs or ""), studies)):
        picture, why = _draw(job, again)
        kind = _kind(job, out)
        if picture is not None:
            drawn[kind].append(picture)
        elif kind == "own":
            missing[job.name] = why
    drawn["analyses"] += _earlier(out, drawn["analyses"])
    told = published_part(studies, drawn["published"]) if studies else None
    mine = own_part(own, str(runs), drawn["own"]) if own is not None else None
    rest = analyses_part(drawn["analyses"])
    lines = answer() if published is None else ()  # they are about shipped studies
    page = write_page(out / "report.html", told, mine, rest, missing, lines)
    return Report(page, _conclusions([told, mine, rest]), missing)


def key_lines(claims: Sequence[Claim], most: int = 4) -> list[str]:
    """Return the most important numbers, each with its verdict."""
    return [
        f"{c.statement} {str(c.outcome).capitalize()}: {c.headline}"
        for c in claims[:most]
    ]


def _read_own(runs: str | Path) -> Dataset:
    dataset = read_dataset(runs)
    if not dataset.runs:
        aside = f" ({len(dataset.set_aside)} set aside)" if dataset.set_aside else ""
        raise ValueError(
            f"{runs} holds no runs{aside}; `freeproj sweep quick --out {runs}` makes "
            "some."
        )
    return dataset


def _jobs(
    specs: Sequence[FigureSpec],
    out: Path,
    own: Dataset | None,
    name: str,
    studies: Sequence[Study],
) -> list[_Job]:
    jobs = []
    for spec in specs:
        if not spec.needs_runs:
            jobs.append(_Job(spec, out, ()))
            continue
        if studies:
            order = by_preference(studies, spec.study)
            jobs.append(_Job(spec, out / "published", order))
        if own is not None:
            jobs.append(_Job(spec, out, (Study(name, own, {}),)))
    return jobs


def _kind(job: _Job, out: Path) -> str:
    if not job.spec.needs_runs:
        return "analyses"
    return "own" if job.folder == out else "published"


def _draw(job: _Job, again: bool) -> tuple[Picture | None, str]:
    """Draw a figure from the first study that has what it needs."""
    png = job.folder / f"{job.name.replace(':', '.')}.png"
    if not job.spec.needs_runs:
        if again or not _is_there(png):
            make_figure(job.name, png, beside=[".svg"])
        return Picture(job.spec, png), ""
    why = ""
    for study in job.studies:
        try:
            numbers = compute_figure(job.name, {}, study.dataset)
        except ValueError as error:
            why = why or str(error)
            continue
        if again or not _shows(png, numbers):
            save_figure(job.spec.load(), numbers, png, [".svg"])
        return Picture(job.spec, png, study.name), ""
    return None, why


def _shows(png: Path, numbers: Numbers) -> bool:
    """Whether a figure of exactly these numbers exists: drawing it takes longest."""
    if not (_is_there(png) and png.with_suffix(".svg").is_file()):
        return False
    try:
        drawn = load_numbers(png.with_suffix(".npz"))
    except (OSError, ValueError):
        return False
    same = {name: np.asarray(array) for name, array in numbers.items()}
    return drawn.keys() == same.keys() and all(
        drawn[name].shape == array.shape
        and drawn[name].dtype == array.dtype
        and drawn[name].tobytes() == array.tobytes()
        for name, array in same.items()
    )


def _earlier(out: Path, drawn: Sequence[Picture]) -> list[Picture]:
    """Return analyses drawn earlier; figures of runs may be of other runs by now."""
    names = {picture.name for picture in drawn}
    specs = [s for s in map(find, FIGURES) if not s.needs_runs and s.name not in names]
    found = [Picture(spec, out / f"{spec.name}.png") for spec in specs]
    return [picture for picture in found if _is_there(picture.png)]


def _is_there(png: Path) -> bool:
    return png.exists() and png.with_suffix(".npz").exists()


def _conclusions(parts: Sequence[Part | None]) -> tuple[Claim, ...]:
    """Return the published answer, or that of the own runs, then the other claims."""
    first = next((answer for part in parts if (answer := answer_of(part))), [])
    rest = [
        claim
        for part in parts
        if part is not None
        for claim in part.claims.values()
        if not claim.missing and claim not in first
    ]
    return (*first, *rest)
