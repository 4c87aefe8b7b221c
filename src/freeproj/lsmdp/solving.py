"""The optimal desirability z* and the optimal policy of a linearly solvable MDP.

With passive dynamics p(s'|s), costs c(s) and temperature α, controlling costs
α·KL(π‖p), and the paper prints (section 4.4)

    z(s) = exp(-γ c(s)/α) · Σ_s' p(s'|s) z(s'),     π(s'|s) ∝ p(s'|s) z(s'),

that is z = DPz. On a connected graph every solution of that is zero unless the vertex
of zero cost absorbs, so there are three readings:

- `goal`: the goal absorbs and z = 1 there; then the printed equation holds as it is;
- `perron`: λz = DPz with the largest λ, z positive and of sum 1 (unique up to scale);
- `discounted`: the Bellman equation of discounted costs, z = exp(-γc/α) (Pz)^γ, which
  is not linear.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from freeproj.lsmdp.spaces import StateSpace
from freeproj.storage.checks import within

__all__ = ["READINGS", "Solution", "policy", "sample_costs", "solve"]

READINGS = ("goal", "perron", "discounted")

_MAX_NEWTON_STEPS = 100

_Rows = Float[np.ndarray, "seeds d"]
_Solved = tuple[_Rows, Float[np.ndarray, " seeds"] | float]  # z*, and λ


class Solution(NamedTuple):
    """What `solve` returns; leading axes are those of the costs.

    `eigenvalue` is the λ of `perron`, and 1 for the readings that need no factor.
    """

    desirability: Float[np.ndarray, "*seeds d"]
    passive: Float[np.ndarray, "d d"]
    eigenvalue: Float[np.ndarray, "*seeds"]


def sample_costs(
    rng: np.random.Generator, space: StateSpace, n_seeds: int
) -> Float[np.ndarray, "seeds d"]:
    """Draw costs uniformly from [0, 1], zero at the goal; one row per seed."""
    costs = rng.random((n_seeds, space.n_states))
    costs[:, space.goal] = 0.0
    return costs


def solve(
    space: StateSpace,
    costs: ArrayLike,
    *,
    reading: str = "goal",
    temperature: float = 1.0,
    discount: float = 0.9,
) -> Solution:
    """Return z* for costs of shape (..., d), all of them in one batch."""
    if reading not in READINGS:
        raise ValueError(f"No reading {reading!r}. Known: {', '.join(READINGS)}.")
    if not 0 < temperature < np.inf:
        raise ValueError(f"`temperature` must be positive, got {temperature}.")
    within("(0, 1)", discount=discount)
    costs = _checked_costs(space, costs, reading == "goal")
    rows = (-discount / temperature * costs).reshape(-1, space.n_states)
    z, eigenvalue = _SOLVERS[reading](space, discount, rows)
    if not (z >= np.finfo(float).tiny).all():
        found = f"`costs` up to {costs.max():.3g} at `temperature` {temperature:.3g}"
        way_out = f"raise the temperature, or lower the `discount`, {discount:.3g}"
        raise ValueError(f"z* is too small for floating point: {found}; {way_out}.")
    passive = space.passive(absorbing=reading == "goal")
    eigenvalue = np.broadcast_to(eigenvalue, len(rows)).reshape(costs.shape[:-1])
    return Solution(z.reshape(costs.shape), passive, eigenvalue)


def policy(
    passive: Float[np.ndarray, "d d"], desirability: Float[np.ndarray, "*seeds d"]
) -> Float[np.ndarray, "*seeds d d"]:
    """Return π(s'|s) = p(s'|s) z(s') / Σ_s'' p(s''|s) z(s''), row s."""
    weights = passive * desirability[..., None, :]
    return weights / weights.sum(axis=-1, keepdims=True)


def _solve_goal(space: StateSpace, _discount: float, exponent: _Rows) -> _Solved:
    """Solve (I - DP) z = 0 off the goal with z = 1 at it."""
    at_goal = np.eye(space.n_states)[space.goal]
    system = np.eye(space.n_states) - np.exp(exponent)[:, :, None] * space.passive()
    system[:, space.goal] = at_goal
    return np.linalg.solve(system, at_goal[:, None])[..., 0], 1.0


def _solve_perron(space: StateSpace, _discount: float, exponent: _Rows) -> _Solved:
    """Find the positive eigenvector of DP, of sum 1.

    With m the degrees, DP = S (S A S) S^-1 for S = (D/m)^(1/2): the walk is reversible,
    so the eigenvalues are those of the symmetric matrix SAS.
    """
    root = np.exp(exponent / 2) / np.sqrt(space.degrees)
    symmetric = root[:, :, None] * space.adjacency * root[:, None, :]
    eigenvalues, vectors = np.linalg.eigh(symmetric)
    desirability = root * np.abs(vectors[:, :, -1])
    return desirability / desirability.sum(axis=1, keepdims=True), eigenvalues[:, -1]


def _solve_discounted(space: StateSpace, discount: float, exponent: _Rows) -> _Solved:
    """Solve v = -γc/α + γ log(P e^v), v = log z, by Newton's method.

    The derivative of the right side is γπ, so a step evaluates the policy that is
    optimal for the last v: policy iteration, which converges from anywhere.
    """
    passive, v = space.passive(), np.zeros_like(exponent)
    for _ in range(_MAX_NEWTON_STEPS):
        # Over its largest neighbour, so that no state's sum vanishes.
        top = np.where(space.adjacency, v[:, None, :], -np.inf).max(axis=2)
        weights = passive * np.exp(np.minimum(v[:, None, :] - top[:, :, None], 0))
        total = weights.sum(axis=2)
        residual = v - exponent - discount * (top + np.log(total))
        jacobian = np.eye(space.n_states) - discount * weights / total[:, :, None]
        step = np.linalg.solve(jacobian, residual[:, :, None])[..., 0]
        v = v - step
        if (abs(step) <= 1e-13 * (1 + abs(v))).all():
            return np.exp(v), 1.0
    raise ArithmeticError(f"No convergence at `discount` {discount}; lower it.")


_SOLVERS = {
    "goal": _solve_goal,
    "perron": _solve_perron,
    "discounted": _solve_discounted,
}


def _checked_costs(
    space: StateSpace, costs: ArrayLike, free_goal: bool
) -> Float[np.ndarray, "*seeds d"]:
    costs = np.asarray(costs, dtype=float)
    if costs.size == 0 or costs.ndim == 0 or costs.shape[-1] != space.n_states:
        rule = f"`costs` must end in {space.n_states} entries, one per vertex"
        raise ValueError(f"{rule}, got shape {costs.shape}.")
    bad = costs[~(np.isfinite(costs) & (costs >= 0))]
    if bad.size:
        raise ValueError(f"`costs` must be finite and not negative, got {bad[0]}.")
    if free_goal and costs[..., space.goal].any():
        way_out = "set it to 0, or choose the reading 'perron' or 'discounted'"
        where = f"at the goal, vertex {space.goal}"
        raise ValueError(f"`costs` must be 0 {where}: {way_out}.")
    return costs
