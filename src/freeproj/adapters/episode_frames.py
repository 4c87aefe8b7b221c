"""The frames of consecutive episodes, for wrappers around other people's environments.

`EpisodeFrames` belongs to one or several environments. Each has a frame, which shows
what it observes in coordinates that no projection changes (`projection.frames`). It is
emptied when an episode begins, or at every `n_trials`-th. NumPy only.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import Bool, Float32, Real

from freeproj.adapters.episode_words import EpisodeWords
from freeproj.adapters.flatten import flat_space
from freeproj.projection.frames import PlainFrame

__all__ = ["EpisodeFrames", "frames_and_space"]


class EpisodeFrames:
    """Frames of `n_envs` environments with `dim` entries to observe.

    Args:
        size: the number of directions that a frame keeps.
        dim: the number of entries of a flattened observation.
        n_envs: the number of environments.
        n_trials: how many episodes share a frame.
        threshold: the norm that a direction must have to be kept as new.
        source: the projection whose results are seen, if nothing stands between.
    """

    def __init__(
        self,
        size: int,
        dim: int,
        n_envs: int = 1,
        n_trials: int = 1,
        threshold: float = 0.0,
        source: EpisodeWords | None = None,
    ):
        if n_trials < 1:
            raise ValueError(f"`n_trials` must be at least 1, got {n_trials}.")
        self.size, self.n_trials, self.source = size, n_trials, source
        self.frame = PlainFrame(size, dim, threshold, (n_envs,))
        self.episodes = np.zeros(n_envs, np.int64)
        self.told: dict[str, np.ndarray] = {}  # in an episode's info

    def begin(self, begins: Bool[np.ndarray, " envs"] | bool = True) -> None:
        """Begin an episode in some environments, by default in all."""
        due = (self.episodes % self.n_trials == 0) & begins
        self.episodes = self.episodes + begins
        if due.any():
            self.frame.clear(due)

    def reseed(self, index: int, seed: int) -> None:
        """Let an environment's next episode be the first one of its frame."""
        self.episodes[index] = 0

    def show(
        self, observations: Real[np.ndarray, "envs d"]
    ) -> Float32[np.ndarray, "envs slot"]:
        """Return each environment's observation in its frame."""
        # Rounded to float32, one projection would differ from another by 1e-5.
        exact = observations if self.source is None else self.source.latest
        return self.frame.see(exact)

    def show_one(
        self, index: int, observation: Real[np.ndarray, " d"]
    ) -> Float32[np.ndarray, " slot"]:
        """Return one environment's observation, such as its last, in its frame."""
        where = np.arange(len(self.episodes)) == index
        return self.frame.see(np.where(where[:, None], observation, 0.0), where)[index]

    def show_single(
        self, observation: Real[np.ndarray, " d"]
    ) -> Float32[np.ndarray, " slot"]:
        """Return the observation of the only environment, in its frame."""
        return self.show(observation[None])[0]


def frames_and_space(
    env: Any,
    space: gym.Space,
    n_envs: int,
    *,
    size: int | None,
    n_trials: int | None,
    threshold: float,
) -> tuple[EpisodeFrames, gym.spaces.Box]:
    """Return the frames of environments, and the space of what they show.

    By default a frame has as many directions as an observation has entries before a
    projection inside `env`, and lasts as long as a word. `space` is that of one
    environment's observations.
    """
    flat, (inside, directly) = flat_space(space), _words_inside(env)
    shared = 1 if inside is None else inside.n_trials
    n_trials = shared if n_trials is None else n_trials
    if inside is not None and n_trials > 0 and shared % n_trials:
        raise ValueError(
            f"A frame must not outlast the word that it was made under: {shared} "
            f"episodes share a word, but `n_trials` = {n_trials} share a frame."
        )
    dim = flat.shape[0]
    if size is None:
        size = dim if inside is None else min(inside.obs_dim, dim)
    source = inside if directly else None
    frames = EpisodeFrames(size, dim, n_envs, n_trials, threshold, source)
    return frames, _coordinates(flat, directly, size)


def _words_inside(env: Any) -> tuple[EpisodeWords | None, bool]:
    """Return the words of the next projection inside, and whether it is `env`."""
    inside = env
    while inside is not None:
        # Not `getattr`: some wrappers pass on what stands inside.
        if (words := vars(inside).get("words")) is not None:
            return words, inside is env
        inside = vars(inside).get("env", vars(inside).get("venv"))
    return None, False


def _coordinates(flat: gym.spaces.Box, is_norm: bool, size: int) -> gym.spaces.Box:
    """Return the space of coordinates: none exceeds the norm of what is shown.

    Behind a projection (`is_norm`) a bound on an entry is one on the norm already.
    """
    bounds = np.maximum(
        np.abs(flat.low, dtype=np.float64), np.abs(flat.high, dtype=np.float64)
    )
    reach = float(bounds.max() if is_norm else np.linalg.norm(bounds))
    reach = reach * (1 + 1e-5) if reach < np.finfo(np.float32).max else np.inf
    low = np.append(np.full(size, -reach), 0.0).astype(np.float32)
    return gym.spaces.Box(low, np.float32(reach), (size + 1,), np.float32)
