"""Repeat Previous: answer with the suit seen exactly k steps before.

Observation: the open card's suit, one-hot. While card t = 0, 1, … is open, the answer
is compared with the suit of card t - k; the first k answers earn nothing, then a right
one earns 1/(n-k), a wrong one -1/(n-k). With n cards there are n - 1 answers, so
n - 1 - k of them count and a perfect trial earns (n-1-k)/(n-k). (Appendix D.1.)

POPGym's code counts the open card as the first of its k, so it asks for the suit k - 1
steps before. `RepeatPrevious` keeps the paper's k; `PopgymRepeatPrevious`, reachable
under POPGym's ids such as `popgym-RepeatPreviousEasy-v0`, is exactly POPGym's task.
"""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from freeproj.envs.base import answer, derived, easy_to_hard, static
from freeproj.envs.cards import CardState, SuitTask, next_suit, suit_of

__all__ = ["PopgymRepeatPrevious", "RepeatPrevious"]


class RepeatPrevious(SuitTask):
    """The delayed-match game; `delay` is the paper's k."""

    summary: ClassVar = "answer with the suit seen k steps earlier"
    popgym_name: ClassVar = "RepeatPrevious"

    delay: int = static(4)

    levels: ClassVar = easy_to_hard(n_decks=(1, 2, 3), delay=(4, 32, 64))

    def __check_init__(self):
        if not 0 <= self.delay < self.max_steps:
            raise ValueError(
                f"`delay` must lie in 0..{self.max_steps - 1} for {self.n_cards} "
                f"cards, got {self.delay}."
            )

    # What rewards are divided by.
    reward_scale = derived(lambda self: self.n_cards - self.delay)

    def score(self, state: CardState, action: Array) -> Float[Array, ""]:
        place = state.time - self.delay
        target = suit_of(state.deck[jnp.maximum(place, 0)])
        reward = 1 / self.reward_scale
        right = jnp.where(action == target, reward, -reward)
        return jnp.where(place < 0, 0.0, right)

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        asked, reward = state.time - self.delay, 0.0
        if asked >= 0:
            reward = answer(action == state.deck[asked] % 4, self.reward_scale)
        return next_suit(self, state, reward)


class PopgymRepeatPrevious(RepeatPrevious):
    """POPGym's own game, registered under POPGym's ids only.

    The `delay` is one less than POPGym's k. A right answer earns 1/(n-k) with POPGym's
    k, so a perfect trial earns 1.
    """

    delay: int = static(3)

    levels: ClassVar = {
        level: {**numbers, "delay": numbers["delay"] - 1}
        for level, numbers in RepeatPrevious.levels.items()
    }

    @property
    def name(self) -> str:
        level = super().name.removeprefix(type(self).__name__) or "Easy"
        return f"popgym-RepeatPrevious{level}-v0"

    reward_scale = derived(lambda self: self.n_cards - self.delay - 1)

    plain_step = RepeatPrevious.plain_step


RepeatPrevious.popgym_version = PopgymRepeatPrevious
