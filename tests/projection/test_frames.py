"""Frames: coordinates that depend on inner products only, and agents that see them."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.agents import ActorCritic
from freeproj.learning.config import TrainConfig
from freeproj.learning.evaluate import map_table
from freeproj.learning.rollout import RolloutState, play_step
from freeproj.meta.episodes import MetaEnv
from freeproj.projection.frames import ROUNDING, PlainFrame, empty, see
from freeproj.projection.maps import fixed_map
from freeproj.projection.projection import FreeProjection

DIM, SIZE = 12, 4
ISOMETRIES = ["tile", "minus_tile", "pad", "haar word", "uncorrected QR", "permutation"]


def isometry(name: str) -> np.ndarray:
    """A 12 x 4 matrix of that name, with scale √2."""
    key = jax.random.key(7)
    if name in ("haar word", "uncorrected QR"):
        family = "haar" if name == "haar word" else "qr"
        law = FreeProjection(2, 4, DIM, family=family)
        return np.asarray(law.matrix(np.array([1, 2, 2, 1]), law.draw_bases(key), SIZE))
    if name == "permutation":
        return (
            np.sqrt(2) * np.eye(DIM)[np.random.default_rng(0).permutation(DIM)][:, :4]
        )
    return fixed_map(name, DIM, SIZE, np.sqrt(2))


def look(xs: np.ndarray, size: int = SIZE, gram=None) -> np.ndarray:
    """The coordinates of vectors that are seen one after the other."""
    return np.asarray(_look(jnp.asarray(xs, jnp.float32), size, gram)[0])


@functools.partial(jax.jit, static_argnums=1)
def _look(xs, size: int, gram):
    def step(frame, x):
        seen, frame = see(frame, x, gram)
        return frame, seen

    frame, seen = jax.lax.scan(step, empty(size, xs.shape[1]), xs)
    return seen, frame


def walk(n_steps: int = 30, rank: int = SIZE) -> np.ndarray:
    """Observations that move in a subspace of a given dimension."""
    rng = np.random.default_rng(1)
    steps = rng.normal(size=(n_steps, rank)) @ rng.normal(size=(rank, SIZE))
    return np.cumsum(steps, axis=0)


@pytest.mark.fast
@pytest.mark.parametrize("name", ISOMETRIES)
def test_coordinates_are_the_same_under_every_isometry(name):
    observations = walk()
    seen = look(observations @ isometry(name).T)
    np.testing.assert_allclose(seen, look(np.sqrt(2) * observations), atol=1e-5)


@pytest.mark.fast
def test_coordinates_are_rows_of_the_cholesky_factor():
    observations = np.random.default_rng(2).normal(size=(SIZE, SIZE))
    factor = np.linalg.cholesky(observations @ observations.T)
    np.testing.assert_allclose(look(observations)[:, :SIZE], factor, atol=1e-5)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_inner_products_are_kept_whatever_the_rank(rank):
    observations = walk(rank=rank)
    seen = look(observations)
    np.testing.assert_allclose(
        seen @ seen.T, observations @ observations.T, rtol=1e-4, atol=1e-3
    )
    assert np.all(seen[:, rank:SIZE] == 0)


@pytest.mark.fast
@pytest.mark.parametrize("name", [*ISOMETRIES, "gaussian", "truncated"])
def test_gram_matrix_gives_the_coordinates_of_what_is_projected(name):
    if name == "gaussian":
        matrix = np.random.default_rng(3).normal(size=(DIM, SIZE)) / 3
    elif name == "truncated":
        matrix = isometry("haar word")[:3]
    else:
        matrix = isometry(name)
    observations = walk()
    gram = jnp.asarray(matrix.T @ matrix, jnp.float32)
    projected = observations @ matrix.T
    np.testing.assert_allclose(
        look(observations, gram=gram),
        look(projected),
        atol=1e-4 * np.linalg.norm(projected, axis=1).max(),
    )


def test_plain_frame_is_the_same_in_numpy():
    observations = walk() @ isometry("haar word").T
    plain = PlainFrame(SIZE, DIM)
    seen = np.stack([plain.see(x) for x in observations])
    np.testing.assert_allclose(seen, look(observations), atol=1e-5)
    plain.clear()
    np.testing.assert_array_equal(plain.see(observations[0]), seen[0])


@pytest.mark.fast
def test_zero_repeated_and_tiny_vectors_add_no_direction():
    x = np.array([3.0, 4.0, 0, 0])
    seen = look(np.stack([0 * x, x, x, -2 * x, 1e-20 * x, 0 * x]))
    expected = np.zeros((6, SIZE + 1))
    expected[1:4, 0] = 5, 5, -10
    np.testing.assert_allclose(seen, expected, atol=1e-5)


def test_directions_of_the_size_of_rounding_are_left_over_and_larger_ones_kept():
    x = np.array([1.0, 0, 0, 0])
    small = np.array([1, 0.5 * ROUNDING, 0, 0])
    large = np.array([1, 2 * ROUNDING, 0, 0])
    seen = look(np.stack([x, small, large]))
    assert seen[1, -1] == pytest.approx(0.5 * ROUNDING, rel=1e-3)
    assert seen[1, 1] == 0
    assert seen[2, 1] == pytest.approx(2 * ROUNDING, rel=1e-3)


def test_directions_below_the_threshold_wait():
    xs = jnp.array([[0.2, 0, 0, 0], [0, 0.6, 0, 0], [0.2, 0, 0, 0]])
    frame, seen = empty(SIZE, SIZE), []
    for x in xs:
        now, frame = see(frame, x, threshold=0.5)
        seen.append(np.asarray(now))
    np.testing.assert_allclose(
        seen, [[0, 0, 0, 0, 0.2], [0.6, 0, 0, 0, 0], [0] * 4 + [0.2]], atol=1e-6
    )
    plain = PlainFrame(SIZE, SIZE, threshold=0.5)
    np.testing.assert_allclose([plain.see(np.asarray(x)) for x in xs], seen, atol=1e-6)


@pytest.mark.fast
def test_full_frame_stays_and_shows_what_is_left_over():
    observations = np.random.default_rng(4).normal(size=(10, SIZE))
    seen = look(observations, size=2)
    full, after = (
        _look(jnp.asarray(xs, jnp.float32), 2, None)[1].rows
        for xs in (observations[:2], observations)
    )
    np.testing.assert_array_equal(after, full)
    np.testing.assert_allclose(
        np.linalg.norm(seen, axis=1), np.linalg.norm(observations, axis=1), rtol=1e-5
    )


# Agents.

LAW = FreeProjection(2, 2, 16)


def meta(task: str = "RepeatPrevious", **settings) -> MetaEnv:
    return MetaEnv(task, LAW, 2, encoder="frame", keep_words=True, **settings)


def played(env: MetaEnv, name: str, n_steps: int = 80):
    """Inputs, actions, rewards of an agent under a map, with one and the same noise."""
    agent = ActorCritic.create(
        jax.random.key(1),
        env.input_size,
        env.action_space,
        embedding_size=16,
        hidden_size=16,
        head_size=16,
    )
    # Actions follow the inputs closely, so that a difference in them cannot hide.
    agent = eqx.tree_at(
        lambda each: each.actor[-1].weight, agent, replace_fn=lambda w: 300 * w
    )
    if name in ("haar word", "uncorrected QR"):
        family = "haar" if name == "haar word" else "qr"
        law = dataclasses.replace(LAW, family=family)
        other = dataclasses.replace(env, projection=law)
        params = other.draw_params(jax.random.key(5))
    elif name == "permutation":
        order = jax.random.permutation(jax.random.key(3), LAW.dim)
        table = np.sqrt(2) * np.eye(LAW.dim)[order][:, : env.observation_size]
        tasks = tuple(task.default_params for task in env.tasks)
        params = env.draw_params(jax.random.key(0))._replace(
            table=env.table_of(jnp.asarray(table, jnp.float32)[None]), tasks=tasks
        )
    else:
        params = map_table(jax.random.key(0), env, (name,), 4)[0]
    row = jnp.zeros(4, jnp.int32)
    keys = jax.random.split(jax.random.key(2), 4)
    inputs, episodes = jax.vmap(env.reset, in_axes=(0, None, 0))(keys, params, row)
    state = RolloutState(inputs, episodes, agent.initial_state(4), jnp.zeros(4))

    def step(state, key):
        key_noise, key_env = jax.random.split(key)
        noise = agent.noise(key_noise, (4,))
        state, happened, _ = play_step(key_env, noise, env, params, agent, state)
        return state, (happened.inputs, happened.action, happened.reward)

    keys = jax.random.split(jax.random.key(4), n_steps)
    run = jax.jit(lambda state, keys: jax.lax.scan(step, state, keys)[1])
    return jax.device_get(run(state, keys))


@pytest.mark.parametrize("trials", ["same_start", "fresh_start"])
def test_card_episodes_are_equal_action_by_action_under_every_isometry(trials):
    env = meta(trials=trials, previous_reward=True)
    first = played(env, "tile")
    assert len(np.unique(first[1])) == 4  # the agent does use its actions
    for name in ISOMETRIES[1:]:
        seen, actions, rewards = played(env, name)
        np.testing.assert_array_equal(actions, first[1], err_msg=name)
        np.testing.assert_array_equal(rewards, first[2], err_msg=name)
        np.testing.assert_allclose(seen, first[0], atol=1e-5, err_msg=name)


def test_blanked_episodes_show_zeros():
    env = meta()
    seen = played(env, "zero")[0][..., env.layout["observation"]]
    assert np.all(seen == 0)


@pytest.mark.fast
@pytest.mark.parametrize("task", ["StatelessCartPole", "Minesweeper"])
def test_meta_environment_shows_the_coordinates_of_what_it_projects(task):
    env = meta(task, normalize_observations=True)
    ordinary = dataclasses.replace(env, encoder="none")
    key, key_word = jax.random.split(jax.random.key(6))
    shown, projected = [], []
    for each, kept in ((env, shown), (ordinary, projected)):
        params = each.draw_params(key)
        inputs, state = each.reset(key_word, params, jnp.asarray(1, jnp.int32))
        step = jax.jit(each.step)
        for number in range(40):
            kept.append(np.asarray(inputs[each.layout["observation"]]))
            action = jnp.asarray(number % each.action_space.n)
            inputs, state, *_ = step(jax.random.key(number), state, action, params)
    # The second episode begins somewhere: compare the first, whose frame began empty.
    episode = look(np.stack(projected), size=env.observation_size)
    ends = np.flatnonzero(np.abs(episode - np.stack(shown)).max(axis=1) > 1e-4)
    assert len(ends) == 0 or ends[0] > 10


def test_slot_of_a_frame_is_as_wide_as_the_observation_and_one():
    config = TrainConfig(task="HigherLower", encoder="frame")
    layout = config.training_env().layout["observation"]
    assert layout.stop - layout.start == 13 + 1
    smaller = dataclasses.replace(config, frame_size=3).training_env()
    assert smaller.observation_slot == 3 + 1


def test_rematching_running_episodes_is_refused():
    with pytest.raises(ValueError, match="running_episodes"):
        TrainConfig(encoder="frame", running_episodes="rematch")
