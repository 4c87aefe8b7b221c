"""Pendulum: costs, clipping and the time limit."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.envs import NoisyStatelessPendulum, StatelessPendulum
from freeproj.envs.pendulum import PendulumParams, PendulumState, move, wrap_angle

PARAMS = PendulumParams()


def state(angle=0.0, speed=0.0, time=0):
    return PendulumState(jnp.float32(angle), jnp.float32(speed), jnp.int32(time))


def step(start, torque=0.0):
    env = StatelessPendulum()
    return env.step(jax.random.key(0), start, jnp.array([torque]), PARAMS)


def test_standing_upright_earns_the_most_and_hanging_fast_the_least():
    assert float(step(state())[2]) == pytest.approx(1 / 200)
    assert float(step(state(math.pi, 8.0), 2.0)[2]) == pytest.approx(-1 / 200)


def test_torques_beyond_the_bounds_count_as_the_bounds():
    inside, outside = step(state(1.0), 2.0), step(state(1.0), 7.0)
    np.testing.assert_array_equal(inside[0], outside[0])
    assert inside[2] == outside[2]


def test_speed_is_clipped():
    after, _ = move(state(math.pi / 2, 7.9), jnp.float32(2), PARAMS)
    assert float(after.speed) == 8


def test_angles_wrap_to_the_same_direction():
    angles = jnp.linspace(-20, 20, 101)
    wrapped = jax.vmap(wrap_angle)(angles)
    assert ((wrapped >= -math.pi - 1e-5) & (wrapped < math.pi)).all()
    np.testing.assert_allclose(jnp.cos(angles), jnp.cos(wrapped), atol=1e-5)
    np.testing.assert_allclose(jnp.sin(angles), jnp.sin(wrapped), atol=1e-5)


def test_only_the_limit_ends_a_trial():
    *_, terminated, truncated, _ = step(state(3.0, 2.0, 198))
    assert not terminated | truncated
    *_, terminated, truncated, _ = step(state(3.0, 2.0, 199))
    assert truncated
    assert not terminated


def test_the_direction_is_seen_and_the_speed_is_not():
    obs, after, *_ = step(state(1.0, 3.0))
    np.testing.assert_allclose(obs, [math.cos(after.angle), math.sin(after.angle)])
    assert obs.shape == (2,)


def test_starts_lie_anywhere_on_the_circle(getkey):
    keys = jax.random.split(getkey(), 5000)
    _, states = jax.vmap(lambda key: StatelessPendulum().reset(key, PARAMS))(keys)
    for values, bound in ((states.angle, math.pi), (states.speed, 1.0)):
        values = np.asarray(values)
        assert np.abs(values).max() <= bound + 1e-6
        error = bound / math.sqrt(3 * len(values))
        assert abs(values.mean()) < 4 * error
        assert abs(values.std() - bound / math.sqrt(3)) < 4 * error


def test_noisy_observations_stay_in_the_square(getkey):
    env = NoisyStatelessPendulum(noise=0.3)
    keys = jax.random.split(getkey(), 2000)
    draw = jax.vmap(env.step, in_axes=(0, None, None, None))
    obs = np.asarray(draw(keys, state(1.0), jnp.zeros(1), PARAMS)[0])
    assert np.abs(obs).max() == 1
    assert obs.std(axis=0).min() > 0.1


def test_render_points_where_the_pendulum_points():
    env = StatelessPendulum()
    assert env.render(state()).startswith("↑  +0°")
    assert env.render(state(math.pi / 2)).startswith("←  +90°")
    assert env.render(state(math.pi)).startswith("↓")
    assert "step 7 of 200" in env.render(state(time=7))
