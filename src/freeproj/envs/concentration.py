"""Concentration: find pairs among cards that lie face down.

Action i flips card i. Observation: for each of the n cards its kind, or "face down"
(the last of its entries), one-hot. Two flips make a try: two different cards of one
kind stay face up and earn 2/n. Any other try costs 1/T per flip, and its cards are
turned back after they were seen; flipping a card that is already face up ends the try
at once. The trial terminates when all cards are face up; it is truncated after T = 2n
flips.
"""

# pyright: reportIncompatibleMethodOverride=false
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int8, Int32, PRNGKeyArray

from freeproj.envs.base import derived, easy_to_hard
from freeproj.envs.cards import KINDS, KindTask
from freeproj.envs.drawing import HIDDEN, INK, PAPER, RED, Canvas
from freeproj.projection.spaces import Box, Discrete

__all__ = ["Concentration", "ConcentrationState"]

_ROW = 13  # cards in a row of the drawing


class ConcentrationState(NamedTuple):
    """The kinds of all cards, which are open, flipped in this try, and shown."""

    kinds: Int8[Array, " n_cards"]
    face_up: Bool[Array, " n_cards"]
    in_play: Bool[Array, " n_cards"]  # the try's first card, if it waits for a second
    shown: Bool[Array, " n_cards"]
    time: Int32[Array, ""]


class Concentration(KindTask):
    """Pairs of one colour (one deck, two decks) or of one rank (one deck)."""

    summary: ClassVar = "flip two cards at a time to find pairs"
    popgym_name: ClassVar = "Concentration"
    levels: ClassVar = easy_to_hard(n_decks=(1, 2, 1), kind=("color", "color", "rank"))

    observation_space = derived(
        lambda self: Box.unit(self.n_cards * (self.n_kinds + 1))
    )
    action_space = derived(lambda self: Discrete(self.n_cards))
    max_steps = derived(lambda self: 2 * self.n_cards)

    def start(self, key: PRNGKeyArray, params: None) -> ConcentrationState:
        kinds, none = self.draw_kinds(key), jnp.zeros(self.n_cards, bool)
        return ConcentrationState(kinds, none, none, none, jnp.zeros((), jnp.int32))

    def advance(
        self, state: ConcentrationState, action: Array, noise: None, params: None
    ) -> tuple[ConcentrationState, Array]:
        waiting, already = state.in_play.any(), state.face_up[action]
        first = jnp.where(state.in_play, state.kinds, 0).sum()
        new = ~already & ~state.in_play[action]
        match = waiting & new & (state.kinds[action] == first)
        cost = jnp.where(waiting | already, -(1.0 + waiting) / self.max_steps, 0.0)
        here = jnp.arange(self.n_cards) == action
        pair = state.in_play | here
        following = state._replace(
            face_up=state.face_up | (pair & match),
            in_play=here & ~waiting & ~already,
            shown=state.face_up | pair,
            time=state.time + 1,
        )
        return following, jnp.where(match, 2 / self.n_cards, cost)

    def is_done(self, state: ConcentrationState) -> Bool[Array, ""]:
        return state.face_up.all()

    def observe(self, state: ConcentrationState) -> Float[Array, " d_obs"]:
        seen = jnp.where(state.shown, state.kinds, self.n_kinds)
        return jax.nn.one_hot(seen, self.n_kinds + 1, dtype=jnp.float32).ravel()

    def render(self, state: ConcentrationState) -> str:
        signs = np.array(KINDS[self.kind].signs)[np.asarray(state.kinds)]
        signs = np.where(np.asarray(state.shown), signs, "·")
        table = signs.reshape(-1, _ROW)
        rows = [" ".join(f"{sign:>2}" for sign in row) for row in table]
        found = int(np.asarray(state.face_up).sum())
        flips = f"{int(state.time)} of {self.max_steps} flips"
        return "\n".join([*rows, f"{flips}, {found} of {self.n_cards} cards found"])

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        kinds, face_up, in_play, _, time = state
        waiting, already = in_play.any(), face_up[action]
        shown = face_up | in_play
        new = not shown[action]
        shown[action] = True
        match = waiting and new and kinds[in_play][0] == kinds[action]
        reward = -(1 + int(waiting)) / self.max_steps if waiting or already else 0.0
        in_play = np.zeros_like(in_play)
        if match:
            face_up, reward = shown, 2 / self.n_cards
        elif not (waiting or already):
            in_play[action] = True
        obs = np.zeros((len(kinds), self.n_kinds + 1), np.float32)
        obs[np.arange(len(kinds)), np.where(shown, kinds, self.n_kinds)] = 1.0
        state = type(state)(kinds, face_up, in_play, shown, time + 1)
        ends = bool(face_up.all()), time + 1 >= self.max_steps
        return obs.ravel(), state, reward, *ends

    def paint(self, canvas: Canvas, state: ConcentrationState) -> None:
        kinds, shown = np.asarray(state.kinds), np.asarray(state.shown)
        width, height = 22, 196 / (len(kinds) / _ROW)
        signs = KINDS[self.kind].signs
        for place, kind in enumerate(kinds.tolist()):
            row, column = divmod(place, _ROW)
            x, y = 17 + width * column, 10 + height * row
            corner = (x + 2, y + 2, x + width - 2, y + height - 2)
            canvas.pen.rectangle(corner, PAPER if shown[place] else HIDDEN, INK)
            if shown[place]:
                color = RED if signs[kind] == "r" else INK
                canvas.write((x + width / 2, y + height / 2), signs[kind], color, 13)
