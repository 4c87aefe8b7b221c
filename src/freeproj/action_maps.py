"""What the agent does, in a task's own terms.

One agent acts in tasks with different actions: it picks from a common action set, and a
map turns the choice into an action of the task. A discrete set is relabelled, with the
choices that mean nothing masked; a continuous one is multiplied by a slice M_a of an
orthogonal matrix. Without a key both maps are the identity. (Algorithm 1, line 13.)
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freeproj import matrices

__all__ = ["Relabelling", "action_slice", "project_actions", "relabelling"]

_AnyArray = Array | np.ndarray


class Relabelling(NamedTuple):
    """Which of the common actions mean what in a task with fewer.

    `to_task[c]` is the task's action for the common action c; where `mask[c]` is False
    the action has no meaning in this task, must not be taken, and maps to 0.
    """

    to_task: Int[Array, " common"]
    mask: Bool[Array, " common"]


def relabelling(
    key: PRNGKeyArray | None, n_task: int | Int[Array, ""], n_common: int
) -> Relabelling:
    """Hides the task's actions among the common ones; without a key, in order."""
    if isinstance(n_task, int) and not 1 <= n_task <= n_common:
        raise ValueError(
            f"A task's {n_task} actions do not fit into {n_common} common ones; "
            "`n_common` must be at least as large."
        )
    places = jnp.arange(n_common)
    if key is not None:
        places = jax.random.permutation(key, places)
    mask = places < n_task
    return Relabelling(jnp.where(mask, places, 0), mask)


def action_slice(
    key: PRNGKeyArray | None, task_dim: int, common_dim: int
) -> Float[Array, "task common"]:
    """Returns M_a: rows of a Haar matrix; without a key, the first entries."""
    if not 1 <= task_dim <= common_dim:
        raise ValueError(
            f"A task's {task_dim} action entries must be 1 to {common_dim}, the size "
            "of the common action."
        )
    if key is None:
        return jnp.eye(task_dim, common_dim)
    return matrices.haar(key, 1, common_dim)[0, :task_dim]


def project_actions(
    matrix: Float[_AnyArray, "task common"],
    action: Float[_AnyArray, "*batch common"],
    low: Float[_AnyArray, " task"],
    high: Float[_AnyArray, " task"],
) -> Float[Array, "*batch task"]:
    """Returns clip(M_a a), an action that the task allows."""
    return jnp.clip(jnp.asarray(action) @ jnp.asarray(matrix).T, low, high)
