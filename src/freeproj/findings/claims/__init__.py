"""The claims by name: evidence goes in, a `Claim` with its verdict comes out.

A claim about runs takes any dataset, and says what is missing where the axes it needs
are not there. Further ones: `CLAIMS.add(name, ClaimSpec(...))`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from freeproj.experiments.dataset import Dataset
from freeproj.findings.claims.adapting import (
    adapts_in_context,
    beats_chance_on_new_tasks,
    length_in_context,
)
from freeproj.findings.claims.kernel import (
    effective_dimension_falls,
    theory_matches,
)
from freeproj.findings.claims.lengths import (
    best_length_exceeds_one,
    free_beats_plain,
    free_helps_new_tasks,
)
from freeproj.findings.claims.lsmdp import longer_words_help_lsmdp
from freeproj.findings.claims.signs import (
    at_chance_without_reward,
    fixed_bases_carry_nothing_over,
    length_changes_nothing,
    signs_explain_table,
    storage_helps,
)
from freeproj.findings.verdicts import Claim
from freeproj.storage.names import Registry
from freeproj.storage.saved import Numbers

__all__ = ["CLAIMS", "ClaimSpec", "judge_analyses", "judge_runs"]


@dataclass(frozen=True)
class ClaimSpec:
    """A claim: the function that judges it, and where it stands on the page.

    Args:
        judge: takes a dataset, or the numbers of the figures named in `figures`.
        section: of the page.
        study: the published study that answers it best.
        figures: analyses whose numbers it needs; empty for claims about runs.
        answers: whether it belongs to the answer that the page opens with.
    """

    judge: Callable[..., Claim]
    section: str
    study: str = ""
    figures: tuple[str, ...] = ()
    answers: bool = False


CLAIMS: Registry[ClaimSpec] = Registry("claim")
CLAIMS.add(
    "sign-slip", ClaimSpec(signs_explain_table, "training", "why-table-1", answers=True)
)
CLAIMS.add(
    "haar-length",
    ClaimSpec(length_changes_nothing, "training", "as-written", answers=True),
)
CLAIMS.add(
    "fixed-bases",
    ClaimSpec(fixed_bases_carry_nothing_over, "training", "why-table-1", answers=True),
)
CLAIMS.add(
    "chance-without-reward",
    ClaimSpec(at_chance_without_reward, "training", "why-table-1", answers=True),
)
CLAIMS.add("storage", ClaimSpec(storage_helps, "training", "storage", answers=True))
CLAIMS.add("frp-beats-rp", ClaimSpec(free_beats_plain, "training", "as-written"))
CLAIMS.add("best-length", ClaimSpec(best_length_exceeds_one, "training", "as-written"))
CLAIMS.add("in-context", ClaimSpec(adapts_in_context, "training", "in-context"))
CLAIMS.add("in-context-length", ClaimSpec(length_in_context, "training", "in-context"))
CLAIMS.add(
    "new-task", ClaimSpec(beats_chance_on_new_tasks, "training", "held-out-task")
)
CLAIMS.add(
    "held-out-task", ClaimSpec(free_helps_new_tasks, "training", "held-out-task")
)
CLAIMS.add(
    "effective-dimension",
    ClaimSpec(effective_dimension_falls, "kernel", figures=("effective-dimension",)),
)
CLAIMS.add(
    "theory",
    ClaimSpec(
        theory_matches, "kernel", figures=("effective-dimension", "kernel-spectra")
    ),
)
CLAIMS.add("lsmdp", ClaimSpec(longer_words_help_lsmdp, "planning", figures=("lsmdp",)))


def judge_runs(dataset: Dataset) -> dict[str, Claim]:
    """Return the claims about runs, judged on a dataset."""
    specs = {name: CLAIMS.resolve(name) for name in CLAIMS}
    return {n: spec.judge(dataset) for n, spec in specs.items() if not spec.figures}


def judge_analyses(analyses: Mapping[str, Numbers]) -> dict[str, Claim]:
    """Return the claims about analyses, from the numbers of their figures by name."""
    found = {}
    for name in CLAIMS:
        spec = CLAIMS.resolve(name)
        if spec.figures:
            claim = spec.judge(*(analyses.get(figure) for figure in spec.figures))
            lacks = not any(figure in analyses for figure in spec.figures)
            what = f"`freeproj figure {spec.figures[0]}`." if lacks else ""
            found[name] = replace(claim, missing=what)
    return found
