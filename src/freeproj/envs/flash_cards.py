"""Flash cards: name the suit of the card that lies open. The task of `freeproj demo`.

Observation: the suit, one-hot. Cards are drawn independently, so neither order nor
rewards predict the next one. A right answer earns 1/n, a wrong one -1/n, for n cards a
trial. Behind an unknown projection the first answers are guesses: which vector stands
for which suit has to be learned from rewards, and holds for all trials of an episode.
Not a task of the paper.
"""

# pyright: reportIncompatibleMethodOverride=false
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freeproj.envs.base import Game, answer, derived, fixed, one_hot, static
from freeproj.envs.cards import KINDS, N_SUITS, SUIT_NAMES, paint_suit
from freeproj.envs.drawing import CENTRE, Canvas
from freeproj.projection.spaces import Box, Discrete

__all__ = ["FlashCardState", "FlashCards"]


class FlashCardState(NamedTuple):
    """The suit that lies open and the answers so far."""

    suit: Int[Array, ""]
    time: Int[Array, ""]


class FlashCards(Game):
    """A trial of a few cards, each to be named."""

    summary: ClassVar = "name the suit of the open card"
    last_step_terminates: ClassVar = True

    n_cards: int = static(12, least=1)

    observation_space = fixed(Box.unit(N_SUITS))
    action_space = fixed(Discrete(N_SUITS))
    action_names = fixed(SUIT_NAMES)
    max_steps = derived(lambda self: self.n_cards)

    def start(self, key: PRNGKeyArray, params: None) -> FlashCardState:
        return FlashCardState(self.draw_noise(key), jnp.zeros((), jnp.int32))

    def advance(
        self, state: FlashCardState, action: Array, noise: Array, params: None
    ) -> tuple[FlashCardState, Array]:
        reward = jnp.where(action == state.suit, 1.0, -1.0) / self.n_cards
        return FlashCardState(noise, state.time + 1), reward

    def observe(self, state: FlashCardState) -> Float[Array, " 4"]:
        return jax.nn.one_hot(state.suit, N_SUITS, dtype=jnp.float32)

    def draw_noise(self, key: PRNGKeyArray) -> Int[Array, ""]:
        return Discrete(N_SUITS).sample(key)

    def render(self, state: FlashCardState) -> str:
        number = min(int(state.time) + 1, self.n_cards)
        sign = KINDS["suit"].signs[int(state.suit)]
        return f"[{sign}]  card {number} of {self.n_cards}"

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        reward = answer(action == state.suit, self.n_cards)
        state = type(state)(noise, state.time + 1)
        over = state.time >= self.n_cards
        return one_hot(N_SUITS, noise), state, reward, over, False

    def paint(self, canvas: Canvas, state: FlashCardState) -> None:
        paint_suit(canvas, CENTRE, int(state.suit))
