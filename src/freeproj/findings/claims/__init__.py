"""The questions by name, and their answers from the published studies.

A question about runs takes any dataset, and says what is missing where the runs that it
needs are not there. Your own: `CLAIMS.add(name, Question(...))`.
"""

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

__all__ = ["CLAIMS", "Analysis", "ask_analyses", "ask_apart", "ask_published"]
__all__ += ["ask_runs", "opening"]


@dataclass(frozen=True)
class Analysis:
    """A question about computed numbers: `judge` takes those of each of `figures`."""

    name: str
    judge: Callable[..., Answer]
    figures: tuple[str, ...]


_DIMENSION, _SPECTRA = "effective-dimension", "kernel-spectra"
CLAIMS: Registry[Question | Analysis] = Registry("claim")
for _claim in (
    *invariance.QUESTIONS,
    *training.QUESTIONS,
    Analysis(_DIMENSION, analyses.effective_dimension_falls, (_DIMENSION,)),
    Analysis("theory", analyses.theory_matches, (_DIMENSION, _SPECTRA)),
    Analysis("lsmdp", analyses.longer_words_help_lsmdp, ("lsmdp",)),
):
    CLAIMS.add(_claim.name, _claim)


def ask_runs(dataset: Dataset, extra: Iterable[str] = ()) -> dict[str, Answer]:
    """Put every question, and extra ones (`module:attribute`), to runs; none raises."""
    found: dict[str, Answer] = {}
    for name, question in _questions(*extra).items():
        found |= ask_apart(name, question, dataset)
    return found


def ask_apart(name: str, question: Question, dataset: Dataset) -> dict[str, Answer]:
    """Put a question to the runs of each memory: what holds for one may not for others.

    The first that answers has the question's name, the others theirs added to it.
    """
    memories = dataset.group_by("memory") if dataset.runs else {}
    asked = {str(m): ask(question, part) for (m,), part in memories.items()}
    found = {m: each for m, each in asked.items() if each.status == "answered"}
    if not found:
        return {name: ask(question, dataset)}
    titles = {memory: value_text("memory", memory) for memory in found}
    if len(memories) > 1:
        found = {m: answer.noted(titles[m]) for m, answer in found.items()}
    first, *others = found
    alike = {m: found[m].outcome == found[first].outcome for m in others}
    outcomes = {m: "the same" if alike[m] else found[m].outcome for m in others}
    also = "; ".join(f"{titles[m]}: {outcomes[m]}" for m in others)
    names = {f"{name}-{m.rsplit(':', 1)[-1]}": found[m] for m in others}
    told = {own: replace(each, name=own, opens=False) for own, each in names.items()}
    return {name: replace(found[first], also=also)} | told


def ask_published(studies: Iterable[Dataset] | None = None) -> dict[str, Answer]:
    """Return each question's answer from its study, of those given or that ship."""
    asked, found = _questions(), {}
    if studies is None:
        wanted = {each.study for each in asked.values() if each.study}
        named = {n: load(n) if n in names() else Dataset(()) for n in wanted}
    else:
        named = {study.meta.get("study"): study for study in studies}
    for name, question in asked.items():
        if question.study in named:
            found |= _asked(name, named[question.study])
    return found


def opening() -> tuple[Answer, ...]:
    """Return the answers that README, docs and page open with."""
    found = ask_published().values()
    return tuple(each for each in found if each.opens and each.status == "answered")


def ask_analyses(found: Mapping[str, Numbers]) -> dict[str, Answer]:
    """Return the answers about analyses whose figures have all been found, by name."""
    return {
        each.name: each.judge(*(found[figure] for figure in each.figures))
        for each in map(CLAIMS.resolve, CLAIMS)
        if isinstance(each, Analysis) and found.keys() >= {*each.figures}
    }


def _questions(*extra: str) -> dict[str, Question]:
    """Return the questions about runs by name."""
    known = {name: CLAIMS.resolve(name) for name in (*CLAIMS, *extra)}
    return {name: each for name, each in known.items() if isinstance(each, Question)}


@functools.lru_cache(maxsize=128)
def _asked(name: str, study: Dataset) -> dict[str, Answer]:
    return ask_apart(name, _questions()[name], study)
