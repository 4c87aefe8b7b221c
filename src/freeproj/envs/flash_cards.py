"""Flash cards: name the suit of the card that lies open. The task of `freeproj demo`.

Observation: the suit, one-hot. Cards are drawn independently, so neither order nor
rewards predict the next one. A right answer earns 1/n, a wrong one -1/n, for n cards a
trial. Behind an unknown projection the first answers are guesses: which vector stands
for which suit has to be learned from rewards, and holds for all trials of an episode.
Not a task of the paper; its name in settings is
`freeproj.envs.flash_cards:FlashCards`.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Int, PRNGKeyArray

from freeproj.envs.base import Environment, Step, check_action
from freeproj.envs.cards import KINDS, N_SUITS, SUIT_NAMES
from freeproj.projection.spaces import Box, Discrete

__all__ = ["FlashCardState", "FlashCards"]


class FlashCardState(NamedTuple):
    """The suit that lies open and the answers so far."""

    suit: Int[Array, ""]
    n_answers: Int[Array, ""]


class FlashCards(Environment):
    """A trial of a few cards, each to be named."""

    n_cards: int = eqx.field(static=True, default=12)

    @property
    def name(self) -> str:
        return "FlashCards"

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
        suit = jnp.where(over, state.suit, Discrete(N_SUITS).sample(key))
        following = FlashCardState(suit, state.n_answers + ~over)
        ended = following.n_answers >= self.n_cards
        reward = jnp.where(over, 0.0, worth)
        return _shown(suit), following, reward, ended, jnp.zeros((), bool), {}

    def render(self, state: FlashCardState) -> str:
        number = min(int(state.n_answers) + 1, self.n_cards)
        sign = KINDS["suit"].signs[int(state.suit)]
        return f"[{sign}]  card {number} of {self.n_cards}"


def _shown(suit: Int[Array, ""]) -> Float[Array, " 4"]:
    return jax.nn.one_hot(suit, N_SUITS)
