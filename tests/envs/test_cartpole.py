"""CartPole: symmetry, thresholds and the time limit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.envs import NoisyStatelessCartPole, StatelessCartPole
from freeproj.envs.cartpole import CartPoleParams, CartPoleState, move_cart

PARAMS = CartPoleParams()


def state(position=0.0, velocity=0.0, angle=0.0, angular_velocity=0.0, time=0):
    numbers = map(jnp.float32, (position, velocity, angle, angular_velocity))
    return CartPoleState(*numbers, time=jnp.int32(time))


def test_mirrored_states_move_as_mirror_images():
    right = move_cart(state(0.1, 0.2, 0.05, -0.3), jnp.float32(1), PARAMS)
    left = move_cart(state(-0.1, -0.2, -0.05, 0.3), jnp.float32(-1), PARAMS)
    np.testing.assert_allclose(right[:4], -np.array(left[:4]), rtol=1e-6)


def test_a_pole_at_rest_falls_as_the_linear_formula_says():
    angle, mass = 1e-3, PARAMS.cart_mass + PARAMS.pole_mass
    inertia = PARAMS.half_length * (4 / 3 - PARAMS.pole_mass / mass)
    after = move_cart(state(angle=angle), jnp.float32(0), PARAMS)
    angular = float(after.angular_velocity) / PARAMS.time_step
    assert angular == pytest.approx(PARAMS.gravity * angle / inertia, rel=1e-4)


@pytest.mark.parametrize(
    ("start", "out"),
    [
        (state(position=2.39), False),
        (state(position=2.41), True),
        (state(position=-2.41), True),
        (state(angle=0.209), False),
        (state(angle=-0.21), True),
    ],
)
def test_a_trial_terminates_beyond_the_thresholds(start, out):
    # At rest positions keep for one Euler step; a step from outside stays there.
    step = StatelessCartPole().step(jax.random.key(0), start, 0, PARAMS)
    assert bool(step[3]) == out
    assert float(step[2]) == pytest.approx(0 if out else 1 / 200)


def test_the_step_that_ends_a_trial_is_paid():
    start = state(angle=0.209, angular_velocity=1.0)
    *_, reward, terminated, truncated, _ = StatelessCartPole().step(
        jax.random.key(0), start, 0, PARAMS
    )
    assert terminated
    assert not truncated
    assert float(reward) == pytest.approx(1 / 200)


def test_the_limit_truncates_even_when_the_pole_falls_then():
    env = StatelessCartPole()
    last = state(time=199)
    assert not env.step(jax.random.key(0), state(time=198), 0, PARAMS)[4]
    _, after, _, terminated, truncated, _ = env.step(jax.random.key(0), last, 0, PARAMS)
    assert truncated
    assert not terminated
    assert int(after.time) == 200
    falling = state(angle=0.209, angular_velocity=1.0, time=199)
    *_, terminated, truncated, _ = env.step(jax.random.key(0), falling, 0, PARAMS)
    assert terminated
    assert truncated


def test_only_position_and_angle_are_seen():
    obs, *_ = StatelessCartPole().step(
        jax.random.key(0), state(1.0, 5.0, 0.1, 1.0), 1, PARAMS
    )
    np.testing.assert_allclose(obs, [1.1, 0.12], rtol=1e-5)


def test_starts_are_uniform_and_small(getkey):
    keys = jax.random.split(getkey(), 5000)
    _, states = jax.vmap(lambda key: StatelessCartPole().reset(key, PARAMS))(keys)
    numbers = np.array(states[:4])
    assert np.abs(numbers).max() <= 0.05
    error = 0.05 / np.sqrt(3 * numbers.size)
    assert abs(numbers.mean()) < 4 * error
    assert abs(numbers.std() - 0.05 / np.sqrt(3)) < 4 * error


def test_noise_has_its_deviation_and_stays_within_the_bounds(getkey):
    env = NoisyStatelessCartPole(noise=0.3)
    keys = jax.random.split(getkey(), 4000)
    step = jax.vmap(env.step, in_axes=(0, None, None, None))
    obs = np.asarray(step(keys, state(), jnp.array(1), PARAMS)[0])
    assert np.abs(obs[:, 0]).max() <= 4.8
    assert abs(obs[:, 0].std() - 0.3) < 4 * 0.3 / np.sqrt(2 * len(keys))
    bound = env.observation_space.high[1]
    assert np.abs(obs[:, 1]).max() == np.float32(bound), "0.3 often exceeds 0.42"
    with pytest.raises(ValueError, match="`noise` must be at least 0, got -1"):
        NoisyStatelessCartPole(noise=-1.0)


def test_render_shows_the_cart_where_it_is():
    env = StatelessCartPole()
    middle, right = env.render(state()), env.render(state(position=2.4, angle=0.1))
    assert middle.index("┴") == 13
    assert right.index("┴") == 25
    assert "pole +5.7°" in right
    assert "┴" in env.render(state(position=-9.0)), "out of the track is at its end"
