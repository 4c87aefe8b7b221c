"""The projection and the frame around a Gymnasium environment, single or vectorized.

    env = ProjectObservation(gym.make("CartPole-v1"), FreeProjection(4, 4), seed=0)
    env = FrameObservation(env)
    envs = ProjectVectorObservation(gym.make_vec("CartPole-v1", 8), projection, seed=0)

Each episode is seen under one word, given in `info["word"]`. Call `redraw_bases()` at
the start of each rollout. A reset with a seed repeats the words; in a vector,
environment i under seed s sees what a single one sees under seed s + i.

In a frame the same actions show the same numbers under every seed of the projection:
see `projection.frames` and `docs/frames.md`.
"""

import operator
from typing import Any

import gymnasium as gym
import jax
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool

from freeproj.adapters.episodes import Projects, ShowsFrames
from freeproj.adapters.flatten import flatten_batch, flatten_one
from freeproj.adapters.gymnasium.games import Begun, Options, Seeds, Stepped

__all__ = ["FrameObservation", "FrameVectorObservation", "ProjectObservation"]
__all__ += ["ProjectVectorObservation"]


class _Shown(gym.Wrapper, RecordConstructorArgs):
    """Show observations through what an episode has of its own: a word or a frame."""

    def __init__(self, env: gym.Env, episodes: Any, shown: gym.Space, **settings: Any):
        RecordConstructorArgs.__init__(self, **settings)
        gym.Wrapper.__init__(self, env)
        self._own, self._episodes = env.observation_space, episodes
        self.observation_space = shown

    def reset(self, *, seed: int | None = None, options: Options = None) -> Begun:
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._episodes.reseed(0, seed)
        self._episodes.begin()
        return self._seen(observation), self._told(info)

    def step(self, action: Any) -> Stepped:
        observation, *ends, info = self.env.step(action)
        return self._seen(observation), *ends, self._told(info)  # pyright: ignore

    def _seen(self, observation: Any) -> np.ndarray:
        return self._episodes.show(flatten_one(self._own, observation)[None])[0]

    def _told(self, info: dict[str, Any]) -> dict[str, Any]:
        return info | {name: each[0] for name, each in self._episodes.told.items()}


class _ShownVector(gym.vector.VectorWrapper, RecordConstructorArgs):
    """The same for vector environments: each sub-environment has its own.

    All three autoreset modes are understood. An episode's last observation is shown as
    the episode's others, whether it is returned as an observation (NEXT_STEP, DISABLED)
    or in `info["final_obs"]` (SAME_STEP).
    """

    def __init__(
        self, env: gym.vector.VectorEnv, episodes: Any, shown: Any, **settings: Any
    ):
        RecordConstructorArgs.__init__(self, **settings)
        gym.vector.VectorWrapper.__init__(self, env)
        self._mode, n_envs = (env.metadata or {}).get("autoreset_mode"), env.num_envs
        if not isinstance(self._mode, AutoresetMode):
            raise ValueError(
                "The vector environment must say when it resets: `metadata"
                f"['autoreset_mode']` must be an AutoresetMode, got {self._mode!r}."
            )
        self._own = env.single_observation_space, env.observation_space
        self._episodes, self.single_observation_space = episodes, shown
        self.observation_space = batch_space(shown, n_envs)
        self._ended, self._all = np.zeros(n_envs, bool), np.ones(n_envs, bool)

    def reset(self, *, seed: Seeds = None, options: Options = None) -> Begun:
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

    def step(self, actions: Any) -> Stepped:
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        ended = np.asarray(terminated) | np.asarray(truncated)
        if self._mode is AutoresetMode.SAME_STEP:
            info = self._with_final(info, ended)
            self._episodes.begin(ended)
        elif self._mode is AutoresetMode.NEXT_STEP:
            self._episodes.begin(self._ended)
        self._ended, info = ended, info | self._told(self._all)
        return self._seen(observations), rewards, terminated, truncated, info

    def _seen(self, observations: Any) -> np.ndarray:
        return self._episodes.show(flatten_batch(*self._own, observations))

    def _told(self, where: Bool[np.ndarray, " envs"]) -> dict[str, Any]:
        told = self._episodes.told
        return told | {f"_{name}": where.copy() for name in told}

    def _with_final(
        self, info: dict[str, Any], ended: Bool[np.ndarray, " envs"]
    ) -> dict[str, Any]:
        """Show the last observations of episodes that ended, as those before."""
        if "final_obs" not in info:
            return info
        final = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(info.get("_final_obs", ended)).tolist():
            last = jax.tree.map(operator.itemgetter(index), info["final_obs"])
            flat = flatten_one(self._own[0], last)
            final[index] = self._episodes.show_one(index, flat)
        told = self._told(ended)
        more = {"final_info": info.get("final_info", {}) | told} if told else {}
        return info | {"final_obs": final} | more


class ProjectObservation(Projects, _Shown):
    """Show M_o ξ instead of the observation ξ, with a new word for each episode.

    Args:
        env: any environment whose observations can be flattened to a vector.
        projection: a `FreeProjection`; its `dim` must be at least the size of the
            flattened observation.
        seed: what base matrices and words are drawn from.
        n_trials: how many episodes share a word.
    """


class ProjectVectorObservation(Projects, _ShownVector):
    """The same for vector environments: each sub-environment has its own words."""


class FrameObservation(ShowsFrames, _Shown):
    """Show an observation's coordinates in the frame of its episode.

    Args:
        env: any environment whose observations can be flattened to a vector.
        size: the number of directions that a frame keeps; the observation has one entry
            more. By default the size of an observation before any projection.
        n_trials: how many episodes share a frame; by default those that share a word of
            a projection inside, or else one.
        threshold: the norm that a direction must have to be kept as new.
    """


class FrameVectorObservation(ShowsFrames, _ShownVector):
    """The same for vector environments: each sub-environment has its own frame."""
