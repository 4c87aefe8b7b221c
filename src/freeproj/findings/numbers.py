"""The paper's own numbers, as printed: Table 1 (results) and Table 2 (word lengths).

Source: "Free Random Projection for In-Context Reinforcement Learning", Table 1
("Summary of metrics across tasks", label tab:final-results-test) and Table 2 ("Optimal
word length", label tab:optimal_depth). Ten seeds, 228 updates; RP has ℓ = 1, FRP the
length of Table 2. The paper does not say whether its std divides by n or by n - 1.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "N_EPISODES",
    "N_SEEDS",
    "N_UPDATES",
    "PAPER_LENGTHS",
    "PAPER_RESULTS",
    "PAPER_TASKS",
    "PaperNumbers",
    "PaperResult",
]

N_SEEDS = 10
N_UPDATES = 228
# Environments of an evaluation. Each finishes at most one episode of the card tasks in
# the window of 1024 steps; how many were counted in each task is not reported.
N_EPISODES = 64

PAPER_TASKS = (
    "StatelessCartPole",
    "HigherLower",
    "Minesweeper",
    "RepeatFirst",
    "RepeatPrevious",
)


class PaperNumbers(NamedTuple):
    """Mean ± std, median and IQM over ten seeds."""

    mean: float
    std: float
    median: float
    iqm: float


class PaperResult(NamedTuple):
    """One row of Table 1."""

    mmer: PaperNumbers
    raw: PaperNumbers


# Per task: method, memory; MMER mean, std, median, IQM; raw mean, std, median, IQM.
_TABLE_1 = """
StatelessCartPole
RP  gru   2.90 0.42  2.74  2.79    2.10 0.22   2.03   2.03
RP  s5    2.87 0.29  2.77  2.78    2.28 0.30   2.18   2.21
FRP gru   4.08 0.62  4.05  4.16    3.63 0.73   3.58   3.68
FRP s5    3.85 0.55  3.87  3.92    3.35 0.49   3.55   3.52
HigherLower
RP  gru   0.18 0.29  0.05  0.06   -1.84 1.03  -2.37  -2.32
RP  s5    0.08 0.14  0.05  0.04   -2.80 1.49  -2.79  -2.84
FRP gru   2.13 1.12  1.88  2.03    0.65 1.50   0.78   0.62
FRP s5    1.04 0.82  1.08  1.05   -0.21 0.86  -0.31  -0.30
Minesweeper
RP  gru  -1.31 0.50 -1.45 -1.44   -1.64 0.70  -1.67  -1.63
RP  s5   -1.77 0.65 -1.69 -1.75   -2.06 0.69  -2.02  -2.05
FRP gru  -0.69 0.56 -0.75 -0.75   -0.89 0.72  -0.98  -0.96
FRP s5   -1.39 0.38 -1.37 -1.37   -1.63 0.51  -1.56  -1.58
RepeatFirst
RP  gru  -4.88 0.47 -4.84 -4.87   -8.24 1.18  -8.18  -8.05
RP  s5   -6.64 0.52 -6.55 -6.58   -8.11 0.14  -8.12  -8.12
FRP gru  -4.48 0.76 -4.73 -4.72   -8.21 0.92  -8.43  -8.29
FRP s5   -6.50 0.40 -6.63 -6.63   -8.11 0.20  -8.11  -8.12
RepeatPrevious
RP  gru  -7.66 0.28 -7.84 -7.76  -11.61 1.82 -11.97 -12.00
RP  s5   -7.87 0.03 -7.88 -7.88  -11.43 1.07 -11.35 -11.41
FRP gru  -6.04 1.65 -6.32 -6.26   -6.81 2.07  -6.74  -6.71
FRP s5   -6.51 1.10 -6.35 -6.42   -8.05 1.75  -7.93  -7.83
"""

_TABLE_2 = {"gru": (4, 8, 4, 2, 2), "s5": (4, 4, 8, 2, 4)}


def _read_results(text: str) -> dict[tuple[str, str, str], PaperResult]:
    results, task = {}, ""
    for line in text.strip().splitlines():
        fields = line.split()
        if len(fields) == 1:
            task = fields[0]
            continue
        method, memory, *numbers = fields
        values = [float(number) for number in numbers]
        mmer, raw = PaperNumbers(*values[:4]), PaperNumbers(*values[4:])
        results[task, method, memory] = PaperResult(mmer, raw)
    return results


# (task, "RP" or "FRP", memory): the row of Table 1.
PAPER_RESULTS = _read_results(_TABLE_1)
# (task, memory): ℓ* of Table 2, chosen by test MMER from 1, 2, 4, 8.
PAPER_LENGTHS = {
    (task, memory): length
    for memory, lengths in _TABLE_2.items()
    for task, length in zip(PAPER_TASKS, lengths, strict=True)
}
