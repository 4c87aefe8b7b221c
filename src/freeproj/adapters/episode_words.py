"""The words of consecutive episodes, for wrappers around other people's environments.

`EpisodeWords` belongs to one or several environments. It holds base matrices for all of
them and, for each, a word, its matrix, and a stream of random numbers: the next word is
drawn when an episode begins, or at every `n_trials`-th. A stream that is seeded draws
the same words again. The matrices of all words are formed once per set of bases, so
that a new episode is a look-up. NumPy only.
"""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import Bool, Float, Float32

from freeproj.adapters.flatten import farthest, flat_space, with_room
from freeproj.adapters.numpy_core import (
    MAX_TABLE,
    checked,
    draw_bases,
    draw_word,
    keeps_norms,
    matrix,
    table,
)
from freeproj.projection.projection import FreeProjection

__all__ = ["EpisodeWords", "Episodes", "Projects"]

_OWN, _GIVEN, _BASES = range(3)  # what a child of the seed is for


class Episodes:
    """Counts the episodes of environments; `n_trials` in a row share something."""

    def __init__(self, n_envs: int, n_trials: int):
        if n_trials < 1:
            raise ValueError(f"`n_trials` must be at least 1, got {n_trials}.")
        self.n_trials, self.episodes = n_trials, np.zeros(n_envs, np.int64)

    def due(self, begins: Bool[np.ndarray, " n"] | bool) -> Bool[np.ndarray, " n"]:
        """Count the episodes that begin; return where they are the first to share."""
        due = (self.episodes % self.n_trials == 0) & begins
        self.episodes = self.episodes + begins
        return due

    def reseed(self, index: int, seed: int) -> None:
        """Let an environment's next episode be the first to share."""
        self.episodes[index] = 0


class EpisodeWords(Episodes):
    """Words and matrices of `n_envs` environments with `obs_dim` entries to observe.

    `words` has the word of each environment. `latest` is what was projected last,
    before it was rounded: a frame divides by small differences.
    """

    def __init__(
        self,
        projection: FreeProjection,
        obs_dim: int,
        n_envs: int = 1,
        seed: int | None = None,
        n_trials: int = 1,
    ):
        super().__init__(n_envs, n_trials)
        self.projection = law = projection
        if obs_dim > law.dim:
            raise ValueError(
                f"Observations of {obs_dim} entries do not fit the projection's "
                f"`dim` = {law.dim}; choose a `dim` of at least {obs_dim}."
            )
        self.obs_dim, self.n_draws = obs_dim, 0
        self.entropy = int(np.random.SeedSequence(seed).entropy)  # pyright: ignore
        self.streams = [self._generator(_OWN, index) for index in range(n_envs)]
        self.words = np.zeros((n_envs, law.length), np.int32)
        # Transposed, as a row times a matrix is the faster product.
        self.turned = np.zeros((n_envs, obs_dim, law.input_dim))
        self.latest = np.zeros((n_envs, law.input_dim))
        self.redraw_bases()

    @property
    def matrices(self) -> Float[np.ndarray, "envs d_in d_obs"]:
        """M_o of each environment's word."""
        return self.turned.transpose(0, 2, 1)

    @property
    def told(self) -> dict[str, np.ndarray]:
        """What an episode's info says; Gymnasium wants it new in each step."""
        return {"word": self.words.copy()}

    def redraw_bases(self, seed: int | None = None) -> None:
        """Draw new base matrices, used from each environment's next word on."""
        if seed is None:
            rng = self._generator(_BASES, self.n_draws)
        else:
            rng = np.random.default_rng(seed)
        self.bases, self._table = draw_bases(self.projection, rng), None
        self.n_draws += 1

    def reseed(self, index: int, seed: int) -> None:
        """Restart an environment's words; its next episode gets the first one."""
        super().reseed(index, seed)
        self.streams[index] = self._generator(_GIVEN, seed)

    def begin(self, begins: Bool[np.ndarray, " envs"] | bool = True) -> None:
        """Begin an episode in some environments, by default in all."""
        for index in np.flatnonzero(self.due(begins)).tolist():
            drawn = self._draw(self.streams[index])
            self.words[index], self.turned[index] = drawn

    def show(
        self, observations: Float[np.ndarray, "envs d_obs"]
    ) -> Float32[np.ndarray, "envs d_in"]:
        """Return each environment's observation under its own word."""
        self.latest = np.matmul(observations[:, None, :], self.turned)[:, 0]
        return self.latest.astype(np.float32)

    def show_one(
        self, index: int, observation: Float32[np.ndarray, " d_obs"]
    ) -> Float32[np.ndarray, " d_in"]:
        """Return one environment's observation under its word."""
        self.latest[index] = observation.dot(self.turned[index])
        return self.latest[index].astype(np.float32)

    def reach(self, space: gym.spaces.Box) -> float:
        """Return a bound on every projected entry, for all words and bases.

        |(σ U ξ)_i| ≤ σ |ξ| for orthogonal U; infinite where there is no bound.
        """
        if not keeps_norms(self.projection):
            return math.inf
        return with_room(self.projection.scale * np.linalg.norm(farthest(space)))

    def restore(self, kept: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Restore bases and, for as many environments as before, words and streams."""
        self.entropy, self.n_draws = kept["entropy"], kept["n_draws"]
        self.bases, self._table = arrays["bases"], None
        if arrays["words"].shape != self.words.shape:
            return
        if arrays["matrices"].shape != self.matrices.shape:
            raise ValueError(
                f"The file is for observations of {arrays['matrices'].shape[2]} "
                f"entries, but the environment's have {self.obs_dim}."
            )
        self.words, self.episodes = arrays["words"], arrays["episodes"]
        self.turned[:] = arrays["matrices"].transpose(0, 2, 1)
        for stream, state in zip(self.streams, kept["streams"], strict=True):
            stream.bit_generator.state = state

    def _draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw a word; return it and its matrix, transposed."""
        law = self.projection
        if law.n_words * law.input_dim * self.obs_dim > MAX_TABLE:
            word = draw_word(law, rng)
            return word, matrix(law, word, self.bases, self.obs_dim).T
        if self._table is None:
            letters, every = table(law, self.bases, self.obs_dim)
            self._table = letters, np.ascontiguousarray(every.transpose(0, 2, 1))
        letters, turned = self._table
        index = rng.integers(law.n_words)
        return letters[index], turned[index]

    def _generator(self, purpose: int, number: int) -> np.random.Generator:
        child = np.random.SeedSequence(self.entropy, spawn_key=(purpose, number))
        return np.random.default_rng(child)


class Projects:
    """A wrapper that shows M_o ξ instead of ξ, with a new word for each episode."""

    def __init__(
        self, env: Any, projection: Any, *, seed: int | None = None, n_trials: int = 1
    ):
        settings = {"projection": projection, "seed": seed, "n_trials": n_trials}
        super().__init__(env, _words_and_space, **settings)  # pyright: ignore
        self.words: EpisodeWords = self._episodes  # pyright: ignore

    def redraw_bases(self, seed: int | None = None) -> None:
        """Draw new base matrices, used from each environment's next word on."""
        self.words.redraw_bases(seed)


def _words_and_space(
    _env: Any, space: gym.Space, n_envs: int, *, projection: Any, **settings: Any
) -> tuple[EpisodeWords, gym.spaces.Box]:
    """Return the words of environments, and the space of what they project."""
    projection, flat = checked(projection), flat_space(space)
    words = EpisodeWords(projection, flat.shape[0], n_envs, **settings)
    reach = words.reach(flat)
    return words, gym.spaces.Box(-reach, reach, (projection.input_dim,), np.float32)
