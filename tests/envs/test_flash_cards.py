"""Flash cards: what is shown can be named, and nothing else helps."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.envs import make

TASK = "freeproj.envs.flash_cards:FlashCards"


@functools.partial(jax.jit, static_argnums=1)
def play(key, player):
    """Returns observations, rewards and ends of a trial, and of two steps more."""
    env = make(TASK)
    seen, state = env.reset(key, None)

    def step(carry, key):
        seen, state = carry
        action = player(seen)
        following, state, reward, over, truncated, _ = env.step(
            key, state, action, None
        )
        return (following, state), (seen, reward, over, truncated)

    keys = jax.random.split(key, 14)
    return jax.lax.scan(step, (seen, state), keys)[1]


def test_who_names_what_is_shown_earns_one(getkey):
    seen, reward, over, truncated = play(getkey(), jnp.argmax)
    np.testing.assert_allclose(reward[:12].sum(), 1, rtol=1e-6)
    assert (reward[12:] == 0).all()
    np.testing.assert_array_equal(over, np.arange(14) >= 11)
    assert not truncated.any()
    np.testing.assert_array_equal(seen.sum(axis=1), 1)


def test_a_constant_answer_earns_chance(getkey):
    def constant(seen):
        return jnp.zeros((), int)

    returns = jax.vmap(lambda key: play(key, constant)[1].sum())(
        jax.random.split(getkey(), 4000)
    )
    error = np.std(returns) / np.sqrt(4000)
    assert abs(np.mean(returns) + 0.5) < 4 * error


def test_a_player_sees_the_card_and_its_number():
    env = make(TASK)
    _, state = env.reset(jax.random.key(0), None)
    assert "card 1 of 12" in env.render(state)
    with pytest.raises(ValueError, match="`action` must be an integer"):
        env.step(jax.random.key(0), state, 4, None)
