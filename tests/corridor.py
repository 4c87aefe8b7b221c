"""A task of one's own: walk right to the end of a corridor, seeing where one stands."""

import jax
import jax.numpy as jnp

from freeproj.envs import Box, Discrete, Environment


class Corridor(Environment):
    """Step left (0) or right (1); the last cell pays 1 and ends the trial."""

    n_cells: int = 5
    max_steps: int = 8

    @property
    def observation_space(self):
        return Box((0.0,) * self.n_cells, (1.0,) * self.n_cells)

    @property
    def action_space(self):
        return Discrete(2)

    def reset(self, key, params):
        cell = jax.random.randint(key, (), 0, self.n_cells - 1)
        return jax.nn.one_hot(cell, self.n_cells), (cell, jnp.zeros((), int))

    def step(self, key, state, action, params):
        cell, time = state[0] + 2 * action - 1, state[1] + 1
        cell = jnp.clip(cell, 0, self.n_cells - 1)
        done, late = cell == self.n_cells - 1, time >= self.max_steps
        seen, reward = jax.nn.one_hot(cell, self.n_cells), done.astype(float)
        return seen, (cell, time), reward, done, late & ~done, {}


def long_corridor():
    """A maker of a task."""
    return Corridor(9, 20)


SHORT = Corridor(3, 4)
