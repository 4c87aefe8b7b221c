"""The words of consecutive episodes, for wrappers around other people's environments.

`EpisodeWords` belongs to one or several environments. It holds base matrices for all of
them and, for each, a word, its matrix, and a stream of random numbers: the next word is
drawn when an episode begins, or at every `n_trials`-th. A stream that is seeded draws
the same words again. NumPy only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Float32, Real

from freeproj.adapters.numpy_core import as_numpy

__all__ = ["EpisodeWords"]

_OWN, _GIVEN, _BASES = range(3)  # what a child of the seed is for


class EpisodeWords:
    """Words and matrices of `n_envs` environments with `obs_dim` entries to observe.

    Args:
        projection: a `FreeProjection` or a `NumpyProjection`.
        obs_dim: the entries of a flattened observation.
        n_envs: the number of environments.
        seed: what bases and words are drawn from; None takes a fresh one.
        n_trials: the episodes that share a word.
    """

    def __init__(
        self,
        projection: Any,
        obs_dim: int,
        n_envs: int = 1,
        seed: int | None = None,
        n_trials: int = 1,
    ):
        self.projection = as_numpy(projection)
        if obs_dim > self.projection.dim:
            raise ValueError(
                f"Observations of {obs_dim} entries do not fit the projection's "
                f"`dim` = {self.projection.dim}; choose a `dim` of at least {obs_dim}."
            )
        if n_trials < 1:
            raise ValueError(f"`n_trials` must be at least 1, got {n_trials}.")
        self.obs_dim, self.n_envs, self.n_trials = obs_dim, n_envs, n_trials
        self.entropy = int(np.random.SeedSequence(seed).entropy)  # pyright: ignore
        self.n_draws = 0
        self.episodes = np.zeros(n_envs, np.int64)
        self.streams = [self._generator(_OWN, index) for index in range(n_envs)]
        self.words = np.zeros((n_envs, self.projection.length), np.int32)
        shape = (n_envs, self.projection.input_dim, obs_dim)
        self.matrices = np.zeros(shape, np.float32)
        self.redraw_bases()

    def redraw_bases(self, seed: int | None = None) -> None:
        """Draws new base matrices; they show from each environment's next word on."""
        if seed is None:
            rng = self._generator(_BASES, self.n_draws)
        else:
            rng = np.random.default_rng(seed)
        self.bases = self.projection.draw_bases(rng, np.float32)
        self.n_draws += 1

    def reseed(self, index: int, seed: int) -> None:
        """Starts an environment's words anew; its next episode has the first one."""
        self.streams[index] = self._generator(_GIVEN, seed)
        self.episodes[index] = 0

    def begin(self, begins: Bool[np.ndarray, " envs"] | None = None) -> None:
        """Begins an episode in some environments, by default in all."""
        indices = range(self.n_envs) if begins is None else np.flatnonzero(begins)
        for index in indices:
            if self.episodes[index] % self.n_trials == 0:
                word = self.projection.draw_word(self.streams[index])
                self.words[index] = word
                self.matrices[index] = self.projection.matrix(
                    word, self.bases, self.obs_dim
                )
            self.episodes[index] += 1

    def project(
        self, observations: Float[np.ndarray, "envs d_obs"]
    ) -> Float32[np.ndarray, "envs d_in"]:
        """Returns each environment's observation under its own word."""
        flat = observations.astype(np.float32, copy=False)
        return np.matmul(self.matrices, flat[:, :, None])[:, :, 0]

    def reach(
        self, low: Real[np.ndarray, " d_obs"], high: Real[np.ndarray, " d_obs"]
    ) -> float:
        """Returns a bound on every projected entry, for all words and bases.

        |(σ U ξ)_i| ≤ σ |ξ| for orthogonal U; infinite where there is no bound.
        """
        if not self.projection.orthogonal:
            return math.inf
        farthest = np.maximum(
            np.abs(low, dtype=np.float64), np.abs(high, dtype=np.float64)
        )
        largest = np.finfo(np.float32).max
        bound = self.projection.scale * float(np.linalg.norm(farthest)) * (1 + 1e-5)
        return bound if bound < largest else math.inf

    def restore(self, kept: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Takes up bases and, for as many environments as before, words and streams."""
        self.entropy, self.n_draws = kept["entropy"], kept["n_draws"]
        self.bases = arrays["bases"]
        if len(arrays["words"]) != self.n_envs:
            return
        if arrays["matrices"].shape != self.matrices.shape:
            raise ValueError(
                f"The file is for observations of {arrays['matrices'].shape[2]} "
                f"entries, the environment has {self.obs_dim}."
            )
        self.words, self.matrices = arrays["words"], arrays["matrices"]
        self.episodes = arrays["episodes"]
        for stream, state in zip(self.streams, kept["streams"], strict=True):
            stream.bit_generator.state = state

    def _generator(self, purpose: int, number: int) -> np.random.Generator:
        child = np.random.SeedSequence(self.entropy, spawn_key=(purpose, number))
        return np.random.default_rng(child)
