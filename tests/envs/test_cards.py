"""Card tasks: decks, rewards by hand, perfect players."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.envs import HigherLower, RepeatFirst, RepeatPrevious
from freeproj.envs.cards import (
    CardState,
    card_name,
    draw_deck,
    rank_of,
    shuffle,
    suit_of,
)
from players.ceilings import higher_lower_knowing_deck, repeat_previous_perfect


@pytest.mark.parametrize("n_decks", [1, 3, 16])
def test_a_deck_is_a_permutation_of_its_cards(getkey, n_decks):
    deck = draw_deck(getkey(), n_decks)
    assert deck.dtype == jnp.int8
    counts = np.bincount(np.asarray(deck), minlength=52)
    assert (counts == n_decks).all()


def test_every_card_is_equally_likely_at_every_place(getkey):
    n_draws = 20_000
    keys = jax.random.split(getkey(), n_draws)
    decks = np.asarray(jax.jit(jax.vmap(lambda key: draw_deck(key, 1)))(keys))
    counts = np.stack([np.bincount(column, minlength=52) for column in decks.T])
    errors = (counts - n_draws / 52) / np.sqrt(n_draws / 52 * (51 / 52))
    assert np.abs(errors).max() < 5  # of 2704 standard normal numbers
    # Neighbours are in rising order as often as in falling order.
    rising = (np.diff(decks.astype(int), axis=1) > 0).mean()
    assert abs(rising - 0.5) < 4 / np.sqrt(n_draws * 51 / 3)


def test_a_shuffle_keeps_repeated_items(getkey):
    items = jnp.array([0, 0, 1, 63, 63, 63], jnp.int8)
    assert sorted(shuffle(getkey(), items).tolist()) == items.tolist()


def test_cards_count_as_popgym_counts():
    assert [card_name(card) for card in (0, 4, 36, 51)] == ["A♠", "2♠", "10♠", "K♥"]
    assert int(rank_of(jnp.array(51))) == 12
    assert int(suit_of(jnp.array(6))) == 2


def play(env, deck, actions):
    """Rewards of a whole trial with a given deck."""
    state = CardState(jnp.asarray(deck, jnp.int8), jnp.zeros((), jnp.int32))
    step = jax.jit(env.step)
    rewards = []
    for action in actions:
        _, state, reward, terminated, truncated, _ = step(
            jax.random.key(0), state, action, None
        )
        assert not truncated
        rewards.append(float(reward))
    assert terminated
    return np.array(rewards)


def test_higher_lower_pays_by_hand():
    deck = np.arange(52)  # ranks 0 0 0 0 1 1 1 1 …: three ties, then one rise
    rewards = play(HigherLower(), deck, [0] * 51)
    assert (rewards[:3] == 0).all()
    assert rewards[3] == pytest.approx(1 / 52)
    assert rewards.sum() == pytest.approx(12 / 52)
    assert play(HigherLower(), deck, [1] * 51).sum() == pytest.approx(-12 / 52)


def test_repeat_first_pays_by_hand():
    deck = np.roll(np.arange(52), -2)  # starts with clubs
    assert play(RepeatFirst(), deck, [2] * 51).sum() == pytest.approx(1)
    assert play(RepeatFirst(), deck, [0] * 51).sum() == pytest.approx(-1)
    assert play(RepeatFirst(), deck, [2] + [0] * 50)[0] == pytest.approx(1 / 51)


def test_repeat_previous_asks_for_the_suit_exactly_k_steps_before():
    deck = np.random.default_rng(0).permutation(52)
    suits = deck % 4
    answers = np.concatenate([[0] * 4, suits[:47]])  # at card t the suit of card t - 4
    rewards = play(RepeatPrevious(), deck, answers)
    assert (rewards[:4] == 0).all()
    np.testing.assert_allclose(rewards[4:], 1 / 48, rtol=1e-6)
    # POPGym's reading, one card later, is not rewarded as such.
    late = play(RepeatPrevious(), deck, np.concatenate([[0] * 3, suits[:48]]))
    assert late.sum() < 0


@pytest.mark.parametrize("level", ["Easy", "Medium", "Hard"])
def test_a_perfect_player_earns_exactly_the_ceiling(level):
    rng = np.random.default_rng(1)
    env = RepeatPrevious(**RepeatPrevious.levels[level])
    deck = rng.permutation(env.n_cards) % 52
    answers = np.concatenate([[0] * env.delay, deck % 4])[: env.max_steps]
    best = repeat_previous_perfect(env)
    assert play(env, deck, answers).sum() == pytest.approx(best, rel=1e-6)

    env = HigherLower(**HigherLower.levels[level])
    deck = rng.permutation(env.n_cards) % 52
    ranks = deck // 4
    won = play(env, deck, (np.diff(ranks) < 0).astype(int)).sum()
    assert won == pytest.approx(np.count_nonzero(np.diff(ranks)) / env.n_cards)


def test_who_knows_the_deck_earns_twelve_thirteenths_on_average():
    rng = np.random.default_rng(2)
    ranks = np.stack([rng.permutation(52) // 4 for _ in range(4000)])
    returns = np.count_nonzero(np.diff(ranks, axis=1), axis=1) / 52
    error = returns.std() / np.sqrt(len(returns))
    assert abs(returns.mean() - higher_lower_knowing_deck()) < 4 * error


def test_render_shows_the_open_card_and_nothing_of_the_rest():
    state = CardState(
        jnp.array([51, 36, *range(36), *range(37, 51)], jnp.int8),
        jnp.ones((), jnp.int32),
    )
    assert HigherLower().render(state) == "[10♠]  card 2 of 52"
    assert "K♥" not in RepeatFirst().render(state)
