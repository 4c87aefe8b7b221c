"""What the wrappers of observations share, single and vectorized.

Each environment has something of its own while an episode lasts: a word
(`EpisodeWords`) or a frame (`EpisodeFrames`). It begins with the episode, and every
observation is shown through it.
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

from freeproj.adapters.flatten import flatten_batch, flatten_one, nth

__all__ = ["ShownObservation", "ShownVectorObservation"]


class ShownObservation(gym.Wrapper, RecordConstructorArgs):
    """Show observations through `episodes`, in the space that these make."""

    def __init__(self, env: gym.Env, shown: tuple[Any, gym.Space], **settings: Any):
        RecordConstructorArgs.__init__(self, **settings)
        gym.Wrapper.__init__(self, env)
        self._own = env.observation_space
        self._episodes, self.observation_space = shown

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._episodes.reseed(0, seed)
        self._episodes.begin()
        return self._seen(observation), self._told(info)

    def step(self, action: Any) -> tuple[np.ndarray, Any, bool, bool, dict[str, Any]]:
        observation, *ends, info = self.env.step(action)
        return self._seen(observation), *ends, self._told(info)  # pyright: ignore

    def _seen(self, observation: Any) -> np.ndarray:
        return self._episodes.show_single(flatten_one(self._own, observation))

    def _told(self, info: dict[str, Any]) -> dict[str, Any]:
        return info | {name: each[0] for name, each in self._episodes.told.items()}


class ShownVectorObservation(gym.vector.VectorWrapper, RecordConstructorArgs):
    """The same for vector environments: each sub-environment has its own.

    All three autoreset modes are understood. An episode's last observation is shown as
    the episode's others, whether it is returned as an observation (NEXT_STEP, DISABLED)
    or in `info["final_obs"]` (SAME_STEP).
    """

    def __init__(
        self, env: gym.vector.VectorEnv, shown: tuple[Any, gym.Space], **settings: Any
    ):
        RecordConstructorArgs.__init__(self, **settings)
        gym.vector.VectorWrapper.__init__(self, env)
        self._mode, n_envs = _autoreset_mode(env), env.num_envs
        self._own = env.single_observation_space, env.observation_space
        self._episodes, self.single_observation_space = shown
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
        if isinstance(seed, int | np.integer):
            seed = [int(seed) + index for index in range(self.num_envs)]
        for index, each in enumerate(seed or ()):
            if mask[index] and each is not None:
                self._episodes.reseed(index, each)
        self._episodes.begin(mask)
        self._ended = self._ended & ~mask
        return self._seen(observations), info | self._told(self._all)

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        ended = np.asarray(terminated) | np.asarray(truncated)
        if self._mode is AutoresetMode.SAME_STEP:
            info = self._with_final(info, ended)
            self._episodes.begin(ended)
        elif self._mode is AutoresetMode.NEXT_STEP:
            self._episodes.begin(self._ended)
        self._ended = ended
        info = info | self._told(self._all)
        return self._seen(observations), rewards, terminated, truncated, info

    def _seen(self, observations: Any) -> np.ndarray:
        return self._episodes.show(flatten_batch(*self._own, observations))

    def _told(self, where: Bool[np.ndarray, " envs"]) -> dict[str, Any]:
        told = self._episodes.told
        return told | {f"_{name}": where for name in told}

    def _with_final(
        self, info: dict[str, Any], ended: Bool[np.ndarray, " envs"]
    ) -> dict[str, Any]:
        """Show the last observations of episodes that ended, as those before."""
        if "final_obs" not in info:
            return info
        final = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(info.get("_final_obs", ended)).tolist():
            last = flatten_one(self._own[0], nth(info["final_obs"], index))
            final[index] = self._episodes.show_one(index, last)
        told = self._told(ended.copy())
        more = {"final_info": info.get("final_info", {}) | told} if told else {}
        return info | {"final_obs": final} | more


def _autoreset_mode(env: gym.vector.VectorEnv) -> AutoresetMode:
    """Return when a vector environment resets; refuse one that does not say."""
    mode = (env.metadata or {}).get("autoreset_mode")
    if not isinstance(mode, AutoresetMode):
        raise ValueError(
            "The vector environment must say when it resets: "
            f"`metadata['autoreset_mode']` must be an AutoresetMode, got {mode!r}."
        )
    return mode
