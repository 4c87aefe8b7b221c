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

from freeproj.adapters.episode_words import Episodes, EpisodeWords
from freeproj.adapters.flatten import farthest, flat_space, with_room
from freeproj.projection.frames import PlainFrame

__all__ = ["EpisodeFrames", "ShowsFrames"]


class EpisodeFrames(Episodes):
    """Frames of `n_envs` environments with `dim` entries to observe.

    `source` is the projection whose results are seen, if nothing stands between.
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
        super().__init__(n_envs, n_trials)
        self.size, self.source = size, source
        self.frame = PlainFrame(size, dim, threshold, (n_envs,))
        self.told: dict[str, np.ndarray] = {}  # in an episode's info

    def begin(self, begins: Bool[np.ndarray, " envs"] | bool = True) -> None:
        """Begin an episode in some environments, by default in all."""
        if (due := self.due(begins)).any():
            self.frame.clear(due)

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


class ShowsFrames:
    """A wrapper that shows an observation's coordinates in the frame of its episode."""

    def __init__(
        self,
        env: Any,
        size: int | None = None,
        *,
        n_trials: int | None = None,
        threshold: float = 0.0,
    ):
        settings = {"size": size, "n_trials": n_trials, "threshold": threshold}
        super().__init__(env, _frames_and_space, **settings)  # pyright: ignore
        self.frames: EpisodeFrames = self._episodes  # pyright: ignore


def _frames_and_space(
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
    projection inside `env`, and lasts as long as a word.
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
    # No coordinate exceeds the norm of what is shown. Behind a projection a bound on an
    # entry is one on the norm already.
    far = farthest(flat)
    reach = with_room(far.max() if directly else np.linalg.norm(far))
    low = np.append(np.full(size, -reach), 0.0).astype(np.float32)
    return frames, gym.spaces.Box(low, np.float32(reach), (size + 1,), np.float32)


def _words_inside(env: Any) -> tuple[EpisodeWords | None, bool]:
    """Return the words of the next projection inside, and whether it is `env`."""
    inside = env
    while inside is not None:
        # Not `getattr`: some wrappers pass on what stands inside.
        if (words := vars(inside).get("words")) is not None:
            return words, inside is env
        inside = vars(inside).get("env", vars(inside).get("venv"))
    return None, False
