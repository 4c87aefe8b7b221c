"""A random fixed map from symbols to answers: what an untrained network is.

In the card tasks the symbol is the one that decides (the first suit, the suit k steps
before, the open rank), so this is also an agent that remembers well and answers by
luck. Elsewhere the answer is the largest entry of W·observation, or its value within
the bounds, with W Gaussian. One fixed test map is luck: its spread between maps says
how much.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freeproj.envs import (
    Autoencode,
    Discrete,
    Environment,
    HigherLower,
    RepeatFirst,
    RepeatPrevious,
)
from freeproj.envs.baselines import RandomMap
from freeproj.envs.cards import N_RANKS, N_SUITS
from players.ceilings import repeat_previous_perfect

__all__ = ["higher_lower_map_std", "random_map", "simulate_maps"]

_FIXED_POINTS = "F of four suits are mapped to themselves, F binomial (4, 1/4): exact"


def random_map(key: PRNGKeyArray, env: Environment, n_starts: int = 256) -> RandomMap:
    """Return mean and spread of random maps in a task; simulated by twice as many."""
    if isinstance(env, RepeatFirst):
        # A trial earns 1 or -1 with the first suit: 2F/4 - 1 on average.
        why = f"The first suit's image is answered throughout; {_FIXED_POINTS}."
        return RandomMap(-0.5, np.sqrt(3) / 4, 0.75, "exact", why)
    if isinstance(env, Autoencode):
        why = f"The image of the suit asked for is answered; {_FIXED_POINTS}."
        return RandomMap(-0.5, np.sqrt(3) / 4, 0.0, "exact", why)
    if isinstance(env, RepeatPrevious):
        perfect = repeat_previous_perfect(env)
        why = f"The image of the suit k steps before is answered; {_FIXED_POINTS}."
        spread = float(_repeat_previous_spread(env))
        return RandomMap(-perfect / 2, perfect * np.sqrt(3) / 4, spread, "exact", why)
    if isinstance(env, HigherLower):
        why = (
            "Each rank has its own answer; Σ over ranks of ±4(12 - 2r)/(13·52): exact."
        )
        std, spread = higher_lower_map_std(), float(_higher_lower_spread(env))
        return RandomMap(0.0, std, spread, "exact", why)
    n_maps = 2 * n_starts
    means, std, spread = simulate_maps(key, env, n_maps, n_starts)
    why = f"{n_maps} Gaussian linear maps, {n_starts} starts each."
    return RandomMap(means, std, spread, "estimate", why)


def higher_lower_map_std() -> float:
    """Return the standard deviation over maps of Σ_r g_r·4(12-2r)/(13·52), g_r = ±1.

    The same for any number of decks: above less below is in proportion to the cards.
    """
    gains = N_SUITS * (N_RANKS - 1 - 2 * np.arange(N_RANKS)) / N_RANKS
    return float(np.sqrt((gains**2).sum()) / (N_RANKS * N_SUITS))


def simulate_maps(
    key: PRNGKeyArray,
    env: Environment,
    n_maps: int,
    n_starts: int,
) -> tuple[float, float, float]:
    """Return mean, standard deviation between maps and within a map, by simulation."""
    key_maps, key_starts = jax.random.split(key)
    shape = (env.action_space.n if isinstance(env.action_space, Discrete) else 1,)
    weights = jax.random.normal(key_maps, (n_maps, *shape, env.observation_space.size))
    starts = jax.random.split(key_starts, n_starts)
    play = jax.vmap(_play, in_axes=(0, None, None))
    run = eqx.filter_jit(lambda w: jax.lax.map(lambda each: play(starts, env, each), w))
    returns = np.asarray(run(weights), float)
    within = returns.var(axis=1, ddof=1).mean()
    between = returns.mean(axis=1).var(ddof=1) - within / n_starts
    return float(returns.mean()), float(np.sqrt(max(0, between))), float(within**0.5)


def _play(
    key: PRNGKeyArray, env: Environment, weights: Float[Array, "answers size"]
) -> Float[Array, ""]:
    key_reset, key_steps = jax.random.split(key)
    params = env.default_params
    obs, state = env.reset(key_reset, params)

    def advance(carry, key):
        obs, state, ended = carry
        action = _answer(env, weights @ obs)
        obs, state, reward, terminated, truncated, _ = env.step(
            key, state, action, params
        )
        gain = jnp.where(ended, 0.0, reward)
        return (obs, state, ended | terminated | truncated), gain

    start = (obs, state, jnp.zeros((), bool))
    keys = jax.random.split(key_steps, env.max_steps)
    return jax.lax.scan(advance, start, keys)[1].sum()


def _answer(env: Environment, scores: Float[Array, " answers"]) -> Array:
    space = env.action_space
    if isinstance(space, Discrete):
        return jnp.argmax(scores).astype(jnp.int32)
    low, high = jnp.array(space.low), jnp.array(space.high)
    return jnp.clip(scores * high, low, high).astype(jnp.float32)


def _higher_lower_spread(env: HigherLower, n: int = 400) -> float:
    """Return the standard deviation between decks, under one map, by simulation."""
    rng = np.random.default_rng(0)
    ranks = np.tile(np.repeat(np.arange(N_RANKS), N_SUITS), env.n_decks)
    decks = rng.permuted(np.tile(ranks, (n, 1)), axis=1)
    moves = np.sign(np.diff(decks, axis=1))
    maps = rng.choice([-1, 1], size=(n, N_RANKS))
    totals = [(answer[decks[:, :-1]] * moves).sum(axis=1) for answer in maps]
    return np.sqrt(np.var(totals, axis=1, ddof=1).mean()) / ranks.size


def _repeat_previous_spread(env: RepeatPrevious, n: int = 400) -> float:
    """Return the same for Repeat Previous: only the suits that count vary."""
    rng = np.random.default_rng(0)
    suits = np.tile(np.repeat(np.arange(N_SUITS), N_RANKS), env.n_decks)
    decks = rng.permuted(np.tile(suits, (n, 1)), axis=1)
    n_counted = env.n_cards - 1 - env.delay
    targets = decks[:, :n_counted]
    maps = rng.integers(N_SUITS, size=(n, N_SUITS))
    totals = [(2.0 * (f[targets] == targets) - 1).sum(axis=1) for f in maps]
    return np.sqrt(np.var(totals, axis=1, ddof=1).mean()) / env.reward_scale
