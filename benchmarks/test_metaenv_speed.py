"""Steps of the meta-environment: against the bare task, POPGym, and a naive twin.

Random actions, projection on (ℓ = 4, d = 128, or more where a task shows more). The
bare task begins anew at each end, drawing a start for every environment at every step,
as is usual; its time without any new start is printed beside. POPGym projects nothing.

    python -m pytest benchmarks/test_metaenv_speed.py -n 0 -s
"""

import resource

import jax
import jax.numpy as jnp
import pytest
from timing import best, say

from freeproj import FreeProjection, MetaEnv, envs
from freeproj.projection import words

N_STEPS = 300
PROJECTION = FreeProjection.with_words(256, length=4)
SIZES = (64, 1024)


def roll(step, start, actions):
    """A compiled play of all actions, which returns sums so that nothing is skipped."""

    def body(carry, now):
        state, key = carry
        key, key_step = jax.random.split(key)
        shown, state, reward = step(key_step, state, now)
        return (state, key), (shown.sum(axis=0), reward.sum())

    @jax.jit
    def run(start, actions):
        return jax.lax.scan(body, (start, jax.random.key(0)), actions)[1]

    return best(run, start, actions) / len(actions)


def actions_for(env, n_envs):
    keys = jax.random.split(jax.random.key(3), (N_STEPS, n_envs))
    return jax.vmap(jax.vmap(env.action_space.sample))(keys)


def choose(ended, this, other):
    def pick(a, b):
        return jnp.where(ended.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, this, other)


def bare(env, n_envs, renew):
    params = env.default_params
    reset = jax.vmap(env.reset, (0, None))
    move = jax.vmap(env.step, (0, 0, 0, None))
    keys = jax.random.split(jax.random.key(0), n_envs)

    def step(key, state, action):
        keys = jax.random.split(key, n_envs)
        shown, state, reward, terminated, truncated, _ = move(
            keys, state, action, params
        )
        if renew:
            fresh = reset(keys, params)
            shown, state = choose(terminated | truncated, fresh, (shown, state))
        return shown, state, reward

    return roll(step, reset(keys, params)[1], actions_for(env, n_envs))


def meta(env, n_envs):
    size = env.observation_space.size
    wide = FreeProjection.with_words(256, length=4, dim=max(128, size))
    meta_env = MetaEnv(env, wide)
    params = meta_env.draw_params(jax.random.key(1))
    _, state = meta_env.reset_batch(jax.random.key(2), params, n_envs)

    def step(key, state, action):
        return meta_env.step_batch(key, state, action, params)[:3]

    return roll(step, state, actions_for(env, n_envs))


def naive(env, n_envs):
    """The table of all words in every environment's state, renewed at every step."""
    meta_env = MetaEnv(env, PROJECTION)
    params = meta_env.draw_params(jax.random.key(1))
    assert params.table is not None
    table = params.table[:, 0]  # one task
    _, state = meta_env.reset_batch(jax.random.key(2), params, n_envs)
    tables = jnp.broadcast_to(table, (n_envs, *table.shape))

    def one(key, state, action):
        episode, table = state
        shown, episode, reward, ended, _, _ = meta_env.advance(
            key, episode, action, params
        )
        fresh = meta_env.reset(key, params)
        new_table = table * 1.0  # a new table with each episode, chosen or not
        matrix = table[episode.word]
        episode = episode._replace(matrix=matrix)
        shown, episode = jax.tree.map(
            lambda a, b: jnp.where(ended, a, b), fresh, (shown, episode)
        )
        return shown, (episode, jnp.where(ended, new_table, table)), reward

    def step(key, state, action):
        return jax.vmap(one)(jax.random.split(key, n_envs), state, action)

    return roll(step, (state, tables), actions_for(env, n_envs)[:20])


@pytest.mark.parametrize("name", ["StatelessCartPole", "HigherLower"])
@pytest.mark.parametrize("n_envs", SIZES)
def test_step_against_the_bare_task(name, n_envs):
    env = envs.make(name)
    ours, theirs, least = (
        meta(env, n_envs),
        bare(env, n_envs, True),
        bare(env, n_envs, False),
    )
    where = f"{name}, {n_envs} environments"
    print(f"\n{where}: {n_envs / ours / 1e6:.1f} M steps/s", end="")
    say(f"{where}, a step over the bare task's", ours / theirs, "x", at_most=3)
    say("... over one that never begins anew", ours / least, "x")


@pytest.mark.parametrize("name", ["StatelessCartPole", "HigherLower"])
@pytest.mark.parametrize("n_envs", SIZES)
def test_step_against_a_table_in_every_state(name, n_envs):
    env = envs.make(name)
    where = f"{name}, {n_envs} environments"
    ours, theirs = meta(env, n_envs), naive(env, n_envs)
    # Nobody has to write it so; the ratio says why the table is not in the state.
    say(f"{where}, against all words in every state", theirs / ours, "x")


@pytest.mark.parametrize("name", envs.REGISTRY)
def test_step_against_popgym(name):
    from test_envs_speed import popgym_rate

    env = envs.make(name)
    theirs, size = popgym_rate(name, env), env.observation_space.size
    for n_envs in SIZES:
        rate = n_envs / meta(env, n_envs)
        what = f"meta-environment of {name}, {n_envs} environments"
        if theirs is None:  # its mazes need mazelib
            say(f"{what}, million steps a second", rate / 1e6)
        else:
            # Each environment of Concentration reads 97 KB of its matrix at each step.
            least = None if size > 128 else 20
            say(f"{what}, over popgym", rate / theirs, "x", at_least=least)


def test_memory_above_the_bare_task():
    env = envs.make("HigherLower")
    meta_env = MetaEnv(env, PROJECTION)
    params = jax.eval_shape(meta_env.draw_params, jax.random.key(0))
    shapes = jax.eval_shape(
        lambda params: meta_env.reset_batch(jax.random.key(0), params, 1024), params
    )
    size = sum(x.size * x.dtype.itemsize for x in jax.tree.leaves((shapes, params)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak of this process {peak:.0f} MiB; {words.count_words(4, 4)} words")
    what = "state of 1024 environments with bases and table"
    say(what, size / 2**20, " MiB", at_most=64)
