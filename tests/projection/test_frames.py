"""Frames: coordinates that depend on inner products only, and agents that see them."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from freeproj.agents import ActorCritic
from freeproj.learning.config import TrainConfig
from freeproj.learning.evaluate import map_table
from freeproj.learning.rollout import RolloutState, play_step
from freeproj.meta.episodes import MetaEnv
from freeproj.projection.families import FAMILIES
from freeproj.projection.frames import ROUNDING, PlainFrame, empty, see
from freeproj.projection.maps import fixed_map
from freeproj.projection.projection import FreeProjection

DIM, SIZE = 16, 4
MAPS_OF_NORM_1 = ["tile_unit", "minus_tile_unit"]
FIXED = ["tile", "minus_tile", "pad", *MAPS_OF_NORM_1, "tile_literal"]
ISOMETRIES = [*FIXED, *(name for name in FAMILIES if name != "gaussian")]


def isometry(name: str) -> np.ndarray:
    """A 16 x 4 matrix: a fixed one, or that of a word in a family."""
    if name in FIXED:
        return fixed_map(name, DIM, SIZE, np.sqrt(2))
    law = FreeProjection(2, 4, DIM, family=name)
    bases = law.draw_bases(jax.random.key(7))
    return np.asarray(law.matrix(np.array([1, 2, 2, 1]), bases, SIZE))


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
    observations /= np.linalg.norm(observations, axis=1).max()
    norm = {"tile_literal": 2.0} | dict.fromkeys(MAPS_OF_NORM_1, 1.0)
    seen = look(observations @ isometry(name).T)
    expected = look(norm.get(name, np.sqrt(2)) * observations)
    np.testing.assert_allclose(seen, expected, atol=1e-5)


def by_cholesky(xs: np.ndarray, size: int) -> np.ndarray:
    """The slow twin: rows of the Cholesky factor of the Gram matrix, and the rest.

    A vector that is almost in the span of those before it adds no column.
    """
    gram, kept, rows = xs @ xs.T, [], np.zeros((len(xs), size + 1))
    for step in range(len(xs)):
        factor = np.linalg.cholesky(gram[np.ix_(kept, kept)])
        known = scipy.linalg.solve_triangular(factor, gram[kept, step], lower=True)
        rest = np.sqrt(max(gram[step, step] - known @ known, 0.0))
        rows[step, : len(known)] = known
        is_new = len(kept) < size and rest > ROUNDING * np.sqrt(gram[step, step])
        rows[step, len(known) if is_new else size] = rest
        if is_new:
            kept.append(step)
    return rows


@pytest.mark.fast
@pytest.mark.parametrize("rank", [1, 3, SIZE])
@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("size", [2, SIZE])
def test_coordinates_are_rows_of_the_cholesky_factor(rank, noise, size):
    observations = walk(rank=rank)
    observations += noise * np.random.default_rng(2).normal(size=observations.shape)
    most = 1e-5 * np.linalg.norm(observations, axis=1).max()
    expected = by_cholesky(observations, size)
    np.testing.assert_allclose(look(observations, size), expected, atol=most)
    projected = observations @ isometry("iid_haar").T / np.sqrt(2)
    np.testing.assert_allclose(look(projected, size), expected, atol=most)


@pytest.mark.fast
def test_steps_of_one_agent_are_those_of_a_sequence_and_of_a_batch():
    observations = np.float32(walk() @ isometry("haar").T)
    expected, last = _look(jnp.asarray(observations), SIZE, None)
    frame, frames = empty(SIZE, DIM), jax.vmap(lambda _: empty(SIZE, DIM))(np.ones(3))
    for x, row in zip(observations[:8], expected, strict=False):
        seen, frame = see(frame, jnp.asarray(x))
        np.testing.assert_allclose(seen, row, atol=1e-5)
        batch, frames = jax.vmap(see)(frames, jnp.tile(x, (3, 1)))
        np.testing.assert_allclose(batch, np.tile(row, (3, 1)), atol=1e-5)
    np.testing.assert_allclose(frame.rows, last.rows, atol=1e-5)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_inner_products_are_kept_whatever_the_rank(rank):
    observations = walk(rank=rank)
    seen = look(observations)
    np.testing.assert_allclose(
        seen @ seen.T, observations @ observations.T, rtol=1e-4, atol=1e-3
    )
    assert np.all(seen[:, rank:SIZE] == 0)


@pytest.mark.fast
@pytest.mark.parametrize("name", ["tile", "haar", "gaussian", "truncated"])
def test_gram_matrix_gives_the_coordinates_of_what_is_projected(name):
    if name == "gaussian":
        matrix = np.random.default_rng(3).normal(size=(DIM, SIZE)) / 3
    elif name == "truncated":
        matrix = isometry("haar")[:3]
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
    observations = walk() @ isometry("haar").T
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


def test_gaussian_test_projections_keep_norms_on_average_only():
    def grams(dim, name):
        law = dataclasses.replace(LAW, dim=dim, input_dim=dim)
        env = dataclasses.replace(meta(), projection=law, encoder="none")
        table = map_table(jax.random.key(0), env, (name,), 400)[0].table[:, 0]
        return np.einsum("nij,nkj->nik", table, table)  # MᵀM of each environment

    for dim in (8, 64):
        found = grams(
            dim, "gaussian"
        )  # a sum of d_in products: variance (1 + δ)σ⁴/d_in
        error = np.sqrt((1 + np.eye(SIZE)) * LAW.scale**4 / dim / len(found))
        assert np.all(abs(found.mean(0) - LAW.scale**2 * np.eye(SIZE)) < 5 * error)
        spread = np.sqrt(2 / dim) * LAW.scale**2
        assert abs(found[:, 0, 0].std() / spread - 1) < 0.2
    exact = np.broadcast_to(LAW.scale**2 * np.eye(SIZE), (400, SIZE, SIZE))
    np.testing.assert_allclose(grams(8, "random"), exact, atol=1e-5)


@pytest.mark.parametrize("trials", ["same_start", "fresh_start"])
def test_card_episodes_are_equal_action_by_action_under_every_isometry(trials):
    env = meta(trials=trials, previous_reward=True)
    first = played(env, "tile")
    assert len(np.unique(first[1])) == 4  # the agent does use its actions
    for name in ("minus_tile", "haar word", "uncorrected QR", "permutation"):
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
