"""From runs, published studies and analyses to a folder with figures and one page.

Analyses that exist already are kept, so that interrupted work can be resumed. Figures
of runs are drawn again if their numbers have changed, since there may be more runs.
"""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from freeproj.experiments.dataset import Dataset, read_dataset
from freeproj.findings.answers import Answer
from freeproj.published import load, names
from freeproj.report.figures import FIGURES, OURS, FigureSpec, find, make_figure
from freeproj.report.page import content
from freeproj.report.page.content import Picture
from freeproj.report.page.html import write_page

__all__ = ["Report", "make_report", "shipped"]


class Report(NamedTuple):
    """The page, its conclusions, and the figures that could not be drawn."""

    page: Path
    answers: tuple[Answer, ...]  # about the user's runs first
    missing: dict[str, str]  # name: why


class _Job(NamedTuple):
    """A figure to draw, and from what."""

    spec: FigureSpec
    kind: str  # `own`, `published` or `analyses`
    folder: Path
    studies: Sequence[Dataset | None]  # to try, best first; analyses need none

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
    out, own = Path(out), None if runs is None else _read_own(runs)
    if published is None:
        published = [] if own is not None else shipped()
    specs = [find(name) for name in only or FIGURES]
    drawn: dict[str, list[Picture]] = {"own": [], "published": [], "analyses": []}
    missing: dict[str, str] = {}
    for job in follow(_jobs(specs, out, own, published)):
        picture, why = _draw(job)
        if picture is not None:
            drawn[job.kind].append(picture)
        elif job.kind != "published":
            missing[job.name] = why
    drawn["analyses"] += _earlier(out, drawn["analyses"])
    known = content.published_part(published, drawn["published"]) if published else None
    mine = content.own_part(own, drawn["own"], questions) if own is not None else None
    rest = content.analyses_part(drawn["analyses"])
    page = write_page(out / "report.html", known, mine, rest, missing)
    there = [part for part in (mine, known, rest) if part is not None]
    told = [answer for part in there for answer in part.opening]
    others = [answer for part in there for answer in part.claims.values()]
    told += [a for a in others if a.status == "answered" and a not in told]
    return Report(page, tuple(told), missing)


def shipped() -> list[Dataset]:
    """Return the studies that ship with the package; there may be none."""
    return [load(name) for name in names()]


def _read_own(runs: str | Path) -> Dataset:
    dataset = read_dataset(runs)
    if not dataset.runs:
        aside = f" ({len(dataset.set_aside)} set aside)" if dataset.set_aside else ""
        makes = f"`freeproj sweep quick --out {runs}` makes some"
        raise ValueError(f"{runs} holds no runs{aside}; {makes}.")
    return dataclasses.replace(dataset, meta={**dataset.meta, "study": str(runs)})


def _jobs(
    specs: list[FigureSpec], out: Path, own: Dataset | None, studies: Sequence[Dataset]
) -> list[_Job]:
    jobs = []
    for spec in specs:
        if not spec.needs_runs:
            jobs.append(_Job(spec, "analyses", out, [None]))
            continue
        if studies and not spec.own:
            best = sorted(  # the study that it shows best, then those with most runs
                studies, key=lambda s: (s.meta.get("study") != spec.study, -len(s))
            )
            jobs.append(_Job(spec, "published", out / "published", best))
        if own is not None:
            jobs.append(_Job(spec, "own", out, [own]))
    return jobs


def _draw(job: _Job) -> tuple[Picture | None, str]:
    """Draw a figure from the first study that has what it needs."""
    png, why = job.folder / f"{job.name.replace(':', '.')}.png", ""
    if job.kind == "analyses" and _is_there(png):
        return Picture(job.spec, png), ""
    for study in job.studies:
        try:
            make_figure(job.name, png, dataset=study, beside=[".svg"], keep=True)
        except Exception as error:
            expected = isinstance(error, ValueError)
            if job.name in OURS and not (expected and study is not None):
                raise
            kind = "" if expected else f"{type(error).__name__}: "  # a guest's error
            why = why or kind + " ".join(str(error).split())[:300]
        else:
            source = "" if study is None else str(study.meta.get("study", ""))
            return Picture(job.spec, png, source), ""
    return None, why


def _earlier(out: Path, drawn: Sequence[Picture]) -> list[Picture]:
    """Return analyses drawn earlier; figures of runs may be of other runs by now."""
    names = {picture.name for picture in drawn}
    specs = [s for s in map(find, FIGURES) if not s.needs_runs and s.name not in names]
    found = [Picture(spec, out / f"{spec.name}.png") for spec in specs]
    return [picture for picture in found if _is_there(picture.png)]


def _is_there(png: Path) -> bool:
    return png.exists() and png.with_suffix(".npz").exists()
