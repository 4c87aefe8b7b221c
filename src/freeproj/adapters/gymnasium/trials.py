"""Episodes of trials, for any environment that a seed resets to the same start.

env = ProjectObservation(TrialsWrapper(gym.make("CartPole-v1"), 16), projection)
"""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from freeproj.adapters.gymnasium.games import Begun, Options, Stepped
from freeproj.storage.checks import at_least

__all__ = ["TrialsWrapper"]


class TrialsWrapper(gym.Wrapper, RecordConstructorArgs):
    """Play `n_trials` trials from the same seed as one episode.

    When a trial ends, the next one begins in the same step: its first observation is
    returned, the last one of the old trial is in `info["final_obs"]`, and
    `info["trial_ended"]` is True. Only the end of the last trial ends the episode; it
    sets `terminated`, whatever ended the trial. `info["trial"]` counts from 0.
    """

    def __init__(self, env: gym.Env, n_trials: int = 16):
        at_least(1, n_trials=n_trials)
        RecordConstructorArgs.__init__(self, n_trials=n_trials)
        gym.Wrapper.__init__(self, env)
        self.n_trials, self._seeds = n_trials, np.random.default_rng()
        self._seed, self._trial, self._options = 0, 0, None

    def reset(self, *, seed: int | None = None, options: Options = None) -> Begun:
        if seed is not None:
            self._seeds = np.random.default_rng(seed)
        self._seed = int(self._seeds.integers(2**31)) if seed is None else seed
        self._trial, self._options = 0, options
        observation, info = self.env.reset(seed=self._seed, options=options)
        return observation, info | {"trial": 0, "trial_ended": False}

    def step(self, action: Any) -> Stepped:
        observation, reward, terminated, truncated, info = self.env.step(action)
        ended = bool(terminated or truncated)
        self._trial += ended
        over = self._trial >= self.n_trials
        if ended and not over:
            info = info | {"final_obs": observation}
            observation, begun = self.env.reset(seed=self._seed, options=self._options)
            info = info | begun
        told = {"trial": self._trial, "trial_ended": ended}
        return observation, reward, over, False, info | told
