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
from freeproj.findings.claims import analyses, invariance, training
from freeproj.findings.labels import value_text
from freeproj.findings.questions import Question
from freeproj.published import load, names
from freeproj.storage.names import Registry
from freeproj.storage.saved import Numbers

__all__ = [
    "CLAIMS",
    "Analysis",
    "ask_analyses",
    "ask_apart",
    "ask_published",
    "ask_runs",
    "opening",
]


@dataclass(frozen=True)
class Analysis:
    """A question about computed numbers rather than runs.

    Args:
        judge: takes the numbers of the figures named in `figures`.
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
        analyses.effective_dimension_falls,
        ("effective-dimension",),
        "kernel",
    ),
    Analysis(
        "theory",
        analyses.theory_matches,
        ("effective-dimension", "kernel-spectra"),
        "kernel",
    ),
    Analysis("lsmdp", analyses.longer_words_help_lsmdp, ("lsmdp",), "planning"),
):
    CLAIMS.add(_analysis.name, _analysis)


def ask_runs(dataset: Dataset, extra: Iterable[str] = ()) -> dict[str, Answer]:
    """Put every question about runs to a dataset; none of them raises.

    Args:
        extra: further questions, as `module:attribute`.
    """
    found: dict[str, Answer] = {}
    for name in (*CLAIMS, *extra):
        question = CLAIMS.resolve(name)
        if isinstance(question, Question):
            found |= ask_apart(name, question, dataset)
    return found


def ask_apart(name: str, question: Question, dataset: Dataset) -> dict[str, Answer]:
    """Put a question to the runs of each memory: what holds for one may not for others.

    The first that answers has the question's name, the others theirs added to it.
    """
    memories = dataset.group_by("memory") if dataset.runs else {}
    found = {str(m): ask(question, part) for (m,), part in memories.items()}
    found = {m: each for m, each in found.items() if each.status == "answered"}
    if len(found) < 2:
        return {name: ask(question, dataset)}
    told = {m: _with_memory(m, each) for m, each in found.items()}
    first, *others = told
    also = "; ".join(f"{_memory(m)}: {told[m].outcome}" for m in others)
    short = told[first].short and f"{told[first].short}; {also}"
    told[first] = replace(told[first], short=short)
    names = {first: name} | {m: f"{name}-{m.rsplit(':', 1)[-1]}" for m in others}
    return {
        names[m]: replace(each, opens=each.opens and m == first)
        for m, each in told.items()
    }


def _memory(memory: str) -> str:
    return value_text("memory", memory)


def _with_memory(memory: str, answer: Answer) -> Answer:
    """Name the memory in all that is said."""
    end = f" ({_memory(memory)})."

    def named(text: str) -> str:
        return text and text.removesuffix(".") + end

    return replace(answer, statement=named(answer.statement), said=named(answer.said))


def ask_published(studies: Iterable[Dataset] | None = None) -> dict[str, Answer]:
    """Return each question's answer from the study that it names.

    Args:
        studies: by default those that ship; questions to others are left out.
    """
    asked = {n: q for n in CLAIMS if isinstance(q := CLAIMS.resolve(n), Question)}
    if studies is None:
        wanted = dict.fromkeys(each.study for each in asked.values() if each.study)
        studies = (load(n) if n in names() else _none(n) for n in wanted)
    named = {study.meta.get("study"): study for study in studies}
    found: dict[str, Answer] = {}
    for name, question in asked.items():
        if question.study in named:
            found |= _asked(name, named[question.study])
    return found


def opening() -> tuple[Answer, ...]:
    """Return the answers that README, docs and page open with."""
    found = ask_published().values()
    return tuple(each for each in found if each.opens and each.status == "answered")


def ask_analyses(found: Mapping[str, Numbers]) -> dict[str, Answer]:
    """Return the answers about analyses for which all figures have been computed.

    Args:
        found: the numbers of figures, by name.
    """
    asked = (CLAIMS.resolve(name) for name in CLAIMS)
    return {
        each.name: replace(
            each.judge(*(found[figure] for figure in each.figures)),
            section=each.section,
        )
        for each in asked
        if isinstance(each, Analysis) and found.keys() >= {*each.figures}
    }


@functools.lru_cache(maxsize=128)
def _asked(name: str, study: Dataset) -> dict[str, Answer]:
    question = CLAIMS.resolve(name)
    assert isinstance(question, Question)
    return ask_apart(name, question, study)


@functools.cache
def _none(name: str) -> Dataset:
    return Dataset((), meta={"study": name})
