"""Count Recall: how many cards of the queried kind have been dealt so far?

Observation: the kind of the card just dealt and the queried kind, each one-hot. Cards
and queries come from two decks, shuffled independently. The right answer is the number
of cards of the queried kind dealt so far, the open one included. With n cards there are
n - 1 answers; a right one earns 1/(n-1), a wrong one -1/(n-1).
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Int8, Int32, PRNGKeyArray

from freeproj.envs.base import Step, check_action
from freeproj.envs.cards import KINDS, KindTask
from freeproj.envs.painting import CENTRE, FAINT, INK, RED, Canvas
from freeproj.envs.plain import PlainStep, answer, one_hot
from freeproj.projection.spaces import Box, Discrete

__all__ = ["CountRecall", "CountRecallState"]


class CountRecallState(NamedTuple):
    """The kinds of both decks, the cards dealt of each kind, and the open place."""

    dealt: Int8[Array, " n_cards"]
    queries: Int8[Array, " n_cards"]
    counts: Int32[Array, " n_kinds"]
    position: Int32[Array, ""]


class CountRecall(KindTask):
    """Counting by colour (one deck), suit (two decks) or rank (four decks)."""

    summary: ClassVar = "say how many cards of a kind have been dealt"
    popgym_name: ClassVar = "CountRecall"

    levels: ClassVar = {
        "Easy": {"n_decks": 1, "kind": "color"},
        "Medium": {"n_decks": 2, "kind": "suit"},
        "Hard": {"n_decks": 4, "kind": "rank"},
    }

    @property
    def observation_space(self) -> Box:
        return Box.unit(2 * self.n_kinds)

    @property
    def action_space(self) -> Discrete:
        return Discrete(self.n_cards // self.n_kinds + 1)

    @property
    def max_steps(self) -> int:
        return self.n_cards - 1

    def reset(
        self, key: PRNGKeyArray, params: None
    ) -> tuple[Float[Array, " d_obs"], CountRecallState]:
        dealt, queries = map(self.draw_kinds, jax.random.split(key))
        counts = jax.nn.one_hot(dealt[0], self.n_kinds, dtype=jnp.int32)
        state = CountRecallState(dealt, queries, counts, jnp.zeros((), jnp.int32))
        return self._observe(state), state

    def step(
        self,
        key: PRNGKeyArray,
        state: CountRecallState,
        action: ArrayLike,
        params: None,
    ) -> Step:
        check_action(action, self.action_space)
        over = state.position >= self.max_steps
        right = jnp.asarray(action) == state.counts[state.queries[state.position]]
        reward = jnp.where(right, 1 / self.max_steps, -1 / self.max_steps)
        position = jnp.minimum(state.position + 1, self.max_steps)
        new = jax.nn.one_hot(state.dealt[position], self.n_kinds, dtype=jnp.int32)
        state = state._replace(
            counts=jnp.where(over, state.counts, state.counts + new), position=position
        )
        reward = jnp.where(over, 0.0, reward).astype(jnp.float32)
        ended, never = position >= self.max_steps, jnp.zeros((), bool)
        return self._observe(state), state, reward, ended, never, {}

    def render(self, state: CountRecallState) -> str:
        names, place = KINDS[self.kind].names, int(state.position)
        dealt, asked = names[int(state.dealt[place])], names[int(state.queries[place])]
        return (
            f"dealt {dealt}; how many {asked} so far?  card {place + 1} of "
            f"{self.n_cards}"
        )

    def _observe(self, state: CountRecallState) -> Float[Array, " d_obs"]:
        seen = jnp.stack([state.dealt[state.position], state.queries[state.position]])
        return jax.nn.one_hot(seen, self.n_kinds, dtype=jnp.float32).ravel()

    def plain_step(self, state: Any, action: Any, luck: Any) -> PlainStep:
        dealt, queries, counts, position = state
        last = self.max_steps
        reward = answer(action == counts[queries[position]], last)
        position, counts = position + 1, counts.copy()
        kind, n_kinds = dealt[position], self.n_kinds
        counts[kind] += 1
        obs = one_hot(2 * n_kinds, kind, n_kinds + int(queries[position]))
        state = type(state)(dealt, queries, counts, position)
        return obs, state, reward, position >= last, False

    def paint(self, canvas: Canvas, state: CountRecallState) -> bool:
        names, place = KINDS[self.kind].names, int(state.position)
        dealt, asked = names[int(state.dealt[place])], names[int(state.queries[place])]
        for row, (head, name) in enumerate((("dealt", dealt), ("how many", asked))):
            y = 60 + 90 * row
            canvas.write((CENTRE[0], y - 26), head, FAINT, 16)
            color = RED if name in ("red", "diamonds", "hearts") else INK
            canvas.write((CENTRE[0], y + 6), name, color, 34)
        return True
