"""The projection around a Gymnasium environment, single or vectorized.

    env = ProjectObservation(gym.make("CartPole-v1"), FreeProjection(4, 4), seed=0)
    envs = ProjectVectorObservation(gym.make_vec("CartPole-v1", 8), projection, seed=0)

Each episode is seen under one word, given in `info["word"]`. Call `redraw_bases()` at
the start of each rollout. A reset with a seed repeats the words; in a vector,
environment i under seed s sees what a single one sees under seed s + i.
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

from freeproj.adapters.flatten import (
    flatten_batch,
    flatten_one,
    nth,
    words_and_space,
)
from freeproj.adapters.numpy_core import checked

__all__ = ["ProjectObservation", "ProjectVectorObservation", "autoreset_mode"]


class ProjectObservation(gym.Wrapper, RecordConstructorArgs):
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
        RecordConstructorArgs.__init__(
            self, projection=checked(projection), seed=seed, n_trials=n_trials
        )
        gym.Wrapper.__init__(self, env)
        self._plain = env.observation_space
        self.words, self.observation_space = words_and_space(
            self._plain, projection, 1, seed, n_trials
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self.words.reseed(0, seed)
        self.words.begin()
        return self._projected(observation), self._told(info)

    def step(self, action: Any) -> tuple[np.ndarray, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        shown = self._projected(observation)
        return shown, reward, terminated, truncated, self._told(info)

    def redraw_bases(self, seed: int | None = None) -> None:
        """Draw new base matrices, used from the next word on."""
        self.words.redraw_bases(seed)

    def _projected(self, observation: Any) -> np.ndarray:
        return self.words.project_one(0, flatten_one(self._plain, observation))

    def _told(self, info: dict[str, Any]) -> dict[str, Any]:
        return info | {"word": self.words.words[0]}


class ProjectVectorObservation(gym.vector.VectorWrapper, RecordConstructorArgs):
    """The same for vector environments: each sub-environment has its own words.

    All three autoreset modes are understood. An episode's last observation is projected
    with the episode's own word, whether it is returned as an observation (NEXT_STEP,
    DISABLED) or in `info["final_obs"]` (SAME_STEP).
    """

    def __init__(
        self,
        env: gym.vector.VectorEnv,
        projection: Any,
        *,
        seed: int | None = None,
        n_trials: int = 1,
    ):
        RecordConstructorArgs.__init__(
            self, projection=checked(projection), seed=seed, n_trials=n_trials
        )
        gym.vector.VectorWrapper.__init__(self, env)
        self._mode = autoreset_mode(env)
        self._plain = env.single_observation_space, env.observation_space
        n_envs = env.num_envs
        self.words, self.single_observation_space = words_and_space(
            env.single_observation_space, projection, n_envs, seed, n_trials
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
        mask = (options or {}).get("reset_mask", self._all)
        observations, info = self.env.reset(seed=seed, options=options)  # pyright: ignore
        self._reseed(seed, mask)
        self.words.begin(mask)
        self._ended = self._ended & ~mask
        return self._projected(observations), self._told(info)

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        ended = np.asarray(terminated) | np.asarray(truncated)
        if self._mode is AutoresetMode.SAME_STEP:
            info = self._with_final(info, ended)
            self.words.begin(ended)
        elif self._mode is AutoresetMode.NEXT_STEP:
            self.words.begin(self._ended)
        self._ended = ended
        shown = self._projected(observations)
        return shown, rewards, terminated, truncated, self._told(info)

    def redraw_bases(self, seed: int | None = None) -> None:
        """Draw new base matrices, used from each environment's next word on."""
        self.words.redraw_bases(seed)

    def _projected(self, observations: Any) -> np.ndarray:
        flat = flatten_batch(*self._plain, observations)
        return self.words.project(flat)

    def _with_final(
        self, info: dict[str, Any], ended: Bool[np.ndarray, " envs"]
    ) -> dict[str, Any]:
        """Project the last observations of ended episodes, with the words they had."""
        if "final_obs" not in info:
            return info
        space, given = self._plain[0], info["final_obs"]
        final = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(info.get("_final_obs", ended)).tolist():
            last = flatten_one(space, nth(given, index))
            final[index] = self.words.project_one(index, last)
        told = info.get("final_info", {}) | {"word": self.words.words}
        told["_word"] = ended.copy()
        return info | {"final_obs": final, "final_info": told}

    def _reseed(
        self,
        seed: int | Sequence[int | None] | None,
        mask: Bool[np.ndarray, " envs"],
    ) -> None:
        if seed is None:
            return
        if isinstance(seed, int | np.integer):
            seed = [int(seed) + index for index in range(self.num_envs)]
        for index in np.flatnonzero(mask).tolist():
            each = seed[index]
            if each is not None:
                self.words.reseed(index, each)

    def _told(self, info: dict[str, Any]) -> dict[str, Any]:
        return info | {"word": self.words.words, "_word": self._all}


def autoreset_mode(env: gym.vector.VectorEnv) -> AutoresetMode:
    """Return when a vector environment resets; refuse one that does not say."""
    mode = (env.metadata or {}).get("autoreset_mode")
    if not isinstance(mode, AutoresetMode):
        raise ValueError(
            "The vector environment must say when it resets: "
            f"`metadata['autoreset_mode']` must be an AutoresetMode, got {mode!r}."
        )
    return mode
