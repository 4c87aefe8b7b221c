"""Count Recall: how many cards of the queried kind have been dealt so far?

Observation: the kind of the card just dealt and the queried kind, each one-hot. Cards
and queries come from two decks, shuffled independently. The right answer is the number
of cards of the queried kind dealt so far, the open one included. With n cards there are
n - 1 answers; a right one earns 1/(n-1), a wrong one -1/(n-1).
"""

# pyright: reportIncompatibleMethodOverride=false
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int8, Int32, PRNGKeyArray

from freeproj.envs.base import answer, derived, easy_to_hard, one_hot
from freeproj.envs.cards import KINDS, KindTask
from freeproj.envs.drawing import CENTRE, FAINT, INK, RED, Canvas
from freeproj.projection.spaces import Box, Discrete

__all__ = ["CountRecall", "CountRecallState"]


class CountRecallState(NamedTuple):
    """The kinds of both decks, the cards dealt of each kind, and the open place."""

    dealt: Int8[Array, " n_cards"]
    queries: Int8[Array, " n_cards"]
    counts: Int32[Array, " n_kinds"]
    time: Int32[Array, ""]


class CountRecall(KindTask):
    """Counting by colour (one deck), suit (two decks) or rank (four decks)."""

    summary: ClassVar = "say how many cards of a kind have been dealt"
    popgym_name: ClassVar = "CountRecall"
    last_step_terminates: ClassVar = True
    levels: ClassVar = easy_to_hard(n_decks=(1, 2, 4), kind=("color", "suit", "rank"))

    observation_space = derived(lambda self: Box.unit(2 * self.n_kinds))
    action_space = derived(lambda self: Discrete(self.n_cards // self.n_kinds + 1))
    max_steps = derived(lambda self: self.n_cards - 1)

    def start(self, key: PRNGKeyArray, params: None) -> CountRecallState:
        dealt, queries = map(self.draw_kinds, jax.random.split(key))
        counts = jax.nn.one_hot(dealt[0], self.n_kinds, dtype=jnp.int32)
        return CountRecallState(dealt, queries, counts, jnp.zeros((), jnp.int32))

    def advance(
        self, state: CountRecallState, action: Array, noise: None, params: None
    ) -> tuple[CountRecallState, Array]:
        right = action == state.counts[state.queries[state.time]]
        reward = jnp.where(right, 1 / self.max_steps, -1 / self.max_steps)
        new = state.dealt[jnp.minimum(state.time + 1, self.max_steps)]
        counts = state.counts + jax.nn.one_hot(new, self.n_kinds, dtype=jnp.int32)
        return state._replace(counts=counts, time=state.time + 1), reward

    def observe(self, state: CountRecallState) -> Float[Array, " d_obs"]:
        seen = jnp.stack([state.dealt[state.time], state.queries[state.time]])
        return jax.nn.one_hot(seen, self.n_kinds, dtype=jnp.float32).ravel()

    def render(self, state: CountRecallState) -> str:
        dealt, asked = self._names(state)
        card = f"card {int(state.time) + 1} of {self.n_cards}"
        return f"dealt {dealt}; how many {asked} so far?  {card}"

    def _names(self, state: CountRecallState) -> tuple[str, str]:
        """Return the names of what was dealt and what is asked."""
        names, place = KINDS[self.kind].names, int(state.time)
        return names[int(state.dealt[place])], names[int(state.queries[place])]

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        dealt, queries, counts, time = state
        last = self.max_steps
        reward = answer(action == counts[queries[time]], last)
        time, counts = time + 1, counts.copy()
        kind, n_kinds = dealt[time], self.n_kinds
        counts[kind] += 1
        obs = one_hot(2 * n_kinds, kind, n_kinds + int(queries[time]))
        state = type(state)(dealt, queries, counts, time)
        return obs, state, reward, time >= last, False

    def paint(self, canvas: Canvas, state: CountRecallState) -> None:
        heads = zip(("dealt", "how many"), self._names(state), strict=True)
        for row, (head, name) in enumerate(heads):
            y = 60 + 90 * row
            canvas.write((CENTRE[0], y - 26), head, FAINT, 16)
            color = RED if name in ("red", "diamonds", "hearts") else INK
            canvas.write((CENTRE[0], y + 6), name, color, 34)
