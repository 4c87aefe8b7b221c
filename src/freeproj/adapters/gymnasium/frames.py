"""A frame around a Gymnasium environment, single or vectorized.

    env = ProjectObservation(gym.make("CartPole-v1"), projection, seed=0)
    env = FrameObservation(env)

The observation becomes its coordinates in an orthonormal frame of what the episode has
shown so far, and the norm of what the frame does not hold. No projection that keeps
inner products changes them: under every seed of the projection the same actions show
the same numbers. See `docs/frames.md`.
"""

from __future__ import annotations

import gymnasium as gym

from freeproj.adapters.episode_frames import frames_and_space
from freeproj.adapters.gymnasium.shown import ShownObservation, ShownVectorObservation

__all__ = ["FrameObservation", "FrameVectorObservation"]


class FrameObservation(ShownObservation):
    """Show an observation's coordinates in the frame of its episode.

    Args:
        env: any environment whose observations can be flattened to a vector.
        size: the number of directions that a frame keeps; the observation has one entry
            more. By default the size of an observation before any projection.
        n_trials: how many episodes share a frame; by default those that share a word of
            a projection inside, or else one.
        threshold: the norm that a direction must have to be kept as new.
    """

    def __init__(
        self,
        env: gym.Env,
        size: int | None = None,
        *,
        n_trials: int | None = None,
        threshold: float = 0.0,
    ):
        settings = {"size": size, "n_trials": n_trials, "threshold": threshold}
        shown = frames_and_space(env, env.observation_space, 1, **settings)
        super().__init__(env, shown, **settings)
        self.frames = shown[0]


class FrameVectorObservation(ShownVectorObservation):
    """The same for vector environments: each sub-environment has its own frame."""

    def __init__(
        self,
        env: gym.vector.VectorEnv,
        size: int | None = None,
        *,
        n_trials: int | None = None,
        threshold: float = 0.0,
    ):
        settings = {"size": size, "n_trials": n_trials, "threshold": threshold}
        space, n_envs = env.single_observation_space, env.num_envs
        shown = frames_and_space(env, space, n_envs, **settings)
        super().__init__(env, shown, **settings)
        self.frames = shown[0]
