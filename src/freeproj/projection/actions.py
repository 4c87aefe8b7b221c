"""Maps from the agent's actions to a task's own actions.

One agent acts in tasks with different actions: it picks from a common action set, and a
map turns the choice into an action of the task. A discrete set is relabelled, with the
choices that mean nothing masked; a continuous one is multiplied by a slice M_a of an
orthogonal matrix. Without a key both maps are the identity. (Algorithm 1, line 13.)

Actions *by use* are to a relabelling what frames are to a projection: the agent says
"the i-th action that I used" or "a new one", drawn uniformly from those not used yet.
It is the same as an order of the actions drawn anew in each episode, of which the used
ones and the next are allowed: that is how it is done here.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freeproj.projection import matrices
from freeproj.projection.spaces import Box, Discrete
from freeproj.storage.checks import one_of

__all__ = ["ACTION_MAPS", "CommonActions", "Relabelling", "relabelling"]

ACTION_MAPS = ("identity", "random", "by_use")


class Relabelling(NamedTuple):
    """What each common action means in a task with fewer actions.

    `to_task[c]` is the task's action for the common action c; where `mask[c]` is False
    the action has no meaning in this task, must not be taken, and maps to 0.
    """

    to_task: Int[Array, " common"]
    mask: Bool[Array, " common"]


def relabelling(
    key: PRNGKeyArray | None,
    n_task: int | Int[Array, ""],
    n_common: int,
    by_use: bool = False,
) -> Relabelling:
    """Hide the task's actions among the common ones; without a key, in order."""
    if isinstance(n_task, int) and not 1 <= n_task <= n_common:
        raise ValueError(
            f"A task's {n_task} actions do not fit into {n_common} common ones; "
            "`n_common` must be at least as large."
        )
    places = jnp.arange(n_common)
    if key is not None:
        places = jax.random.permutation(key, places)
    if by_use:  # first, in the order in which an agent meets them
        places = places[jnp.argsort(places >= n_task, stable=True)]
    mask = places < n_task
    return Relabelling(jnp.where(mask, places, 0), mask)


@dataclass(frozen=True)
class CommonActions:
    """The actions that several tasks share, all of them discrete or all continuous."""

    spaces: tuple[Box | Discrete, ...]  # of each task
    law: str = "identity"  # one of `ACTION_MAPS`, drawn anew with each episode
    least: int = 0  # the least number of actions, for tasks that are met later

    def __post_init__(self):
        one_of(ACTION_MAPS, action_map=self.law)
        if len({type(space) for space in self.spaces}) > 1:
            raise ValueError(
                "Tasks with discrete and tasks with continuous actions do not mix; "
                f"got the action spaces {self.spaces}."
            )
        if self.by_use and not self._counts:
            raise ValueError(
                "Actions can be named by their use only if they are discrete; choose "
                "`identity` or `random` for continuous ones."
            )

    @property
    def by_use(self) -> bool:
        """Whether the agent names actions by the order in which it used them."""
        return self.law == "by_use"

    @property
    def space(self) -> Box | Discrete:
        """The common actions: as many as the task with the most actions has."""
        if self._counts:
            return Discrete(max(self.least, *self._counts))
        boxes = [space for space in self.spaces if isinstance(space, Box)]
        size = max(self.least, *(box.size for box in boxes))
        reach = max(abs(bound) for box in boxes for bound in box.low + box.high)
        return Box((-reach,) * size, (reach,) * size)

    @property
    def size(self) -> int:
        """The number of entries of an encoded action."""
        return self.space.n if isinstance(self.space, Discrete) else self.space.size

    def encode(self, action: Array | None) -> Float[Array, " size"]:
        """Return an action as a vector: one-hot or as it is; None is all zeros."""
        if action is None:
            return jnp.zeros(self.size)
        if self._counts:
            return jax.nn.one_hot(action, self.size)
        return jnp.asarray(action, float)

    def draw(self, key: PRNGKeyArray, task: Int[Array, ""]) -> Relabelling | Array:
        """Draw the map of one episode."""
        given = None if self.law == "identity" else key
        if self._counts:
            n_task = jnp.array(self._counts)[task]
            return relabelling(given, n_task, self.size, self.by_use)
        return (
            jnp.eye(self.size) if given is None else matrices.haar(key, 1, self.size)[0]
        )

    def translate(self, drawn: Relabelling | Array, action: Array, index: int) -> Array:
        """Return the action of task number `index`; clip(M_a a) where continuous."""
        space = self.spaces[index]
        if isinstance(space, Discrete) and isinstance(drawn, Relabelling):
            # Masked actions map to 0, so that they are never out of range either.
            return jnp.minimum(drawn.to_task[action], space.n - 1)
        assert isinstance(space, Box)
        assert isinstance(drawn, Array)
        return space.clip(jnp.asarray(action) @ drawn[: space.size].T)

    def mask(
        self, drawn: Relabelling | Array, n_used: Int[Array, ""] | None = None
    ) -> Bool[Array, " size"] | None:
        """Which common actions mean something; None: all of them, always."""
        if n_used is not None and isinstance(drawn, Relabelling):  # used, or the next
            return drawn.mask & (jnp.arange(self.size) <= n_used)
        all_mean_something = set(self._counts) == {self.size}
        if all_mean_something or not isinstance(drawn, Relabelling):
            return None
        return drawn.mask

    @property
    def _counts(self) -> tuple[int, ...]:
        return tuple(s.n for s in self.spaces if isinstance(s, Discrete))
