"""Stable-Baselines3: the projection around its vector environments.

    venv = VecFreeProjection(make_vec_env("CartPole-v1", 8), FreeProjection(4, 4))
    model = RecurrentPPO("MlpLstmPolicy", venv).learn(100_000)
    model.save("model"); venv.save("projection.npz")
    venv = VecFreeProjection.load("projection.npz", make_vec_env("CartPole-v1", 8))

Each episode of each environment has its own word, given in `infos[i]["word"]`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import batch_space
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper

from freeproj.adapters.episode_frames import frames_and_space
from freeproj.adapters.episode_words import EpisodeWords
from freeproj.adapters.flatten import flatten_batch, flatten_one, words_and_space
from freeproj.projection.projection import FreeProjection

__all__ = ["RedrawBases", "VecFrame", "VecFreeProjection"]


class VecFreeProjection(VecEnvWrapper):
    """Show M_o ξ instead of the observation ξ, with a new word for each episode.

    Args:
        venv: a vector environment whose observations can be flattened to a vector.
        projection: a `FreeProjection`.
        seed: what base matrices and words are drawn from.
        n_trials: how many episodes share a word.
    """

    def __init__(
        self,
        venv: VecEnv,
        projection: Any,
        *,
        seed: int | None = None,
        n_trials: int = 1,
    ):
        plain, n_envs = venv.observation_space, venv.num_envs
        self.words, space = words_and_space(plain, projection, n_envs, seed, n_trials)
        super().__init__(venv, observation_space=space)
        self._batched = batch_space(plain, n_envs)

    def reset(self) -> np.ndarray:
        """Begin an episode, with a new word, in every environment."""
        observations = self.venv.reset()
        self.words.begin()
        return self._projected(observations)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict]]:
        """Step and project; an episode's last observation keeps the episode's word."""
        observations, rewards, dones, infos = self.venv.step_wait()
        words = self.words.words
        told = [dict(info, word=word) for info, word in zip(infos, words, strict=True)]
        for index in np.flatnonzero(dones).tolist():
            if "terminal_observation" in told[index]:
                last = told[index]["terminal_observation"]
                flat = flatten_one(self.venv.observation_space, last)
                shown = self.words.project_one(index, flat)
                told[index]["terminal_observation"] = shown
        self.words.begin(np.asarray(dones, bool))
        return self._projected(observations), rewards, dones, told

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed environments and words; both take effect at the next reset."""
        seeds = self.venv.seed(seed)
        for index, each in enumerate(seeds if seed is not None else ()):
            if each is not None:
                self.words.reseed(index, each)
        return seeds

    def redraw_bases(self, seed: int | None = None) -> None:
        """Draw new base matrices, used from each environment's next word on."""
        self.words.redraw_bases(seed)

    def save(self, path: str | Path) -> None:
        """Write bases, words and random streams to an `.npz` file, beside a model."""
        words = self.words
        settings = {
            "projection": dataclasses.asdict(words.projection),
            "n_trials": words.n_trials,
            "entropy": words.entropy,
            "n_draws": words.n_draws,
            "streams": [stream.bit_generator.state for stream in words.streams],
        }
        with Path(path).open("wb") as file:
            np.savez(
                file,
                settings=np.array(json.dumps(settings)),
                bases=words.bases,
                words=words.words,
                matrices=words.matrices,
                episodes=words.episodes,
            )

    @classmethod
    def load(cls, path: str | Path, venv: VecEnv) -> VecFreeProjection:
        """Read what `save` wrote, for an environment with the same observations.

        With as many environments as before the words continue where they were; with
        another number they start anew, under the same bases.
        """
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        kept = json.loads(str(arrays.pop("settings")))
        law = FreeProjection(**kept["projection"])
        loaded = cls(venv, law, seed=kept["entropy"], n_trials=kept["n_trials"])
        loaded.words.restore(kept, arrays)
        return loaded

    def _projected(self, observations: Any) -> np.ndarray:
        space: gym.Space = self.venv.observation_space
        flat = flatten_batch(space, self._batched, observations)
        return self.words.project(flat)


class VecFrame(VecEnvWrapper):
    """Show an observation's coordinates in the frame of its episode.

    They are the same under every projection: see `freeproj.adapters.gymnasium.frames`,
    whose arguments these are.
    """

    def __init__(
        self,
        venv: VecEnv,
        size: int | None = None,
        *,
        n_trials: int | None = None,
        threshold: float = 0.0,
    ):
        shown, n_envs = venv.observation_space, venv.num_envs
        self.frames, space = frames_and_space(
            shown, n_envs, _words_inside(venv), size, n_trials, threshold
        )
        super().__init__(venv, observation_space=space)
        self._batched = batch_space(shown, n_envs)

    def reset(self) -> np.ndarray:
        """Begin an episode in every environment."""
        observations = self.venv.reset()
        self.frames.begin()
        return self._seen(observations)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict]]:
        """Step; an episode's last observation is shown in the episode's own frame."""
        observations, rewards, dones, infos = self.venv.step_wait()
        told = [dict(info) for info in infos]
        for index in np.flatnonzero(dones).tolist():
            if "terminal_observation" in told[index]:
                last = told[index]["terminal_observation"]
                flat = flatten_one(self.venv.observation_space, last)
                told[index]["terminal_observation"] = self.frames.see_one(index, flat)
        self.frames.begin(np.asarray(dones, bool))
        return self._seen(observations), rewards, dones, told

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the environments; the next episode of each begins with a new frame."""
        seeds = self.venv.seed(seed)
        for index in range(self.num_envs if seed is not None else 0):
            self.frames.restart(index)
        return seeds

    def save(self, path: str | Path) -> None:
        """Write the frames to an `.npz` file, for episodes that share one (`n_trials`).

        With one episode a frame there is nothing to keep: every reset empties it.
        """
        frames, frame = self.frames, self.frames.frame
        with Path(path).open("wb") as file:
            np.savez(
                file,
                size=frames.size,
                n_trials=frames.n_trials,
                threshold=frame.threshold,
                rows=frame.rows,
                n_known=frame.n_known,
                episodes=frames.episodes,
            )

    @classmethod
    def load(cls, path: str | Path, venv: VecEnv) -> VecFrame:
        """Read what `save` wrote, for as many environments as before, or begin anew."""
        with np.load(path, allow_pickle=False) as file:
            kept = {name: file[name] for name in file.files}
        n_trials, threshold = int(kept["n_trials"]), float(kept["threshold"])
        loaded = cls(venv, int(kept["size"]), n_trials=n_trials, threshold=threshold)
        frame = loaded.frames.frame
        if kept["rows"].shape == frame.rows.shape:
            frame.rows, frame.n_known = kept["rows"], kept["n_known"]
            loaded.frames.episodes = kept["episodes"]
        return loaded

    def _seen(self, observations: Any) -> np.ndarray:
        space: gym.Space = self.venv.observation_space
        return self.frames.see(flatten_batch(space, self._batched, observations))


def _words_inside(venv: VecEnv) -> tuple[EpisodeWords | None, bool]:
    """Return the words of the next projection inside, and whether it is `venv`."""
    inside: Any = venv
    while isinstance(inside, VecEnvWrapper):
        if isinstance(inside, VecFreeProjection):
            return inside.words, inside is venv
        inside = inside.venv
    return None, False


class RedrawBases(BaseCallback):
    """Draw new base matrices at the start of every rollout, or of every k-th."""

    def __init__(self, venv: VecFreeProjection, every: int = 1):
        super().__init__()
        if every < 1:
            raise ValueError(f"`every` must be at least 1, got {every}.")
        self.projected, self.every, self.n_collections = venv, every, 0

    def _on_rollout_start(self) -> None:
        if self.n_collections and self.n_collections % self.every == 0:
            self.projected.redraw_bases()
        self.n_collections += 1

    def _on_step(self) -> bool:
        return True
