"""Tiny tasks with known answers: each can be solved in one way only."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from freeproj.envs import Box, Discrete, Environment

NOT = jnp.zeros((), bool)


class ProbeState(NamedTuple):
    """What is hidden, and the time."""

    secret: Int[Array, ""]
    time: Int[Array, ""]


class Probe(Environment):
    """What the probes share: two or more actions, one number to see."""

    n_actions = 2
    length = 1

    @property
    def name(self):
        return type(self).__name__

    @property
    def observation_space(self):
        return Box((-1.0,), (1.0,))

    @property
    def action_space(self):
        return Discrete(self.n_actions)

    @property
    def max_steps(self):
        return self.length

    @property
    def default_params(self):
        return None

    def reset(self, key, params):
        secret = jax.random.randint(key, (), 0, self.n_actions)
        state = ProbeState(secret, jnp.zeros((), jnp.int32))
        return self.show(state), state

    def step(self, key, state, action, params):
        last = state.time + 1 >= self.length
        reward = jnp.where(last, self.pay(state, action), 0.0)
        state = state._replace(time=state.time + 1)
        return self.show(state), state, reward, last, NOT, {}

    def render(self, state):
        return f"secret {int(state.secret)}, time {int(state.time)}"

    def show(self, state):
        return jnp.zeros(1)

    def pay(self, state, action):
        return jnp.where(action == state.secret, 1.0, 0.0)


class ProbeValue(Probe):
    """Pays 1 whatever is done: the value of every state is known."""

    def pay(self, state, action):
        return jnp.ones(())


class ProbeMemory(Probe):
    """Shows a sign once, and asks for it three steps later: only memory solves it."""

    length = 4

    def show(self, state):
        sign = 2.0 * state.secret - 1
        return jnp.where(state.time == 0, sign, 0.0)[None]


class ProbeArms(Probe):
    """Hides the one of four arms that pays; trials are one step long.

    Nothing is shown, so the first trial is a guess. Only an agent that learns from
    earlier trials of the episode does better later: the arm stays the same.
    """

    n_actions = 4


PROBES = (ProbeValue, ProbeMemory, ProbeArms)
