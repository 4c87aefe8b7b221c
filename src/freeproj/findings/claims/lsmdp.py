"""The claim about linearly solvable MDPs, from the numbers of the figure `lsmdp`."""

from __future__ import annotations

from freeproj.findings.answers import (
    Answer,
    Finding,
    combine,
    decide,
    unknown,
)
from freeproj.storage.saved import Numbers

__all__ = ["longer_words_help_lsmdp"]

_SPACES = ("lattice", "tree")
_METRICS = ("KL of the policy", "L1 of the policy", "L2 of z", "L1 of z")


def longer_words_help_lsmdp(numbers: Numbers | None) -> Answer:
    """Ask whether the longest words bring z and the policy nearer than ℓ = 1 does."""
    missing = "Not computed; `freeproj figure lsmdp` does."
    findings = [unknown("lattice and tree", missing)]
    if numbers is not None:
        findings = [
            _finding(numbers, space, metric)
            for space in _SPACES
            for metric in range(len(_METRICS))
        ]
    return Answer(
        name="lsmdp",
        statement="In linearly solvable MDPs longer words bring the averaged solution "
        "nearer to the optimum, on lattice and tree.",
        source="Linearly Solvable MDP, appendix E, Fig. 4",
        rule="Holds if all four distances fall from ℓ = 1 to the longest word, in both "
        "state spaces, with 95 % intervals above zero; does not if one rises.",
        numbers=_told(numbers, findings),
        findings=tuple(findings),
        outcome=combine(finding.outcome for finding in findings),
    )


def _finding(numbers: Numbers, space: str, metric: int) -> Finding:
    """Return the fall in per cent over many seeds; the remark has the paper's few."""
    fall, interval = _fall(numbers, f"{space}_many", metric)
    _, few = _fall(numbers, space, metric)
    nothing = -100 * float(numbers[f"{space}_many_change"][metric, -1])
    nothing = round(nothing, 1) + 0.0  # no -0.0
    return Finding(
        about=f"{space}, {_METRICS[metric]}",
        outcome=decide(interval),
        value=fall,
        interval=interval,
        unit=f"% nearer at ℓ = {numbers['lengths'][-1]} than at ℓ = 1",
        basis=f"{numbers['n_seeds_many']} seeds in pairs, bootstrap; reading "
        f"'{numbers['reading']}' of the equation.",
        remark=f"With {numbers['n_seeds']} seeds, as in the paper: [{few[0]:.1f}, "
        f"{few[1]:.1f}] %. The constant z, which knows no solution: "
        f"{nothing:+.1f} %.",
    )


def _fall(
    numbers: Numbers, prefix: str, metric: int
) -> tuple[float, tuple[float, float]]:
    # The last column is z = const; the longest word stands before it.
    change, low, high = (
        100 * float(numbers[f"{prefix}_{name}"][metric, -2])
        for name in ("change", "change_low", "change_high")
    )
    return -change, (-high, -low)


def _told(numbers: Numbers | None, findings: list[Finding]) -> str:
    if numbers is None:
        return "No numbers."
    falls = [finding.value for finding in findings]
    return (
        f"From ℓ = 1 to ℓ = {numbers['lengths'][-1]} distances change by "
        f"{-max(falls):+.1f} % to {-min(falls):+.1f} %."
    )
