"""The projection around a Gymnasium environment, single or vectorized.

    env = ProjectObservation(gym.make("CartPole-v1"), FreeProjection(4, 4), seed=0)
    envs = ProjectVectorObservation(gym.make_vec("CartPole-v1", 8), projection, seed=0)

Each episode is seen under one word, given in `info["word"]`. Call `redraw_bases()` at
the start of each rollout. A reset with a seed repeats the words; in a vector,
environment i under seed s sees what a single one sees under seed s + i.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from freeproj.adapters.flatten import words_and_space
from freeproj.adapters.gymnasium.shown import ShownObservation, ShownVectorObservation
from freeproj.adapters.numpy_core import checked

__all__ = ["ProjectObservation", "ProjectVectorObservation"]


class ProjectObservation(ShownObservation):
    """Show M_o ξ instead of the observation ξ, with a new word for each episode.

    Args:
        env: any environment whose observations can be flattened to a vector.
        projection: a `FreeProjection`; its `dim` must be at least the size of the
            flattened observation.
        seed: what base matrices and words are drawn from.
        n_trials: how many episodes share a word.
    """

    def __init__(
        self,
        env: gym.Env,
        projection: Any,
        *,
        seed: int | None = None,
        n_trials: int = 1,
    ):
        settings = {"projection": checked(projection), "seed": seed}
        settings |= {"n_trials": n_trials}
        shown = words_and_space(env.observation_space, n_envs=1, **settings)
        super().__init__(env, shown, **settings)
        self.words = shown[0]

    def redraw_bases(self, seed: int | None = None) -> None:
        """Draw new base matrices, used from the next word on."""
        self.words.redraw_bases(seed)


class ProjectVectorObservation(ShownVectorObservation):
    """The same for vector environments: each sub-environment has its own words."""

    def __init__(
        self,
        env: gym.vector.VectorEnv,
        projection: Any,
        *,
        seed: int | None = None,
        n_trials: int = 1,
    ):
        settings = {"projection": checked(projection), "seed": seed}
        settings |= {"n_trials": n_trials}
        space = env.single_observation_space
        shown = words_and_space(space, n_envs=env.num_envs, **settings)
        super().__init__(env, shown, **settings)
        self.words = shown[0]

    def redraw_bases(self, seed: int | None = None) -> None:
        """Draw new base matrices, used from each environment's next word on."""
        self.words.redraw_bases(seed)
