"""A random action map around a Gymnasium environment, drawn with each episode.

env = MapAction(gym.make("CartPole-v1"), n_common=4, seed=0)
env = ActionsByUse(gym.make("CartPole-v1"), seed=0)  # undoes any relabelling
"""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from jaxtyping import Bool

from freeproj.adapters.episodes import Episodes
from freeproj.adapters.gymnasium.games import Begun, Options, Stepped
from freeproj.adapters.numpy_core import haar

__all__ = ["ActionsByUse", "MapAction"]


class MapAction(gym.Wrapper, RecordConstructorArgs):
    """Let the agent act from a common action set, under a new map in each episode.

    Discrete actions are hidden among `n_common` ones; the rest mean nothing. A
    continuous action a becomes M_a a, clipped to the bounds; the rows of M_a are rows
    of a Haar matrix. (Algorithm 1, line 13.)

    `info["action_mask"]` and `action_masks()` tell which common actions mean something.
    One that means nothing is taken as the environment's first action.

    Args:
        env: an environment with Discrete actions or a Box vector of bounded ones.
        n_common: how many common actions there are, or entries of a common action; by
            default as many as the environment has.
        seed: what the maps are drawn from.
        n_trials: how many episodes share a map.
    """

    def __init__(
        self,
        env: gym.Env,
        n_common: int | None = None,
        *,
        seed: int | None = None,
        n_trials: int = 1,
    ):
        settings = {"n_common": n_common, "seed": seed, "n_trials": n_trials}
        RecordConstructorArgs.__init__(self, **settings)
        gym.Wrapper.__init__(self, env)
        self._episodes, self._own = Episodes(1, n_trials), _own_size(env.action_space)
        self.n_common = self._own if n_common is None else n_common
        if self.n_common < self._own:
            raise ValueError(
                f"The environment's {self._own} actions (or entries) do not fit into "
                f"`n_common` = {self.n_common}; it must be at least as large."
            )
        self._discrete = isinstance(env.action_space, gym.spaces.Discrete)
        if self._discrete:
            self.action_space = gym.spaces.Discrete(self.n_common)
        else:
            reach = float(np.abs([env.action_space.low, env.action_space.high]).max())  # pyright: ignore
            self.action_space = gym.spaces.Box(-reach, reach, (self.n_common,))
        self._entropy = np.random.SeedSequence(seed).entropy
        self._maps = np.random.default_rng(self._entropy)
        self._draw()

    def reset(self, *, seed: int | None = None, options: Options = None) -> Begun:
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            mixed = np.random.SeedSequence(self._entropy, spawn_key=(seed,))
            self._maps = np.random.default_rng(mixed)
            self._episodes.reseed(0, seed)
        if self._episodes.due(True)[0]:
            self._draw()
        return observation, self._told(info)

    def step(self, action: Any) -> Stepped:
        *stepped, info = self.env.step(self.action(action))
        return *stepped, self._told(info)  # pyright: ignore

    def action(self, action: Any) -> Any:
        """Return the environment's action for a common one."""
        space: Any = self.env.action_space
        if self._discrete:
            place = self._places[int(action)]
            return space.start + (place if place < self._own else 0)
        moved = self._matrix @ np.asarray(action, np.float64)
        return np.clip(moved, space.low, space.high).astype(space.dtype)

    def action_masks(self) -> Bool[np.ndarray, " common"]:
        """Which common actions mean something; sb3-contrib asks by this name."""
        return self._places < self._own

    def _draw(self) -> None:
        self._places = np.arange(self.n_common)
        if self._discrete:
            self._places = self._maps.permutation(self.n_common)
        else:
            self._matrix = haar(self._maps, 1, self.n_common)[0, : self._own]

    def _told(self, info: dict[str, Any]) -> dict[str, Any]:
        return info | {"action_mask": self.action_masks()} if self._discrete else info


class ActionsByUse(MapAction):
    """Let the agent name discrete actions in the order in which it first uses them.

    Action i is "the i-th action that I used", or "a new one" if i were used so far: a
    new one is drawn uniformly from the rest. No relabelling of the environment's
    actions changes what an agent then earns. `info["action_mask"]` allows the actions
    used so far and one new one; an agent that takes a later one draws a new one too.
    The arguments are those of `MapAction`; `env` must have Discrete actions.
    """

    def __init__(self, env: gym.Env, n_common: int | None = None, **settings: Any):
        if not isinstance(env.action_space, gym.spaces.Discrete):
            raise ValueError(f"`ActionsByUse` needs Discrete, got {env.action_space}.")
        super().__init__(env, n_common, **settings)

    def action(self, action: Any) -> Any:
        """Return the environment's action; from now on it is among those used."""
        self._n_used = max(self._n_used, int(action) + 1)
        return super().action(action)

    def action_masks(self) -> Bool[np.ndarray, " common"]:
        """The actions used so far and one new one, while there is one."""
        return super().action_masks() & (np.arange(self.n_common) <= self._n_used)

    def _draw(self) -> None:
        # What an agent meets is an order drawn beforehand; the padding comes last.
        own = self._maps.permutation(self._own)
        self._places = np.append(own, np.arange(self._own, self.n_common))
        self._n_used = 0


def _own_size(space: Any) -> int:
    if isinstance(space, gym.spaces.Discrete):
        return int(space.n)
    vector = isinstance(space, gym.spaces.Box) and len(space.shape) == 1
    if not vector or not space.is_bounded():
        rule = "Discrete actions or a bounded Box of one axis"
        raise ValueError(f"`MapAction` needs {rule}, got {space}.")
    return space.shape[0]
