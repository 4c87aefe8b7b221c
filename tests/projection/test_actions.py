"""Laws of action maps: nothing is lost, nothing meaningless is allowed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.meta.episodes import MetaEnv
from freeproj.projection.actions import CommonActions, relabelling
from freeproj.projection.projection import FreeProjection
from freeproj.projection.spaces import Box


@pytest.mark.parametrize("n_task", [1, 3, 6])
def test_every_task_action_has_exactly_one_common_action(getkey, n_task):
    to_task, mask = relabelling(getkey(), n_task, 6)
    assert sorted(to_task[mask].tolist()) == list(range(n_task))
    assert np.all(np.asarray(to_task)[~np.asarray(mask)] == 0)


def test_without_a_key_actions_keep_their_numbers():
    to_task, mask = relabelling(None, 2, 4)
    assert to_task.tolist() == [0, 1, 0, 0]
    assert mask.tolist() == [True, True, False, False]


def test_relabelling_is_uniform_over_injections(getkey):
    draw = jax.vmap(lambda key: relabelling(key, 2, 3))
    to_task, mask = draw(jax.random.split(getkey(), 6000))
    labels = np.where(np.asarray(mask), np.asarray(to_task), 2)
    _, counts = np.unique(labels, axis=0, return_counts=True)
    assert len(counts) == 6
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_the_number_of_task_actions_may_be_traced(getkey):
    key = getkey()
    traced = jax.jit(lambda n: relabelling(key, n, 5))(jnp.array(3))
    plain = relabelling(key, 3, 5)
    assert jnp.array_equal(traced.mask, plain.mask)
    assert jnp.array_equal(traced.to_task, plain.to_task)


BOXES = (Box((-1.0, -0.5), (1.0, 0.5)), Box((-1.0,) * 4, (1.0,) * 4))


def test_matrices_of_continuous_actions_are_orthogonal(getkey):
    matrix = CommonActions(BOXES, "random").draw(getkey(), jnp.array(0))
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(4), atol=1e-5)
    identity = CommonActions(BOXES).draw(getkey(), jnp.array(0))
    assert jnp.array_equal(identity, jnp.eye(4))


def test_projected_actions_are_allowed_actions(getkey):
    common, high = CommonActions(BOXES, "random"), np.array([1.0, 0.5])
    matrix = common.draw(getkey(), jnp.array(0))
    actions = 3 * jax.random.normal(getkey(), (50, 4))
    taken = np.asarray(jax.vmap(lambda a: common.translate(matrix, a, 0))(actions))
    assert np.all(np.abs(taken) <= high)
    turned = actions @ matrix[:2].T
    inside = np.abs(turned) <= high
    assert inside.any()
    assert not inside.all()
    np.testing.assert_allclose(taken[inside], turned[inside], atol=1e-6)


def test_too_few_common_actions_are_refused():
    with pytest.raises(ValueError, match="3 actions do not fit into 2"):
        relabelling(None, 3, 2)


def test_order_of_use_is_a_uniform_order_of_the_tasks_own_actions():
    keys = jax.random.split(jax.random.key(0), 3000)
    drawn = jax.vmap(lambda key: relabelling(key, 3, 5, by_use=True))(keys)
    np.testing.assert_array_equal(drawn.mask, [[True] * 3 + [False] * 2] * 3000)
    orders, counts = np.unique(drawn.to_task[:, :3], axis=0, return_counts=True)
    assert len(orders) == 6
    error = np.sqrt(3000 * (1 / 6) * (5 / 6))
    assert np.all(abs(counts - 500) < 4 * error)


def by_use() -> MetaEnv:
    return MetaEnv("RepeatFirst", FreeProjection(2, 1, 8), 2, action_map="by_use")


def test_agent_may_repeat_what_it_used_or_try_one_new_action():
    env = by_use()
    params = env.draw_params(jax.random.key(0))
    _, state = env.reset(jax.random.key(1), params)
    step = jax.jit(env.step)
    for action, allowed in ((0, 1), (1, 2), (0, 3), (1, 3), (2, 3), (3, 4), (0, 4)):
        mask = np.asarray(env.action_mask(state))
        np.testing.assert_array_equal(mask, np.arange(4) < allowed)
        assert mask[action]
        _, state, *_ = step(jax.random.key(2), state, jnp.asarray(action), params)


def test_actions_by_use_forget_their_order_at_the_next_episode():
    env = by_use()
    params = env.draw_params(jax.random.key(0))
    _, state = env.reset(jax.random.key(1), params)
    step = jax.jit(env.step)
    for number in range(2 * 51):
        key = jax.random.fold_in(jax.random.key(2), number)
        _, state, _, ended, *_ = step(key, state, jnp.asarray(0), params)
    assert ended
    assert state.n_used == 0


def test_continuous_actions_have_no_order_of_use():
    with pytest.raises(ValueError, match="discrete"):
        MetaEnv("StatelessPendulum", FreeProjection(2, 1, 8), action_map="by_use")
