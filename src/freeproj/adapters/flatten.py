"""Observations of Gymnasium's spaces as vectors, which a projection can take.

Box entries are kept, Discrete and MultiDiscrete ones become one-hot, and the parts of
Dict and Tuple are concatenated, as by Gymnasium's own `flatten`.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import iterate
from jaxtyping import Float, Float32

__all__ = ["farthest", "flat_space", "flatten_batch", "flatten_one", "observed_by"]
__all__ += ["with_room"]


def flat_space(space: gym.Space) -> gym.spaces.Box:
    """Return the box of the flattened observations."""
    flat = gym.spaces.flatten_space(space) if space.is_np_flattenable else None
    if not isinstance(flat, gym.spaces.Box) or flat.shape[0] < 1:
        raise ValueError(
            "The observation space must flatten to at least one number (Box, Discrete, "
            f"MultiDiscrete, MultiBinary, or Dict and Tuple of these), got {space}."
        )
    return flat


def observed_by(env: Any) -> tuple[gym.spaces.Box, int]:
    """Return the box of an environment's flattened observations, and its copies."""
    space = getattr(env, "single_observation_space", env.observation_space)
    return flat_space(space), getattr(env, "num_envs", 1)


def flatten_one(space: gym.Space, observation: Any) -> Float32[np.ndarray, " d_obs"]:
    """Return one observation as a vector."""
    if not isinstance(space, gym.spaces.Box):
        observation = gym.spaces.flatten(space, observation)
    return np.asarray(observation, np.float32).ravel()


def flatten_batch(
    space: gym.Space, batched: gym.Space, observations: Any
) -> Float32[np.ndarray, "envs d_obs"]:
    """Return many observations as rows; `space` is that of a single one."""
    if isinstance(space, gym.spaces.Box):
        array = np.asarray(observations, np.float32)
        return array.reshape(len(array), -1)
    rows = [flatten_one(space, each) for each in iterate(batched, observations)]
    return np.stack(rows)


def farthest(box: Any) -> Float[np.ndarray, " d"]:
    """Return how far from zero each entry of Gymnasium's box, or of ours, can be."""
    return np.abs(np.array([box.low, box.high], np.float64)).max(axis=0)


def with_room(bound: float | np.floating) -> float:
    """Return a bound with room for rounding; infinite beyond what float32 can hold."""
    bound = float(bound) * (1 + 1e-5)
    return bound if bound < np.finfo(np.float32).max else np.inf
