"""The questions by name, and their answers from the published studies.

A question about runs takes any dataset, and says what is missing where the runs that it
needs are not there. Your own: `CLAIMS.add(name, Question(...))`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from freeproj.experiments.dataset import Dataset
from freeproj.findings.answers import Answer
from freeproj.findings.asking import ask
from freeproj.findings.claims import invariance, training
from freeproj.findings.claims.kernel import effective_dimension_falls, theory_matches
from freeproj.findings.claims.lsmdp import longer_words_help_lsmdp
from freeproj.findings.questions import Question
from freeproj.published import load, names
from freeproj.storage.names import Registry
from freeproj.storage.saved import Numbers

__all__ = [
    "CLAIMS",
    "Analysis",
    "ask_analyses",
    "ask_published",
    "ask_runs",
    "opening",
]


@dataclass(frozen=True)
class Analysis:
    """A question about computed numbers rather than runs.

    Args:
        judge: takes the numbers of the figures named in `figures`, or None.
        section: of the page.
    """

    name: str
    judge: Callable[..., Answer]
    figures: tuple[str, ...]
    section: str


CLAIMS: Registry[Question | Analysis] = Registry("claim")
for _question in (*invariance.QUESTIONS, *training.QUESTIONS):
    CLAIMS.add(_question.name, _question)
for _analysis in (
    Analysis(
        "effective-dimension",
        effective_dimension_falls,
        ("effective-dimension",),
        "kernel",
    ),
    Analysis(
        "theory", theory_matches, ("effective-dimension", "kernel-spectra"), "kernel"
    ),
    Analysis("lsmdp", longer_words_help_lsmdp, ("lsmdp",), "planning"),
):
    CLAIMS.add(_analysis.name, _analysis)


def ask_runs(dataset: Dataset, extra: Iterable[str] = ()) -> dict[str, Answer]:
    """Put every question about runs to a dataset; none of them raises.

    Args:
        extra: further questions, as `module:attribute`.
    """
    found = {name: CLAIMS.resolve(name) for name in (*CLAIMS, *extra)}
    return {
        name: ask(each, dataset)
        for name, each in found.items()
        if isinstance(each, Question)
    }


def ask_published() -> dict[str, Answer]:
    """Return each question's answer from the published study that it names."""
    return {
        name: _published(name)
        for name in CLAIMS
        if isinstance(each := CLAIMS.resolve(name), Question) and each.study
    }


def opening() -> tuple[Answer, ...]:
    """Return the answers that README, docs and page open with."""
    found = ask_published()
    opens = [n for n in found if getattr(CLAIMS.resolve(n), "opens", False)]
    return tuple(found[name] for name in opens if found[name].status == "answered")


def ask_analyses(analyses: Mapping[str, Numbers]) -> dict[str, Answer]:
    """Return the answers about analyses, from the numbers of their figures by name."""
    found = {}
    for name in CLAIMS:
        each = CLAIMS.resolve(name)
        if isinstance(each, Analysis):
            answer = each.judge(*(analyses.get(figure) for figure in each.figures))
            lacks = not any(figure in analyses for figure in each.figures)
            what = f"`freeproj figure {each.figures[0]}`." if lacks else ""
            found[name] = replace(answer, missing=what)
    return found


@functools.cache
def _published(name: str) -> Answer:
    question = CLAIMS.resolve(name)
    assert isinstance(question, Question)
    if question.study not in names():
        return ask(question, Dataset(()))
    return ask(question, load(question.study))
