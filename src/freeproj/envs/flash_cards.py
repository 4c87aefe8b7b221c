"""Flash cards: name the suit of the card that lies open. The task of `freeproj demo`.

Observation: the suit, one-hot. Cards are drawn independently, so neither order nor
rewards predict the next one. A right answer earns 1/n, a wrong one -1/n, for n cards a
trial. Behind an unknown projection the first answers are guesses: which vector stands
for which suit has to be learned from rewards, and holds for all trials of an episode.
Not a task of the paper.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Int, PRNGKeyArray

from freeproj.envs.base import Environment, Step, check_action
from freeproj.envs.cards import KINDS, N_SUITS, SUIT_NAMES, paint_suit
from freeproj.envs.painting import CENTRE, Canvas
from freeproj.envs.plain import PlainStep, answer, one_hot
from freeproj.projection.spaces import Box, Discrete

__all__ = ["FlashCardState", "FlashCards"]


class FlashCardState(NamedTuple):
    """The suit that lies open and the answers so far."""

    suit: Int[Array, ""]
    n_answers: Int[Array, ""]


class FlashCards(Environment):
    """A trial of a few cards, each to be named."""

    summary: ClassVar = "name the suit of the open card"

    n_cards: int = eqx.field(static=True, default=12)

    @property
    def name(self) -> str:
        usual = self.n_cards == type(self)().n_cards
        return "FlashCards" if usual else f"FlashCards(n_cards={self.n_cards})"

    @property
    def observation_space(self) -> Box:
        return Box.unit(N_SUITS)

    @property
    def action_space(self) -> Discrete:
        return Discrete(N_SUITS)

    @property
    def action_names(self) -> tuple[str, ...]:
        return SUIT_NAMES

    @property
    def max_steps(self) -> int:
        return self.n_cards

    def reset(
        self, key: PRNGKeyArray, params: None
    ) -> tuple[Float[Array, " 4"], FlashCardState]:
        suit = Discrete(N_SUITS).sample(key)
        return _shown(suit), FlashCardState(suit, jnp.zeros((), jnp.int32))

    def step(
        self, key: PRNGKeyArray, state: FlashCardState, action: ArrayLike, params: None
    ) -> Step:
        check_action(action, self.action_space)
        over = state.n_answers >= self.n_cards
        worth = jnp.where(action == state.suit, 1.0, -1.0) / self.n_cards
        suit = jnp.where(over, state.suit, self.draw_luck(key))
        following = FlashCardState(suit, state.n_answers + ~over)
        ended = following.n_answers >= self.n_cards
        reward = jnp.where(over, 0.0, worth).astype(jnp.float32)
        return _shown(suit), following, reward, ended, jnp.zeros((), bool), {}

    def draw_luck(self, key: PRNGKeyArray) -> Int[Array, ""]:
        return Discrete(N_SUITS).sample(key)

    def render(self, state: FlashCardState) -> str:
        number = min(int(state.n_answers) + 1, self.n_cards)
        sign = KINDS["suit"].signs[int(state.suit)]
        return f"[{sign}]  card {number} of {self.n_cards}"

    def plain_step(self, state: Any, action: Any, luck: Any) -> PlainStep:
        reward, n_answers = (
            answer(action == state.suit, self.n_cards),
            state.n_answers + 1,
        )
        state = type(state)(luck, n_answers)
        return one_hot(N_SUITS, luck), state, reward, n_answers >= self.n_cards, False

    def paint(self, canvas: Canvas, state: FlashCardState) -> bool:
        paint_suit(canvas, CENTRE, int(state.suit))
        return True


def _shown(suit: Int[Array, ""]) -> Float[Array, " 4"]:
    return jax.nn.one_hot(suit, N_SUITS, dtype=jnp.float32)
