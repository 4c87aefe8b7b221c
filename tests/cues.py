"""A task and policies of which it is known whether they adapt."""

import jax
import jax.numpy as jnp
import numpy as np

from freeproj.envs import Box, Discrete, Environment

N_CUES, N_STEPS = 3, 12


class SameCue(Environment):
    """Say whether a cue is the one before: 1 for yes, 0 for no.

    A right answer pays 1, a wrong one -1; the first answer of a trial pays 1.
    """

    max_steps: int = N_STEPS

    @property
    def observation_space(self):
        return Box((0.0,) * N_CUES, (1.0,) * N_CUES)

    @property
    def action_space(self):
        return Discrete(2)

    def reset(self, key, params):
        cue = jax.random.randint(key, (), 0, N_CUES)
        return jax.nn.one_hot(cue, N_CUES), (cue, cue - cue - 1, cue - cue)

    def step(self, key, state, action, params):
        cue, before, time = state
        right = (action == (cue == before)) | (before < 0)
        following = jax.random.randint(key, (), 0, N_CUES)
        shown = jax.nn.one_hot(following, N_CUES)
        late = time + 1 >= self.max_steps
        after = (following, cue, time + 1)
        return shown, after, jnp.where(right, 1.0, -1.0), late & False, late, {}


def ignores(observation, state):
    """Say no to everything."""
    return 0


def invariant(observation, state):
    """Compare inner products, which no projection changes."""
    before = np.zeros_like(observation) if state is None else state
    return int(observation @ before > 0.5), observation


def memorised(observation, state):
    """Name cues by the largest entry of the plain observation, which is near 1."""
    cue = int(np.argmax(observation)) if observation.max() > 0.99 else -1
    return int(cue >= 0 and cue == state), cue


def adapts(observation, state):
    """Be right after some steps: later where the first cue is less like (1, 0, 0)."""
    seen, before, delay = state or (0, np.zeros_like(observation), observation[0])
    right = int(observation @ before > 0.5)
    known = seen >= 4 * (1 - delay)
    return (right if known else 1 - right), (seen + 1, observation, delay)
