"""Good players of CartPole and Pendulum, to show what returns can be reached.

CartPole: a Kalman filter on what is seen, with linear feedback; it knows the physics
but not the start. Pendulum: finite-horizon dynamic programming on a grid of
angles and speeds; it knows the whole state, so it bounds those who see the angle only.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freeproj.envs.cartpole import (
    CartPole,
    CartPoleParams,
    CartPoleState,
    VelocityOnlyCartPole,
    move_cart,
)
from freeproj.envs.pendulum import (
    PendulumParams,
    PendulumState,
    StatelessPendulum,
    move,
)

__all__ = ["CostToGo", "balance_returns", "cost_to_go", "swing_up_returns"]

_POSITIONS, _VELOCITIES = np.eye(4, dtype=np.float32).reshape(2, 2, 4).swapaxes(0, 1)
_START_VARIANCE = 0.05**2 / 3
_MIN_NOISE = 1e-3  # keeps the filter's equations regular where observations are exact
_DRIFT = 1e-6  # variance added per step, for what the linear model leaves out


def balance_returns(
    key: PRNGKeyArray, env: CartPole, n_trials: int
) -> Float[Array, " n_trials"]:
    """Return what the filtering player earns in each of n trials."""
    keys = jax.random.split(key, n_trials)
    gain = jnp.asarray(_feedback(*_linearise()), jnp.float32)
    return jax.jit(jax.vmap(lambda key: _balance(key, env, gain)))(keys)


class CostToGo(eqx.Module):
    """The least cost of h = 0, 1, … further steps, on a grid of angles and speeds."""

    values: Float[Array, "horizon angles speeds"]
    torques: Float[Array, " n_torques"]

    def best_torque(self, state: PendulumState, left: Array) -> Float[Array, ""]:
        """Return the torque of least cost with `left` steps to go after this one."""
        costs = _costs(self.values[left], self.torques, state.angle, state.speed)
        return self.torques[jnp.argmin(costs)]


def cost_to_go(
    horizon: int, n_angles: int = 241, n_speeds: int = 241, n_torques: int = 21
) -> CostToGo:
    """Solve J_{h+1}(s) = min_u [cost(s, u) + J_h(s')] with bilinear interpolation."""
    params, limits = PendulumParams(), StatelessPendulum().action_space
    torques = jnp.linspace(limits.low[0], limits.high[0], n_torques)
    angles = 2 * math.pi * jnp.arange(n_angles) / n_angles - math.pi
    speeds = jnp.linspace(-params.max_speed, params.max_speed, n_speeds)
    over_speeds = jax.vmap(_costs, in_axes=(None, None, None, 0))
    over_grid = jax.vmap(over_speeds, in_axes=(None, None, 0, None))

    def extend(values, _):
        return over_grid(values, torques, angles, speeds).min(axis=-1), values

    start = jnp.zeros((n_angles, n_speeds), jnp.float32)
    solve = jax.jit(lambda start: jax.lax.scan(extend, start, length=horizon)[1])
    return CostToGo(solve(start), torques)


def swing_up_returns(
    key: PRNGKeyArray, env: StatelessPendulum, plan: CostToGo, n_trials: int
) -> Float[Array, " n_trials"]:
    """Return what the planning player earns in each of n trials."""
    keys = jax.random.split(key, n_trials)
    return jax.jit(jax.vmap(lambda key: _swing_up(key, env, plan)))(keys)


def _swing_up(
    key: PRNGKeyArray, env: StatelessPendulum, plan: CostToGo
) -> Float[Array, ""]:
    params = env.default_params
    _, state = env.reset(key, params)

    def advance(state, left):
        torque = plan.best_torque(state, left)
        _, state, reward, *_ = env.step(key, state, torque[None], params)
        return state, reward

    return jax.lax.scan(advance, state, jnp.arange(env.max_steps)[::-1])[1].sum()


def _costs(
    values: Float[Array, "angles speeds"],
    torques: Float[Array, " n_torques"],
    angle: Float[Array, ""],
    speed: Float[Array, ""],
) -> Float[Array, " n_torques"]:
    """Return cost(s, u) + J(s') for every torque u."""
    state = PendulumState(angle, speed, jnp.zeros((), jnp.int32))

    def cost_of(torque):
        after, cost = move(state, torque, PendulumParams())
        return cost + _interpolate(values, after)

    return jax.vmap(cost_of)(torques)


def _interpolate(
    values: Float[Array, "angles speeds"], state: PendulumState
) -> Float[Array, ""]:
    """Read a table between its grid points; angles are periodic, speeds bounded."""
    n_angles, n_speeds = values.shape
    max_speed = PendulumParams().max_speed
    x = (state.angle + math.pi) / (2 * math.pi) * n_angles
    y = (state.speed + max_speed) / (2 * max_speed) * (n_speeds - 1)
    left = jnp.floor(x)
    low = jnp.clip(jnp.floor(y), 0, n_speeds - 2)
    i, j = left.astype(int) % n_angles, low.astype(int)
    right, dx, dy = (i + 1) % n_angles, x - left, y - low
    below = (1 - dx) * values[i, j] + dx * values[right, j]
    above = (1 - dx) * values[i, j + 1] + dx * values[right, j + 1]
    return (1 - dy) * below + dy * above


def _balance(
    key: PRNGKeyArray, env: CartPole, gain: Float[Array, "4"]
) -> Float[Array, ""]:
    """Play one trial: predict, correct by what is seen, push against the estimate."""
    key_reset, key_steps = jax.random.split(key)
    params, (transition, _) = env.default_params, _linearise()
    variance = max(getattr(env, "noise", 0.0), _MIN_NOISE) ** 2
    obs, state = env.reset(key_reset, params)
    # The first observation has the positions, whatever the later ones show.
    unseen = jnp.zeros(4), _START_VARIANCE * jnp.eye(4)
    mean, covariance = _correct(*unseen, obs, _POSITIONS, variance)
    seen = _VELOCITIES if isinstance(env, VelocityOnlyCartPole) else _POSITIONS

    def advance(carry, key):
        state, mean, covariance = carry
        action = (gain @ mean < 0).astype(jnp.int32)
        obs, state, reward, *_ = env.step(key, state, action, params)
        mean = _predict(mean, 2.0 * action - 1)
        covariance = transition @ covariance @ transition.T + _DRIFT * jnp.eye(4)
        return (state, *_correct(mean, covariance, obs, seen, variance)), reward

    keys = jax.random.split(key_steps, env.max_steps)
    return jax.lax.scan(advance, (state, mean, covariance), keys)[1].sum()


def _correct(
    mean: Float[Array, "4"],
    covariance: Float[Array, "4 4"],
    obs: Float[Array, "2"],
    seen: Float[np.ndarray, "2 4"],
    variance: float,
) -> tuple[Float[Array, "4"], Float[Array, "4 4"]]:
    """Return the Kalman update by an observation with the given noise."""
    spread = seen @ covariance @ seen.T + variance * jnp.eye(2)
    weight = covariance @ seen.T @ _invert(spread)
    corrected = mean + weight @ (obs - seen @ mean)
    return corrected, covariance - weight @ seen @ covariance


def _invert(matrix: Float[Array, "2 2"]) -> Float[Array, "2 2"]:
    # By hand: a LAPACK call for each trial and step would take most of the time.
    (a, b), (c, d) = matrix
    return jnp.array([[d, -b], [-c, a]]) / (a * d - b * c)


def _predict(mean: Float[Array, "4"], direction: Array) -> Float[Array, "4"]:
    state = CartPoleState(*mean, time=jnp.zeros((), jnp.int32))
    return jnp.stack(move_cart(state, direction, CartPoleParams())[:4])


def _linearise() -> tuple[Float[Array, "4 4"], Float[Array, "4"]]:
    """Return the derivatives of a step at rest by the state and by the push."""
    return jax.jacobian(_predict, argnums=(0, 1))(jnp.zeros(4), jnp.zeros(()))


def _feedback(
    transition: Float[Array, "4 4"], push: Float[Array, "4"]
) -> Float[np.ndarray, "4"]:
    """Return the gain of the linear-quadratic regulator, by Riccati's iteration."""
    a, b = np.asarray(transition, np.float64), np.asarray(push, np.float64)
    cost, push_cost = np.diag([1.0, 0.1, 10.0, 0.1]), 0.1
    value = cost
    for _ in range(2000):
        gain = b @ value @ a / (push_cost + b @ value @ b)
        value = cost + a.T @ value @ (a - np.outer(b, gain))
    return gain
