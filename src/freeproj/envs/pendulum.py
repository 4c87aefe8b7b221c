"""Pendulum with only its position seen: cos θ and sin θ, with θ = 0 upright.

The physics are Gymnasium's Pendulum-v1: torque u in [-2, 2] (clipped), steps of 0.05 s,
speed clipped to ±8, cost θ² + 0.1 θ'² + 0.001 u² with θ in [-π, π). POPGym turns the
cost into a reward (h - cost)/(h·limit), h = 16.2736044/2, between -1/limit and 1/limit.
A trial is only ever truncated, at the limit. (Beyond the paper; continuous actions.)
"""

# pyright: reportIncompatibleMethodOverride=false
import math
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int32, PRNGKeyArray

from freeproj.envs.base import TimedGame, easy_to_hard, fixed
from freeproj.envs.drawing import CENTRE, HIDDEN, INK, RED, Canvas
from freeproj.envs.noise import Noisy, noisy_step
from freeproj.projection.spaces import Box

__all__ = ["NoisyStatelessPendulum", "PendulumParams", "PendulumState"]
__all__ += ["StatelessPendulum", "move", "wrap_angle"]

_MAX_TORQUE = 2.0
_HALF_COST = 16.2736044 / 2  # half of the largest cost: π² + 0.1·8² + 0.001·2²
_MAX_START_SPEED = 1.0


class PendulumParams(NamedTuple):
    """The physics, in SI units."""

    gravity: float = 10.0
    mass: float = 1.0
    length: float = 1.0
    max_speed: float = 8.0
    time_step: float = 0.05


class PendulumState(NamedTuple):
    """The angle from upright (not wrapped), its speed, and the steps done."""

    angle: Float[Array, ""]
    speed: Float[Array, ""]
    time: Int32[Array, ""]


class StatelessPendulum(TimedGame):
    """Swing up and hold without seeing the speed; the levels differ in the limit."""

    summary: ClassVar = "swing up and hold; speed unseen"
    popgym_name: ClassVar = "PositionOnlyPendulum"
    levels: ClassVar = easy_to_hard(time_limit=(200, 150, 100))

    observation_space = fixed(Box((-1.0, -1.0), (1.0, 1.0)))
    action_space = fixed(Box((-_MAX_TORQUE,), (_MAX_TORQUE,)))
    default_params = fixed(PendulumParams())

    def start(self, key: PRNGKeyArray, params: PendulumParams) -> PendulumState:
        high = jnp.array([math.pi, _MAX_START_SPEED], jnp.float32)
        angle, speed = jax.random.uniform(key, (2,), jnp.float32, -high, high)
        return PendulumState(angle, speed, jnp.zeros((), jnp.int32))

    def advance(
        self, state: PendulumState, action: Array, noise: Any, params: PendulumParams
    ) -> tuple[PendulumState, Array]:
        space: Any = self.action_space
        following, cost = move(state, space.clip(action)[0], params)
        return following, (_HALF_COST - cost) / _HALF_COST / self.time_limit

    def observe(self, state: PendulumState) -> Float[Array, "2"]:
        # In a batch `where` is vectorised, a stack of the two numbers is not.
        cosine, sine = jnp.cos(state.angle), jnp.sin(state.angle)
        return jnp.where(jnp.arange(2) == 0, cosine, sine)

    def render(self, state: PendulumState) -> str:
        degrees = math.degrees(float(wrap_angle(state.angle)))
        # Eight directions, clockwise from upright; a positive angle leans to the left.
        arrow = "↑↖←↙↓↘→↗"[round(degrees / 45) % 8]
        return (
            f"{arrow}  {degrees:+.0f}° from upright, speed {float(state.speed):+.2f}  "
            f"step {int(state.time)} of {self.time_limit}"
        )

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        angle, speed, time = state
        gravity, mass, length, max_speed, dt = self.default_params
        torque = min(max(float(action[0]), -_MAX_TORQUE), _MAX_TORQUE)
        upright = angle - 2 * math.pi * math.floor((angle + math.pi) / (2 * math.pi))
        cost = upright**2 + 0.1 * speed**2 + 0.001 * torque**2
        pull = 1.5 * gravity / length * math.sin(angle)
        speed += (pull + 3 / (mass * length**2) * torque) * dt
        speed = min(max(speed, -max_speed), max_speed)
        angle, time, limit = angle + speed * dt, time + 1, self.time_limit
        obs = np.array((math.cos(angle), math.sin(angle)), np.float32)
        reward = (_HALF_COST - cost) / _HALF_COST / limit
        return obs, type(state)(angle, speed, time), reward, False, time >= limit

    def paint(self, canvas: Canvas, state: PendulumState) -> None:
        (x, y), angle = CENTRE, float(state.angle)
        tip = x - 85 * math.sin(angle), y - 85 * math.cos(angle)
        canvas.pen.circle(CENTRE, 92, None, HIDDEN, 2)
        canvas.pen.line((x, y, *tip), RED, 12)
        canvas.pen.circle(CENTRE, 8, INK)


class NoisyStatelessPendulum(Noisy, StatelessPendulum):
    """The same with Gaussian noise on what is seen; the levels differ in the noise."""

    summary: ClassVar = "swing up and hold; position seen with noise"
    popgym_name: ClassVar = "NoisyPositionOnlyPendulum"
    plain_step = noisy_step(StatelessPendulum)


def move(
    state: PendulumState, torque: Float[ArrayLike, ""], params: PendulumParams
) -> tuple[PendulumState, Float[Array, ""]]:
    """Return the state one step later and the cost of the step."""
    angle, speed, dt = state.angle, state.speed, params.time_step
    cost = wrap_angle(angle) ** 2 + 0.1 * speed**2 + 0.001 * torque**2
    pull = 1.5 * params.gravity / params.length * jnp.sin(angle)
    push = 3 / (params.mass * params.length**2) * torque
    speed = jnp.clip(speed + (pull + push) * dt, -params.max_speed, params.max_speed)
    return PendulumState(angle + speed * dt, speed, state.time + 1), cost


def wrap_angle(angle: Float[ArrayLike, ""]) -> Float[Array, ""]:
    """Return the same direction in [-π, π)."""
    angle = jnp.asarray(angle)
    # A remainder of floats is not vectorised on CPUs; a floor is.
    return angle - 2 * math.pi * jnp.floor((angle + math.pi) / (2 * math.pi))
