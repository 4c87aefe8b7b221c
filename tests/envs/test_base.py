"""Spaces, names of levels, and the check of actions."""

import jax
import jax.numpy as jnp
import pytest

from freeproj.envs import HigherLower, Minesweeper, RepeatPrevious, StatelessCartPole
from freeproj.envs.base import check_action
from freeproj.projection.spaces import Box, Discrete


def test_a_box_holds_its_samples(getkey):
    box = Box((-1.0, 0.0), (1.0, 5.0))
    assert box.size == 2
    assert box.bounded
    draws = jax.vmap(box.sample)(jax.random.split(getkey(), 200))
    assert jnp.array_equal(jax.vmap(box.clip)(draws), draws)
    assert draws[:, 1].max() > 4


def test_clipping_gives_the_nearest_vector_of_the_box():
    box = Box((-1.0, 0.0), (1.0, 5.0))
    assert box.clip(jnp.array([-3.0, 2.0])).tolist() == [-1, 2]


def test_a_box_refuses_nonsense(getkey):
    with pytest.raises(ValueError, match="equally many entries"):
        Box((0.0,), (1.0, 2.0))
    with pytest.raises(ValueError, match="must not exceed"):
        Box((1.0,), (0.0,))
    with pytest.raises(ValueError, match="must be finite"):
        Box((0.0,), (float("inf"),)).sample(getkey())


def test_discrete_draws_every_value_and_no_other(getkey):
    draws = jax.vmap(Discrete(3).sample)(jax.random.split(getkey(), 200))
    assert set(draws.tolist()) == {0, 1, 2}
    with pytest.raises(ValueError, match="at least 1, got 0"):
        Discrete(0)


def test_names_follow_the_attributes_of_a_level():
    assert HigherLower().name == "HigherLower"
    assert HigherLower(n_decks=3).name == "HigherLowerHard"
    assert HigherLower(n_decks=5).name == "HigherLower(n_decks=5)"
    assert RepeatPrevious(delay=7).name == "RepeatPrevious(n_decks=1, delay=7)"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: HigherLower(n_decks=0), "`n_decks` must be at least 1, got 0"),
        (lambda: RepeatPrevious(delay=51), "`delay` must lie in 0..50"),
        (lambda: Minesweeper(side=2), "`n_mines` must lie in 1..1 on 4 cells, got 2"),
        (lambda: StatelessCartPole(time_limit=0), "`time_limit` must be at least 1"),
    ],
)
def test_tasks_refuse_impossible_attributes(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_traced_actions_pass_the_check_and_bad_shapes_do_not():
    jax.jit(lambda action: check_action(action, Discrete(2)))(5)
    with pytest.raises(ValueError, match=r"shape \(\), got \(2,\); batch"):
        jax.jit(lambda action: check_action(action, Discrete(2)))(jnp.zeros(2, int))


def test_a_scale_for_infinite_bounds_must_be_given():
    class Unbounded(HigherLower):
        @property
        def observation_space(self):
            return Box((-1.0,), (float("inf"),))

    with pytest.raises(ValueError, match="must define `observation_scale`"):
        _ = Unbounded().observation_scale
