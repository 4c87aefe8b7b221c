"""From runs, published studies and analyses to a folder with figures and one page.

Analyses that exist already are kept, so that interrupted work can be resumed. Figures
of runs are drawn again if their numbers have changed, since there may be more runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from freeproj.experiments.dataset import Dataset, read_dataset
from freeproj.findings.answers import Answer
from freeproj.published import load, names
from freeproj.report.figures import (
    FIGURES,
    OURS,
    FigureSpec,
    compute_figure,
    find,
    make_figure,
    save_figure,
)
from freeproj.report.page.content import (
    Part,
    Picture,
    analyses_part,
    by_preference,
    own_part,
    published_part,
)
from freeproj.report.page.html import write_page
from freeproj.storage.saved import Numbers, load_numbers

__all__ = ["Report", "make_report", "shipped"]


class Report(NamedTuple):
    """The page, its conclusions, and the figures that could not be drawn."""

    page: Path
    answers: tuple[Answer, ...]  # about the user's runs first
    missing: dict[str, str]  # name: why


class _Job(NamedTuple):
    """A figure to draw, and from what."""

    spec: FigureSpec
    folder: Path
    studies: Sequence[Dataset]  # to try, best first; empty for analyses

    @property
    def name(self) -> str:
        return self.spec.name


def make_report(
    out: str | Path,
    runs: str | Path | None = None,
    *,
    published: Sequence[Dataset] | None = None,
    only: Sequence[str] = (),
    questions: Sequence[str] = (),
    follow: Callable[[Sequence[_Job]], Iterable[_Job]] = iter,
) -> Report:
    """Draw what is missing in `out`, write `out/report.html` and say what it shows.

    Args:
        runs: the user's own runs, which the page opens with; None leaves them out.
        published: studies to show; by default those that ship with the package where
            there are no own runs, and none beside own runs.
        only: names of figures; all of them by default.
        questions: further questions for the own runs, as `module:attribute`.
        follow: yields the figures as they are worked on, for a progress display.
    """
    out = Path(out)
    own = None if runs is None else _read_own(runs)
    if published is None:
        published = [] if own is not None else shipped()
    specs = [find(name) for name in only or FIGURES]
    drawn: dict[str, list[Picture]] = {"own": [], "published": [], "analyses": []}
    missing: dict[str, str] = {}
    for job in follow(_jobs(specs, out, own, str(runs or ""), published)):
        picture, why = _draw(job)
        kind = _kind(job, out)
        if picture is not None:
            drawn[kind].append(picture)
        elif kind != "published":
            missing[job.name] = why
    drawn["analyses"] += _earlier(out, drawn["analyses"])
    told = published_part(published, drawn["published"]) if published else None
    mine = None
    if own is not None:
        mine = own_part(own, str(runs), drawn["own"], questions)
    rest = analyses_part(drawn["analyses"])
    page = write_page(out / "report.html", told, mine, rest, missing)
    return Report(page, _conclusions([mine, told, rest]), missing)


def shipped() -> list[Dataset]:
    """Return the studies that ship with the package; there may be none."""
    return [load(name) for name in names()]


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
    studies: Sequence[Dataset],
) -> list[_Job]:
    jobs = []
    for spec in specs:
        if not spec.needs_runs:
            jobs.append(_Job(spec, out, ()))
            continue
        if studies and not spec.own:
            order = by_preference(studies, spec.study)
            jobs.append(_Job(spec, out / "published", order))
        if own is not None:
            told = dataclasses.replace(own, meta={**own.meta, "study": name})
            jobs.append(_Job(spec, out, (told,)))
    return jobs


def _kind(job: _Job, out: Path) -> str:
    if not job.spec.needs_runs:
        return "analyses"
    return "own" if job.folder == out else "published"


def _draw(job: _Job) -> tuple[Picture | None, str]:
    """Draw a figure from the first study that has what it needs."""
    png = job.folder / f"{job.name.replace(':', '.')}.png"
    if not job.spec.needs_runs:
        if not _is_there(png):
            try:
                make_figure(job.name, png, beside=[".svg"])
            except Exception as error:
                if job.name in OURS:
                    raise
                return None, _reason(error)
        return Picture(job.spec, png), ""
    why = ""
    for study in job.studies:
        try:
            numbers = compute_figure(job.name, {}, study)
            if not _shows(png, numbers):
                save_figure(job.spec.load(), numbers, png, [".svg"])
        except Exception as error:
            if job.name in OURS and not isinstance(error, ValueError):
                raise
            why = why or _reason(error)
            continue
        return Picture(job.spec, png, str(study.meta.get("study", ""))), ""
    return None, why


def _reason(error: Exception) -> str:
    """Say why a figure was not drawn; a guest's error gets its kind named."""
    text = " ".join(str(error).split())[:300]
    return text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}"


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


def _conclusions(parts: Sequence[Part | None]) -> tuple[Answer, ...]:
    """Return what each part opens with, then its other answers."""
    there = [part for part in parts if part is not None]
    first = [answer for part in there for answer in part.opening]
    rest = [
        answer
        for part in there
        for answer in part.claims.values()
        if answer.status == "answered" and answer not in first
    ]
    return (*first, *rest)
