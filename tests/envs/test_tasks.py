"""Laws that hold for every task."""

import functools
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify

from freeproj.envs import REGISTRY, Box, Discrete, make
from random_play import draw_actions, draw_keys, quick_jit

FAMILIES = list(REGISTRY)
ALL_NAMES = [family + level for family in FAMILIES for level in REGISTRY[family].levels]
# The levels of these differ in one number each, and they compile or run slowly.
SLOW = ("Noisy", "Labyrinth", "Velocity", "Bandit")
NAMES = [
    name for name in ALL_NAMES if "Easy" in name or not any(s in name for s in SLOW)
]
BEYOND = 3  # steps past the end


def play(env, state, keys, actions):
    """Steps through one trial: observations, states, rewards and both flags."""

    def advance(state, key_and_action):
        key, action = key_and_action
        obs, state, *flags, _ = env.step(key, state, action, env.default_params)
        return state, (obs, state, *flags)

    return jax.lax.scan(advance, state, (keys, actions))[1]


@functools.cache
def started(name, n_trials=64):
    """First observations, first states, and keys and actions beyond the end."""
    env = make(name)
    n_steps = env.max_steps + BEYOND
    keys = draw_keys((n_trials, n_steps + 1))
    reset = quick_jit(jax.vmap(lambda key: env.reset(key, env.default_params)))
    return *reset(keys[:, 0]), keys[:, 1:], draw_actions(env, n_trials, n_steps)


@functools.cache
def played(name):
    """Random trials of a task, with every index checked on the way."""
    batch = jax.vmap(functools.partial(play, make(name)))
    checked = quick_jit(checkify.checkify(batch, errors=checkify.index_checks))
    error, out = checked(*started(name)[1:])
    return error, jax.tree.map(np.asarray, out)


@pytest.mark.parametrize("name", NAMES)
def test_no_index_is_ever_out_of_range(name):
    error, _ = played(name)
    error.throw()


def test_the_index_check_sees_a_read_past_the_end():
    read = checkify.checkify(lambda i: jnp.arange(3)[i], errors=checkify.index_checks)
    with pytest.raises(checkify.JaxRuntimeError, match="out-of-bounds"):
        jax.jit(read)(jnp.array(3))[0].throw()


@pytest.mark.parametrize("name", NAMES)
def test_observations_are_float32_vectors_within_their_bounds(name):
    space = make(name).observation_space
    first, obs = started(name)[0], played(name)[1][0]
    assert first.dtype == obs.dtype == np.float32
    assert first.shape[1:] == obs.shape[2:] == (space.size,)
    for part in (first, obs):
        assert (part >= np.float32(space.low)).all()
        assert (part <= np.float32(space.high)).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_trial_ends_once_and_within_its_longest_time(name):
    env = make(name)
    _, _, _, terminated, truncated = played(name)[1]
    ended = terminated | truncated
    assert ended[:, env.max_steps - 1].all()
    assert (np.diff(ended.astype(int), axis=1) >= 0).all(), "an end is for ever"


@pytest.mark.parametrize("name", NAMES)
def test_steps_past_the_end_change_nothing_and_earn_nothing(name):
    _, states, reward, *flags = played(name)[1]
    ended = flags[0] | flags[1]
    assert (reward[:, 1:][ended[:, :-1]] == 0).all()
    for leaf in jax.tree.leaves((states, flags)):
        np.testing.assert_array_equal(leaf[:, -1], leaf[:, -1 - BEYOND])


@pytest.mark.parametrize("name", NAMES)
def test_a_trial_earns_between_minus_one_and_one(name):
    reward = played(name)[1][2]
    assert reward.dtype == np.float32
    assert (np.abs(reward.sum(axis=1, dtype=np.float64)) <= 1 + 1e-5).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_scaled_observations_fill_the_unit_range(family):
    env = make(family)
    assert len(env.observation_scale) == env.observation_space.size
    obs, *_, terminated, _ = played(family)[1]
    running = np.abs(obs[~terminated] / np.array(env.observation_scale))
    if "Noisy" not in family:  # noise may lead beyond the thresholds, not the bounds
        assert running.max() <= 1 + 1e-6
    assert running.max() > 0.5


@pytest.mark.parametrize("family", FAMILIES)
def test_eager_steps_equal_compiled_ones(family):
    env = make(family)
    key = jax.random.key(3)
    action = env.action_space.sample(key)
    eager = env.reset(key, env.default_params)
    compiled = quick_jit(env.reset)(key, env.default_params)
    assert_equal_trees(eager, compiled)
    step = quick_jit(env.step)
    for _ in range(3):
        eager = env.step(key, eager[1], action, env.default_params)
        compiled = step(key, compiled[1], action, env.default_params)
        assert_equal_trees(eager, compiled)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_batch_equals_a_loop_from_the_same_stored_states(family):
    single = quick_jit(functools.partial(play, make(family)))
    for row in (0, 1, 63):
        start = jax.tree.map(operator.itemgetter(row), started(family)[1:])
        batch = jax.tree.map(operator.itemgetter(row), played(family)[1])
        assert_equal_trees(single(*start), batch, tolerance=1e-3)


@pytest.mark.parametrize("family", FAMILIES)
def test_states_keep_their_types_with_float64_on(family):
    env = make(family)
    with jax.enable_x64(True):
        key = jax.random.key(5)
        obs, state = env.reset(key, env.default_params)
        action = env.action_space.sample(key)
        new_obs, new_state, reward, *_ = env.step(
            key, state, action, env.default_params
        )
        assert obs.dtype == new_obs.dtype == reward.dtype == np.float32
        before, after = jax.tree.map(lambda leaf: leaf.dtype, (state, new_state))
        assert before == after


@pytest.mark.parametrize("family", FAMILIES)
def test_resets_differ_between_keys(family):
    states = jax.tree.leaves(started(family)[1])
    assert any((leaf != leaf[:1]).any() for leaf in states)


@pytest.mark.parametrize("family", FAMILIES)
def test_concrete_actions_outside_the_space_are_refused(family):
    env, key = make(family), jax.random.key(7)
    state = jax.tree.map(operator.itemgetter(0), started(family)[1])
    if isinstance(env.action_space, Discrete):
        n = env.action_space.n
        for action in (-1, n, jnp.array(n), 0.5):
            with pytest.raises(ValueError, match=f"in 0..{n - 1}, got"):
                env.step(key, state, action, env.default_params)
        with pytest.raises(ValueError, match=r"shape \(\), got \(1,\)"):
            env.step(key, state, jnp.array([0]), env.default_params)
    else:
        with pytest.raises(ValueError, match=r"shape \(1,\), got \(\)"):
            env.step(key, state, jnp.array(0.0), env.default_params)


@pytest.mark.parametrize("name", ALL_NAMES)
def test_actions_have_names_that_differ(name):
    env = make(name)
    if isinstance(env.action_space, Box):
        assert env.action_names == ()
    else:
        assert len(set(env.action_names)) == env.action_space.n


def assert_equal_trees(left, right, tolerance=1e-5):
    # Compiled programs fuse operations, so floats may differ in the last places.
    assert jax.tree.structure(left) == jax.tree.structure(right)
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)
