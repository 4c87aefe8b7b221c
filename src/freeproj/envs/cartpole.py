"""CartPole with half of its state seen: positions (x, θ) or velocities (x', θ').

The physics are Gymnasium's CartPole-v1 (Euler steps of 0.02 s), the time limit and the
reward POPGym's: 1/limit for every step, the last one included. A trial terminates when
|x| > 2.4 or |θ| > 12°, and is truncated at the limit; both can happen at once.
(Appendix D.1.)
"""

# pyright: reportIncompatibleMethodOverride=false
import math
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int32, PRNGKeyArray

from freeproj.envs.base import TimedGame, easy_to_hard, fixed
from freeproj.envs.drawing import CENTRE, FAINT, INK, RED, WIDTH, Canvas
from freeproj.envs.noise import Noisy, noisy_step
from freeproj.projection.spaces import Box, Discrete

__all__ = ["CartPole", "CartPoleParams", "CartPoleState", "NoisyStatelessCartPole"]
__all__ += ["StatelessCartPole", "VelocityOnlyCartPole", "move_cart"]

_MAX_POSITION = 2.4
_MAX_ANGLE = math.radians(12)
_START = 0.05  # each of the four numbers starts uniformly in ±0.05


class CartPoleParams(NamedTuple):
    """The physics, in SI units; `half_length` is half the pole's."""

    gravity: float = 9.8
    cart_mass: float = 1.0
    pole_mass: float = 0.1
    half_length: float = 0.5
    force: float = 10.0
    time_step: float = 0.02


class CartPoleState(NamedTuple):
    """Where cart and pole are, how fast they move, and the steps done."""

    position: Float[Array, ""]
    velocity: Float[Array, ""]
    angle: Float[Array, ""]
    angular_velocity: Float[Array, ""]
    time: Int32[Array, ""]


class CartPole(TimedGame):
    """What the tasks share: the physics, the ends and the reward."""

    levels: ClassVar = easy_to_hard(time_limit=(200, 400, 600))
    seen: ClassVar[tuple[str, str]]  # the part of a state that is shown

    action_space = fixed(Discrete(2))
    action_names = fixed(("left", "right"))
    default_params = fixed(CartPoleParams())

    def start(self, key: PRNGKeyArray, params: CartPoleParams) -> CartPoleState:
        start = jax.random.uniform(key, (4,), jnp.float32, -_START, _START)
        return CartPoleState(*start, time=jnp.zeros((), jnp.int32))

    def advance(
        self, state: CartPoleState, action: Array, noise: Any, params: CartPoleParams
    ) -> tuple[CartPoleState, float]:
        direction = jnp.where(action == 1, 1.0, -1.0)
        return move_cart(state, direction, params), 1 / self.time_limit

    def observe(self, state: CartPoleState) -> Float[Array, "2"]:
        return jnp.stack([getattr(state, name) for name in self.seen])

    def is_done(self, state: CartPoleState) -> Bool[Array, ""]:
        far = jnp.abs(state.position) > _MAX_POSITION
        return far | (jnp.abs(state.angle) > _MAX_ANGLE)

    def render(self, state: CartPoleState) -> str:
        width = 25
        place = round((float(state.position) / _MAX_POSITION + 1) / 2 * (width - 1))
        track = ["─"] * width
        track[min(max(place, 0), width - 1)] = "┴"
        degrees = math.degrees(float(state.angle))
        return (
            f"├{''.join(track)}┤  x {float(state.position):+.2f}  "
            f"pole {degrees:+.1f}°  step {int(state.time)} of {self.time_limit}"
        )

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        """Step in Python, in float64 as Gymnasium does."""
        state = move_cart(state, 1.0 if action else -1.0, self.default_params, math)
        obs = np.array([getattr(state, name) for name in self.seen], np.float32)
        out = abs(state.position) > _MAX_POSITION or abs(state.angle) > _MAX_ANGLE
        late = state.time >= self.time_limit
        return obs, state, 1 / self.time_limit, out, late

    def paint(self, canvas: Canvas, state: CartPoleState) -> None:
        ground, scale = 175, 140 / _MAX_POSITION
        x, angle = CENTRE[0] + scale * float(state.position), float(state.angle)
        canvas.pen.line((10, ground, WIDTH - 10, ground), FAINT, 2)
        canvas.pen.rectangle((x - 24, ground - 26, x + 24, ground), INK)
        tip = x + 110 * math.sin(angle), ground - 26 - 110 * math.cos(angle)
        canvas.pen.line((x, ground - 26, *tip), RED, 7)


class StatelessCartPole(CartPole):
    """Balance the pole without seeing velocities; the levels differ in the limit."""

    summary: ClassVar = "balance a pole; velocities unseen"
    popgym_name: ClassVar = "PositionOnlyCartPole"
    seen: ClassVar = ("position", "angle")

    # Twice the thresholds, so that the observation that ends a trial fits.
    observation_space = fixed(
        Box((-2 * _MAX_POSITION, -2 * _MAX_ANGLE), (2 * _MAX_POSITION, 2 * _MAX_ANGLE))
    )
    observation_scale = fixed((_MAX_POSITION, _MAX_ANGLE))  # where a trial ends
    plain_step = CartPole.plain_step


class VelocityOnlyCartPole(CartPole):
    """Balance the pole without seeing positions; the levels differ in the limit."""

    summary: ClassVar = "balance a pole; positions unseen"
    popgym_name: ClassVar = "VelocityOnlyCartpole"
    seen: ClassVar = ("velocity", "angular_velocity")

    observation_space = fixed(Box((-math.inf,) * 2, (math.inf,) * 2))
    # Rounded up from the largest velocities of a million steps of random play.
    observation_scale = fixed((3.5, 4.0))
    plain_step = CartPole.plain_step

    def reset(
        self, key: PRNGKeyArray, params: CartPoleParams
    ) -> tuple[Float[Array, "2"], CartPoleState]:
        _, state = super().reset(key, params)
        # POPGym 1.0.7 shows the positions once, as here.
        return jnp.stack([state.position, state.angle]), state


class NoisyStatelessCartPole(Noisy, StatelessCartPole):
    """The same with Gaussian noise on what is seen; the levels differ in the noise."""

    summary: ClassVar = "balance a pole; positions seen with noise"
    popgym_name: ClassVar = "NoisyPositionOnlyCartPole"
    plain_step = noisy_step(StatelessCartPole)


def move_cart(
    state: CartPoleState, direction: ArrayLike, params: CartPoleParams, xp: Any = jnp
) -> CartPoleState:
    """Return the state one Euler step later; positions move by the old velocities.

    The force is `params.force` times the direction, -1 (left) or 1 (right); `xp` has
    sin and cos.
    """
    sine, cosine = xp.sin(state.angle), xp.cos(state.angle)
    mass = params.cart_mass + params.pole_mass
    moment = params.pole_mass * params.half_length
    force = direction * params.force
    push = (force + moment * state.angular_velocity**2 * sine) / mass
    inertia = params.half_length * (4 / 3 - params.pole_mass * cosine**2 / mass)
    angular = (params.gravity * sine - cosine * push) / inertia
    linear = push - moment * angular * cosine / mass
    dt = params.time_step
    return CartPoleState(
        position=state.position + dt * state.velocity,
        velocity=state.velocity + dt * linear,
        angle=state.angle + dt * state.angular_velocity,
        angular_velocity=state.angular_velocity + dt * angular,
        time=state.time + 1,
    )
