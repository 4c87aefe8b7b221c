"""Linearly solvable MDPs: state spaces, their solutions, and averages over words.

(Section 4.4 and appendix E of the paper.)
"""

from freeproj.lsmdp.aggregation import (
    METRICS,
    Distances,
    Estimate,
    LengthComparison,
    aggregate,
    compare_lengths,
    distances,
    mean_permutation,
    paired_changes,
)
from freeproj.lsmdp.solving import READINGS, Solution, policy, sample_costs, solve
from freeproj.lsmdp.spaces import StateSpace, binary_tree, graph, lattice

__all__ = ["METRICS", "READINGS", "Distances", "Estimate", "LengthComparison"]
__all__ += ["Solution", "StateSpace", "aggregate", "binary_tree", "compare_lengths"]
__all__ += ["distances", "graph", "lattice", "mean_permutation", "paired_changes"]
__all__ += ["policy", "sample_costs", "solve"]
