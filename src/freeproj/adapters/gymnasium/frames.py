"""A frame around a Gymnasium environment, single or vectorized.

    env = ProjectObservation(gym.make("CartPole-v1"), projection, seed=0)
    env = FrameObservation(env)

The observation becomes its coordinates in an orthonormal frame of what the episode has
shown so far, and the norm of what the frame does not hold. No projection that keeps
inner products changes them: under every seed of the projection the same actions show
the same numbers. See `docs/frames.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool

from freeproj.adapters.episode_frames import frames_and_space
from freeproj.adapters.episode_words import EpisodeWords
from freeproj.adapters.flatten import flatten_batch, flatten_one, nth
from freeproj.adapters.gymnasium.observation import (
    ProjectObservation,
    ProjectVectorObservation,
    autoreset_mode,
)

__all__ = ["FrameObservation", "FrameVectorObservation"]


class FrameObservation(gym.Wrapper, RecordConstructorArgs):
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
        RecordConstructorArgs.__init__(
            self, size=size, n_trials=n_trials, threshold=threshold
        )
        gym.Wrapper.__init__(self, env)
        self._shown, words = env.observation_space, _words_inside(env)
        self.frames, self.observation_space = frames_and_space(
            self._shown, 1, words, size, n_trials, threshold
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self.frames.restart(0)
        self.frames.begin()
        return self._seen(observation), info

    def step(self, action: Any) -> tuple[np.ndarray, Any, bool, bool, dict[str, Any]]:
        stepped = self.env.step(action)
        return self._seen(stepped[0]), *stepped[1:]

    def _seen(self, observation: Any) -> np.ndarray:
        return self.frames.see(flatten_one(self._shown, observation)[None])[0]


class FrameVectorObservation(gym.vector.VectorWrapper, RecordConstructorArgs):
    """The same for vector environments: each sub-environment has its own frame.

    All three autoreset modes are understood. An episode's last observation is shown in
    the episode's own frame, also in `info["final_obs"]` (SAME_STEP).
    """

    def __init__(
        self,
        env: gym.vector.VectorEnv,
        size: int | None = None,
        *,
        n_trials: int | None = None,
        threshold: float = 0.0,
    ):
        RecordConstructorArgs.__init__(
            self, size=size, n_trials=n_trials, threshold=threshold
        )
        gym.vector.VectorWrapper.__init__(self, env)
        self._mode, n_envs = autoreset_mode(env), env.num_envs
        self._shown = env.single_observation_space, env.observation_space
        self.frames, self.single_observation_space = frames_and_space(
            self._shown[0], n_envs, _words_inside(env), size, n_trials, threshold
        )
        self.observation_space = batch_space(self.single_observation_space, n_envs)
        self._ended, self._all = np.zeros(n_envs, bool), np.ones(n_envs, bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        # Read first: the environment may take the mask out of the options.
        mask = np.array((options or {}).get("reset_mask", self._all))
        observations, info = self.env.reset(seed=seed, options=options)  # pyright: ignore
        each = seed if isinstance(seed, Sequence) else [seed] * self.num_envs
        for index in np.flatnonzero(mask).tolist():
            if each[index] is not None:
                self.frames.restart(index)
        self.frames.begin(mask)
        self._ended = self._ended & ~mask
        return self._seen(observations), info

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        ended = np.asarray(terminated) | np.asarray(truncated)
        if self._mode is AutoresetMode.SAME_STEP:
            info = self._with_final(info, ended)
            self.frames.begin(ended)
        elif self._mode is AutoresetMode.NEXT_STEP:
            self.frames.begin(self._ended)
        self._ended = ended
        return self._seen(observations), rewards, terminated, truncated, info

    def _seen(self, observations: Any) -> np.ndarray:
        return self.frames.see(flatten_batch(*self._shown, observations))

    def _with_final(
        self, info: dict[str, Any], ended: Bool[np.ndarray, " envs"]
    ) -> dict[str, Any]:
        """Show the last observations of ended episodes in the frames they had."""
        if "final_obs" not in info:
            return info
        final = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(info.get("_final_obs", ended)).tolist():
            last = flatten_one(self._shown[0], nth(info["final_obs"], index))
            final[index] = self.frames.see_one(index, last)
        return info | {"final_obs": final}


def _words_inside(env: Any) -> tuple[EpisodeWords | None, bool]:
    """Return the words of the next projection inside, and whether it is `env`."""
    inside = env
    while isinstance(inside, gym.Wrapper | gym.vector.VectorWrapper):
        if isinstance(inside, ProjectObservation | ProjectVectorObservation):
            return inside.words, inside is env
        inside = inside.env
    return None, False
