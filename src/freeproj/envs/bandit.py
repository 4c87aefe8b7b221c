"""Multi-armed bandit: find the best arm, again in every trial.

Each of n arms is rewarded with its own probability, drawn uniformly from [0, 1] at
reset. Observation: whether the last pull was rewarded, one-hot; "no" before the first
one. A rewarded pull earns 1/T, any other costs 1/T; the trial is truncated after T.
"""

# pyright: reportIncompatibleMethodOverride=false
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32, PRNGKeyArray

from freeproj.envs.base import TimedGame, derived, easy_to_hard, fixed, one_hot, static
from freeproj.envs.drawing import CENTRE, FAINT, GREEN, HIDDEN, INK, PAPER, RED, Canvas
from freeproj.projection.spaces import Box, Discrete

__all__ = ["BanditState", "MultiarmedBandit"]


class BanditState(NamedTuple):
    """How likely each arm is rewarded, and the last pull's outcome and number."""

    payouts: Float[Array, " arms"]
    paid: Bool[Array, ""]
    time: Int32[Array, ""]


class MultiarmedBandit(TimedGame):
    """Ten, twenty or thirty arms, pulled 200, 400 or 600 times."""

    summary: ClassVar = "find the arm that is rewarded most often"
    popgym_name: ClassVar = "MultiarmedBandit"
    levels: ClassVar = easy_to_hard(n_arms=(10, 20, 30), time_limit=(200, 400, 600))

    n_arms: int = static(10, least=1)

    observation_space = fixed(Box.unit(2))
    action_space = derived(lambda self: Discrete(self.n_arms))

    def start(self, key: PRNGKeyArray, params: None) -> BanditState:
        payouts = jax.random.uniform(key, (self.n_arms,), jnp.float32)
        return BanditState(payouts, jnp.zeros((), bool), jnp.zeros((), jnp.int32))

    def advance(
        self, state: BanditState, action: Array, noise: Array, params: None
    ) -> tuple[BanditState, Array]:
        paid = noise < state.payouts[action]
        reward = jnp.where(paid, 1 / self.time_limit, -1 / self.time_limit)
        return BanditState(state.payouts, paid, state.time + 1), reward

    def observe(self, state: BanditState) -> Float[Array, "2"]:
        return jax.nn.one_hot(state.paid.astype(jnp.int32), 2, dtype=jnp.float32)

    def draw_noise(self, key: PRNGKeyArray) -> Float[Array, ""]:
        return jax.random.uniform(key, (), jnp.float32)

    def render(self, state: BanditState) -> str:
        pulls = f"pull {int(state.time)} of {self.time_limit}"
        outcome = "rewarded" if bool(state.paid) else "not rewarded"
        return f"{self.n_arms} arms  {pulls}" + (f": {outcome}" if state.time else "")

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        paid, time = bool(noise < state.payouts[action]), state.time + 1
        reward = (1 if paid else -1) / self.time_limit
        state = type(state)(state.payouts, paid, time)
        return one_hot(2, int(paid)), state, reward, False, time >= self.time_limit

    def paint(self, canvas: Canvas, state: BanditState) -> None:
        paid, pulled = bool(state.paid), int(state.time) > 0
        color = (GREEN if paid else RED) if pulled else HIDDEN
        canvas.pen.circle(CENTRE, 60, color, INK, 2)
        word = ("reward" if paid else "nothing") if pulled else "?"
        canvas.write(CENTRE, word, PAPER, 26)
        canvas.write((CENTRE[0], 200), f"{self.n_arms} arms", FAINT, 16)
