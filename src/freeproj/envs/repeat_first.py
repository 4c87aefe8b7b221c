"""Repeat First: answer with the suit of the trial's first card, at every step.

Observation: the open card's suit, one-hot. Of n cards n - 1 get an answer, the first
one included; a right answer earns 1/(n-1), a wrong one -1/(n-1). (Appendix D.1.)
"""

from __future__ import annotations

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from freeproj.envs.cards import CardState, SuitTask, suit_of

__all__ = ["RepeatFirst"]


class RepeatFirst(SuitTask):
    """The memory game with one, eight or sixteen decks."""

    levels: ClassVar = {
        "Easy": {"n_decks": 1},
        "Medium": {"n_decks": 8},
        "Hard": {"n_decks": 16},
    }

    def score(self, state: CardState, action: ArrayLike) -> Float[Array, ""]:
        reward = 1 / (self.n_cards - 1)
        return jnp.where(action == suit_of(state.deck[0]), reward, -reward)
