"""Decks of cards, and what the card tasks share.

A card is a number 0..51 as POPGym counts: rank `card // 4` (ace, 2, …, king) and suit
`card % 4` (spades, diamonds, clubs, hearts). A deck is a row of cards in the order in
which they are dealt; it is drawn once, at `reset`, and a step only moves along it.
"""

# pyright: reportIncompatibleMethodOverride=false
import abc
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Int8, Int32, PRNGKeyArray

from freeproj.envs.base import Game, derived, fixed, one_hot, static
from freeproj.envs.drawing import CENTRE, FAINT, INK, PAPER, RED, Canvas
from freeproj.projection.spaces import Box, Discrete
from freeproj.storage.checks import one_of

__all__ = ["KINDS", "N_RANKS", "N_SUITS", "SUIT_NAMES", "CardState", "CardTask"]
__all__ += ["DeckTask", "KindTask", "SuitTask", "card_name", "draw_deck", "next_card"]
__all__ += ["next_suit", "paint_card", "paint_suit", "rank_of", "shuffle", "suit_of"]

N_RANKS = 13
N_SUITS = 4
_DECK_SIZE = N_RANKS * N_SUITS
SUIT_NAMES = ("spades", "diamonds", "clubs", "hearts")

_ITEM_BITS = 6
_RANK_SIGNS = ("A", *map(str, range(2, 11)), "J", "Q", "K")
_SUIT_SIGNS = "♠♦♣♥"


class CardState(NamedTuple):
    """A deck and the place of the card that lies open, from 0 on."""

    deck: Int8[Array, " n_cards"]
    time: Int32[Array, ""]


class DeckTask(Game):
    """A game with one or several decks of cards."""

    n_decks: int = static(1, least=1)

    n_cards = derived(lambda self: _DECK_SIZE * self.n_decks)  # of all decks together


class KindTask(DeckTask):
    """A game in which only the colour, the suit or the rank of a card counts."""

    kind: str = static("color")

    def __check_init__(self):
        one_of(KINDS, kind=self.kind)

    n_kinds = derived(lambda self: len(KINDS[self.kind].names))

    def draw_kinds(self, key: PRNGKeyArray) -> Int8[Array, " n_cards"]:
        """Draw the kinds of all cards, in a uniform order."""
        return KINDS[self.kind].of(draw_deck(key, self.n_decks))


class CardTask(DeckTask):
    """A game in which cards are dealt one by one and each gets an answer."""

    last_step_terminates: ClassVar = True

    @abc.abstractmethod
    def score(self, state: CardState, action: Array) -> Float[Array, ""]:
        """Return the reward of an answer while the trial runs."""

    max_steps = derived(lambda self: self.n_cards - 1)  # the last card only ends it

    def start(self, key: PRNGKeyArray, params: None) -> CardState:
        return CardState(draw_deck(key, self.n_decks), jnp.zeros((), jnp.int32))

    def advance(
        self, state: CardState, action: Array, noise: None, params: None
    ) -> tuple[CardState, Array]:
        return CardState(state.deck, state.time + 1), self.score(state, action)

    def render(self, state: CardState) -> str:
        card = card_name(int(state.deck[state.time]))
        return f"[{card:>3}]  card {int(state.time) + 1} of {self.n_cards}"

    def paint(self, canvas: Canvas, state: CardState) -> None:
        paint_card(canvas, int(state.deck[int(state.time)]))


class SuitTask(CardTask):
    """A card task in which suits are seen and suits are answered."""

    observation_space = fixed(Box.unit(N_SUITS))
    action_space = fixed(Discrete(N_SUITS))
    action_names = fixed(SUIT_NAMES)

    def observe(self, state: CardState) -> Float[Array, "4"]:
        suit = suit_of(state.deck[state.time])
        return jax.nn.one_hot(suit, N_SUITS, dtype=jnp.float32)


def draw_deck(key: PRNGKeyArray, n_decks: int) -> Int8[Array, " n_cards"]:
    """Draw a uniform order of `n_decks` decks shuffled together."""
    return shuffle(key, jnp.tile(jnp.arange(_DECK_SIZE, dtype=jnp.int8), n_decks))


def shuffle(key: PRNGKeyArray, items: Int8[Array, " n"]) -> Int8[Array, " n"]:
    """Return the items, each in 0..63, in a uniformly random order.

    An item rides in the low six bits of a random 32-bit number, so that one sort of
    plain numbers shuffles: four times as fast as `jax.random.permutation`, which sorts
    pairs. Two numbers agree in all 26 random bits, and their items then fall in order,
    with probability at most n²/2^27: 2e-5 for one deck of cards.
    """
    noise = jax.random.bits(key, items.shape, jnp.uint32)
    tickets = (noise << _ITEM_BITS) | items.astype(jnp.uint32)
    return (jnp.sort(tickets) & (2**_ITEM_BITS - 1)).astype(jnp.int8)


def rank_of(card: Int[Array, "..."]) -> Int[Array, "..."]:
    """Return 0 (ace) … 12 (king)."""
    return card // N_SUITS


def suit_of(card: Int[Array, "..."]) -> Int[Array, "..."]:
    """Return the index into `SUIT_NAMES`."""
    return card % N_SUITS


class _Kind(NamedTuple):
    """What tells cards apart in a game, and what its values are called."""

    of: Callable[[Int[Array, "..."]], Int[Array, "..."]]
    names: tuple[str, ...]
    signs: tuple[str, ...]


KINDS = {
    "color": _Kind(lambda card: card % 2, ("black", "red"), ("b", "r")),
    "suit": _Kind(suit_of, SUIT_NAMES, tuple(_SUIT_SIGNS)),
    "rank": _Kind(rank_of, _RANK_SIGNS, _RANK_SIGNS),
}


def card_name(card: int) -> str:
    """Write a card for people: `card_name(51)` is "K♥"."""
    rank, suit = divmod(card, N_SUITS)
    return f"{_RANK_SIGNS[rank]}{_SUIT_SIGNS[suit]}"


def next_card(env, state: CardState) -> tuple[CardState, bool]:
    """Return the state with the next card open, and whether it ends; plain Python."""
    return CardState(state.deck, state.time + 1), state.time + 1 >= env.max_steps


def next_suit(env, state: CardState, reward: float) -> tuple:
    """Return a plain step of a task that shows suits: the next card is open."""
    state, ended = next_card(env, state)
    suit = int(state.deck[state.time]) % N_SUITS
    return one_hot(N_SUITS, suit), state, reward, ended, False


def paint_card(canvas: Canvas, card: int | None) -> None:
    """Paint a card by its number, or its back with a question mark."""
    x, y = CENTRE
    corner = (x - 55, y - 80, x + 55, y + 80)
    canvas.pen.rounded_rectangle(corner, 10, PAPER, INK, 2)
    if card is None:
        canvas.write(CENTRE, "?", FAINT, 72)
        return
    rank, suit = divmod(card, N_SUITS)
    canvas.write((x, y - 42), _RANK_SIGNS[rank], RED if suit % 2 else INK, 44)
    paint_suit(canvas, (x, y + 30), suit)


def paint_suit(canvas: Canvas, centre: tuple[float, float], suit: int) -> None:
    """Paint the sign of a suit: black or red, some 60 pixels high."""
    (x, y), pen, color = centre, canvas.pen, RED if suit % 2 else INK
    if suit == 1:  # diamonds
        pen.polygon([(x, y - 30), (x + 22, y), (x, y + 30), (x - 22, y)], color)
        return
    up = -1 if suit == 3 else 1  # hearts stand on their point
    if suit == 2:  # clubs
        dots = [(x, y - 14), (x - 14, y + 6), (x + 14, y + 6)]
    else:
        dots = [(x - 11, y + 4 * up), (x + 11, y + 4 * up)]
        sides = [(x - 23, y + 8 * up), (x + 23, y + 8 * up)]
        pen.polygon([(x, y - 26 * up), *sides], color)
    for dot in dots:
        pen.circle(dot, 13, color)
    if suit != 3:
        pen.polygon([(x, y), (x - 9, y + 28), (x + 9, y + 28)], color)
