"""Autoencode: watch the cards, then name their suits backwards.

Observation: the mode (answer or watch) and a suit, each one-hot. The n cards are shown
one after the other; with the last one the mode switches to `answer`. Then n answers
follow, the last card's suit first, while spades is shown as a placeholder. A right
answer earns 1/n, a wrong one -1/n; actions taken while watching earn nothing.
"""

# pyright: reportIncompatibleMethodOverride=false
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from freeproj.envs import cards
from freeproj.envs.base import answer, derived, easy_to_hard, fixed, one_hot
from freeproj.envs.cards import N_SUITS, CardState, SuitTask, suit_of
from freeproj.envs.drawing import Canvas
from freeproj.projection.spaces import Box

__all__ = ["Autoencode"]

_N_MODES = 2  # 0: answer, 1: watch


class Autoencode(SuitTask):
    """The memory game with one, two or three decks."""

    summary: ClassVar = "watch all cards, then name their suits backwards"
    popgym_name: ClassVar = "Autoencode"
    levels: ClassVar = easy_to_hard(n_decks=(1, 2, 3))

    observation_space = fixed(Box.unit(_N_MODES + N_SUITS))
    max_steps = derived(lambda self: 2 * self.n_cards - 1)

    def observe(self, state: CardState) -> Float[Array, "6"]:
        last = self.n_cards - 1
        card = state.deck[jnp.minimum(state.time, last)]
        card = jnp.where(state.time > last, 0, card)
        watching = (state.time < last).astype(jnp.int32)
        mode = jax.nn.one_hot(watching, _N_MODES, dtype=jnp.float32)
        suit = jax.nn.one_hot(suit_of(card), N_SUITS, dtype=jnp.float32)
        return jnp.concatenate([mode, suit])

    def score(self, state: CardState, action: Array) -> Float[Array, ""]:
        last = self.n_cards - 1
        # Answers begin with the last card, at position n - 1, and go backwards.
        asked = jnp.clip(2 * last - state.time, 0, last)
        right = action == suit_of(state.deck[asked])
        reward = jnp.where(right, 1 / self.n_cards, -1 / self.n_cards)
        return jnp.where(state.time < last, 0.0, reward)

    def render(self, state: CardState) -> str:
        answered = int(state.time) - self.n_cards + 1
        if answered <= 0:
            return super().render(state)
        return f"[ ? ]  answered {answered} of {self.n_cards}, last card first"

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        last, reward = self.n_cards - 1, 0.0
        if state.time >= last:
            asked = state.deck[2 * last - state.time]
            reward = answer(action == asked % 4, self.n_cards)
        state, ended = cards.next_card(self, state)
        suit = int(state.deck[state.time]) % 4 if state.time <= last else 0
        obs = one_hot(_N_MODES + N_SUITS, int(state.time < last), _N_MODES + suit)
        return obs, state, reward, ended, False

    def paint(self, canvas: Canvas, state: CardState) -> None:
        watching = int(state.time) < self.n_cards
        cards.paint_card(canvas, int(state.deck[int(state.time)]) if watching else None)
