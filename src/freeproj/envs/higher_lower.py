"""Higher Lower: is the next card's rank higher or lower than this one's?

Observation: the open card's rank, one-hot. Action 0 says higher, 1 lower. With n cards,
a right answer earns 1/n, a wrong one -1/n, a tie nothing. (Appendix D.1.)
"""

# pyright: reportIncompatibleMethodOverride=false
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from freeproj.envs.base import easy_to_hard, fixed, one_hot
from freeproj.envs.cards import N_RANKS, CardState, CardTask, next_card, rank_of
from freeproj.projection.spaces import Box, Discrete

__all__ = ["HigherLower"]


class HigherLower(CardTask):
    """The guessing game with one, two or three decks."""

    summary: ClassVar = "guess whether the next card is higher or lower"
    popgym_name: ClassVar = "HigherLower"
    levels: ClassVar = easy_to_hard(n_decks=(1, 2, 3))

    observation_space = fixed(Box.unit(N_RANKS))
    action_space = fixed(Discrete(2))
    action_names = fixed(("higher", "lower"))

    def observe(self, state: CardState) -> Float[Array, "13"]:
        rank = rank_of(state.deck[state.time])
        return jax.nn.one_hot(rank, N_RANKS, dtype=jnp.float32)

    def score(self, state: CardState, action: Array) -> Float[Array, ""]:
        rank = rank_of(state.deck[state.time])
        next_rank = rank_of(state.deck[jnp.minimum(state.time + 1, self.max_steps)])
        # +1 where the next card is higher, -1 where it is lower, 0 on a tie.
        direction = jnp.sign(next_rank - rank)
        guess = jnp.where(action == 0, 1, -1)
        return direction * guess * (1 / self.n_cards)

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        deck, time = state
        rank, following = int(deck[time]) // 4, int(deck[time + 1]) // 4
        direction = (following > rank) - (following < rank)
        reward = (-direction if action else direction) / self.n_cards
        state, ended = next_card(self, state)
        return one_hot(N_RANKS, following), state, reward, ended, False
