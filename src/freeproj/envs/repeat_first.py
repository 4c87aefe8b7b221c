"""Repeat First: answer with the suit of the trial's first card, at every step.

Observation: the open card's suit, one-hot. Of n cards n - 1 get an answer, the first
one included; a right answer earns 1/(n-1), a wrong one -1/(n-1). (Appendix D.1.)
"""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from freeproj.envs.base import answer, easy_to_hard
from freeproj.envs.cards import CardState, SuitTask, next_suit, suit_of

__all__ = ["RepeatFirst"]


class RepeatFirst(SuitTask):
    """The memory game with one, eight or sixteen decks."""

    summary: ClassVar = "answer with the first card's suit"
    popgym_name: ClassVar = "RepeatFirst"
    levels: ClassVar = easy_to_hard(n_decks=(1, 8, 16))

    def score(self, state: CardState, action: Array) -> Float[Array, ""]:
        reward = 1 / (self.n_cards - 1)
        return jnp.where(action == suit_of(state.deck[0]), reward, -reward)

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        reward = answer(action == state.deck[0] % 4, self.n_cards - 1)
        return next_suit(self, state, reward)
