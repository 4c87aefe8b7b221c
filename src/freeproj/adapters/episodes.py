"""Words and frames of consecutive episodes, for wrappers around other environments.

Each of one or several environments has a word from a random stream of its own, and a
frame (`projection.frames`); both are new with each episode or with every `n_trials`-th.
The matrices of all words are formed once per set of bases, so that a new episode is a
look-up. NumPy only.
"""

import math
from typing import Any

import gymnasium as gym
import numpy as np
from jaxtyping import Bool, Float32, Real

from freeproj.adapters import numpy_core
from freeproj.adapters.flatten import farthest, observed_by, with_room
from freeproj.projection.frames import PlainFrame
from freeproj.projection.projection import FreeProjection
from freeproj.storage.checks import at_least

__all__ = ["EpisodeFrames", "EpisodeWords", "Episodes", "Projects", "ShowsFrames"]

_Seed = int | None
_Row = Real[np.ndarray, " d"]
_Rows = Real[np.ndarray, "envs d"]
_ShownRow = Float32[np.ndarray, " k"]
_Shown = Float32[np.ndarray, "envs k"]

_OWN, _GIVEN, _BASES = range(3)  # what a child of the seed is for


class Episodes:
    """Counts the episodes of environments; `n_trials` in a row share something."""

    def __init__(self, n_envs: int, n_trials: int):
        at_least(1, n_trials=n_trials)
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
    """Words and matrices of `n_envs` environments with `obs_dim` entries to observe."""

    def __init__(
        self, law: FreeProjection, obs_dim: int, n_envs: int, seed: _Seed, n_trials: int
    ):
        super().__init__(n_envs, n_trials)
        self.projection, self.obs_dim = law, obs_dim
        self.entropy = int(np.random.SeedSequence(seed).entropy)  # pyright: ignore
        self.streams = [self._generator(_OWN, index) for index in range(n_envs)]
        self.words = np.zeros((n_envs, law.length), np.int32)
        # Transposed, as a row times a matrix is the faster product.
        self.turned = np.zeros((n_envs, obs_dim, law.input_dim))
        # What was projected last, not rounded: a frame divides by small differences.
        self.latest = np.zeros((n_envs, law.input_dim))
        self.take_bases(numpy_core.draw_bases(law, self._generator(_BASES, 0)), 1)

    @property
    def told(self) -> dict[str, np.ndarray]:
        """What an episode's info says; Gymnasium wants it new in each step."""
        return {"word": self.words.copy()}

    def redraw_bases(self, seed: int | None = None) -> None:
        own = self._generator(_BASES, self.n_draws)
        rng = own if seed is None else np.random.default_rng(seed)
        self.take_bases(numpy_core.draw_bases(self.projection, rng), self.n_draws + 1)

    def take_bases(self, bases: np.ndarray, n_draws: int) -> None:
        self.bases, self.n_draws = bases, n_draws
        self._table = numpy_core.table(self.projection, bases, self.obs_dim)

    def reseed(self, index: int, seed: int) -> None:
        """Restart an environment's words; its next episode gets the first one."""
        super().reseed(index, seed)
        self.streams[index] = self._generator(_GIVEN, seed)

    def begin(self, begins: Bool[np.ndarray, " envs"] | bool = True) -> None:
        """Begin an episode in some environments, by default in all."""
        for index in np.flatnonzero(self.due(begins)).tolist():
            self.words[index], drawn = self._draw(self.streams[index])
            self.turned[index] = drawn.T

    def show(self, observations: _Rows) -> _Shown:
        """Return each environment's observation under its own word."""
        self.latest = np.matmul(observations[:, None, :], self.turned)[:, 0]
        return self.latest.astype(np.float32)

    def show_one(self, index: int, observation: _Row) -> _ShownRow:
        """Return one environment's observation, such as its last, under its word."""
        return observation.dot(self.turned[index]).astype(np.float32)

    def reach(self, space: gym.spaces.Box) -> float:
        """Return a bound on every entry: |(σ U ξ)_i| ≤ σ |ξ| for orthogonal U."""
        if not numpy_core.keeps_norms(self.projection):
            return math.inf
        return with_room(self.projection.scale * np.linalg.norm(farthest(space)))

    def _draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw a word; return it and its matrix."""
        law = self.projection
        if self._table is None:
            word = numpy_core.draw_word(law, rng)
            return word, numpy_core.matrix(law, word, self.bases, self.obs_dim)
        letters, matrices = self._table
        index = rng.integers(law.n_words)
        return letters[index], matrices[index]

    def _generator(self, purpose: int, number: int) -> np.random.Generator:
        child = np.random.SeedSequence(self.entropy, spawn_key=(purpose, number))
        return np.random.default_rng(child)


class EpisodeFrames(Episodes):
    """A frame for each environment; `source` is the projection that it sees, if any."""

    def __init__(self, frame: PlainFrame, n_trials: int, source: EpisodeWords | None):
        super().__init__(len(frame.n_known), n_trials)
        self.frame, self.source = frame, source
        self.told: dict[str, np.ndarray] = {}  # in an episode's info

    def begin(self, begins: Bool[np.ndarray, " envs"] | bool = True) -> None:
        if (due := self.due(begins)).any():
            self.frame.clear(due)

    def show(self, observations: _Rows) -> _Shown:
        # Rounded to float32, one projection would differ from another by 1e-5.
        exact = observations if self.source is None else self.source.latest
        return self.frame.see(exact)

    def show_one(self, index: int, observation: _Row) -> _ShownRow:
        where = np.arange(len(self.episodes)) == index
        return self.frame.see(np.where(where[:, None], observation, 0.0), where)[index]


class Projects:
    """A wrapper that shows M_o ξ instead of ξ, with a new word for each episode."""

    def __init__(
        self, env: Any, projection: Any, *, seed: int | None = None, n_trials: int = 1
    ):
        flat, n_envs = observed_by(env)
        law = numpy_core.checked(projection, flat.shape[0])
        self.words = EpisodeWords(law, flat.shape[0], n_envs, seed, n_trials)
        reach = self.words.reach(flat)
        shown = gym.spaces.Box(-reach, reach, (law.input_dim,), np.float32)
        settings = {"projection": law, "seed": seed, "n_trials": n_trials}
        super().__init__(env, self.words, shown, **settings)  # pyright: ignore

    def redraw_bases(self, seed: int | None = None) -> None:
        """Draw new base matrices, used from each environment's next word on."""
        self.words.redraw_bases(seed)


class ShowsFrames:
    """A wrapper that shows an observation's coordinates in the frame of its episode.

    By default a frame has as many directions as an observation has entries before a
    projection inside `env`, and lasts as long as a word.
    """

    def __init__(
        self,
        env: Any,
        size: int | None = None,
        *,
        n_trials: int | None = None,
        threshold: float = 0.0,
    ):
        flat, n_envs = observed_by(env)
        dim, (inside, directly) = flat.shape[0], _words_inside(env)
        shared = 1 if inside is None else inside.n_trials
        n_trials = shared if n_trials is None else n_trials
        if inside is not None and n_trials > 0 and shared % n_trials:
            raise ValueError(
                f"A frame must not outlast the word that it was made under: {shared} "
                f"episodes share a word, but `n_trials` = {n_trials} share a frame."
            )
        if size is None:
            size = dim if inside is None else min(inside.obs_dim, dim)
        frame = PlainFrame(size, dim, threshold, (n_envs,))
        self.frames = EpisodeFrames(frame, n_trials, inside if directly else None)
        # No coordinate exceeds the norm of what is shown. Behind a projection a bound
        # on an entry is one on the norm already.
        far = farthest(flat)
        reach = with_room(far.max() if directly else np.linalg.norm(far))
        low = np.append(np.full(size, -reach), 0.0).astype(np.float32)
        shown = gym.spaces.Box(low, np.float32(reach), (size + 1,), np.float32)
        settings = {"size": size, "n_trials": n_trials, "threshold": threshold}
        super().__init__(env, self.frames, shown, **settings)  # pyright: ignore


def _words_inside(env: Any) -> tuple[EpisodeWords | None, bool]:
    """Return the words of the next projection inside, and whether it is `env`."""
    inside = env
    while inside is not None:
        # Not `getattr`: some wrappers pass on what stands inside.
        if (words := vars(inside).get("words")) is not None:
            return words, inside is env
        inside = vars(inside).get("env", vars(inside).get("venv"))
    return None, False
