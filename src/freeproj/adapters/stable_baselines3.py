"""Stable-Baselines3: the projection around its vector environments.

    venv = VecFreeProjection(make_vec_env("CartPole-v1", 8), FreeProjection(4, 4))
    model = RecurrentPPO("MlpLstmPolicy", venv).learn(100_000)
    model.save("model"); venv.save("projection.npz")
    venv = VecFreeProjection.load("projection.npz", make_vec_env("CartPole-v1", 8))

Each episode of each environment has its own word, given in `infos[i]["word"]`.
"""

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

from freeproj.adapters.episodes import Projects, ShowsFrames
from freeproj.adapters.flatten import flatten_batch, flatten_one
from freeproj.projection.projection import FreeProjection
from freeproj.storage.checks import at_least

__all__ = ["RedrawBases", "VecFrame", "VecFreeProjection"]


class _VecShown(VecEnvWrapper):
    """Show observations through what the episode of each environment has of its own."""

    def __init__(self, venv: VecEnv, episodes: Any, shown: gym.Space, **_: Any):
        self._episodes = episodes
        super().__init__(venv, observation_space=shown)
        self._batched = batch_space(venv.observation_space, venv.num_envs)

    def reset(self) -> np.ndarray:
        """Begin an episode in every environment."""
        observations = self.venv.reset()
        self._episodes.begin()
        return self._seen(observations)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict]]:
        """Step; an episode's last observation is shown as the episode's others."""
        observations, rewards, dones, infos = self.venv.step_wait()
        told = self._episodes.told
        infos = [
            info | {name: each[index] for name, each in told.items()}
            for index, info in enumerate(infos)
        ]
        for index in np.flatnonzero(dones).tolist():
            if "terminal_observation" in infos[index]:
                last = infos[index]["terminal_observation"]
                flat = flatten_one(self.venv.observation_space, last)
                shown = self._episodes.show_one(index, flat)
                infos[index]["terminal_observation"] = shown
        self._episodes.begin(np.asarray(dones, bool))
        return self._seen(observations), rewards, dones, infos

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the environments and what is drawn here, from the next reset on."""
        seeds = self.venv.seed(seed)
        for index, each in enumerate(seeds if seed is not None else ()):
            if each is not None:
                self._episodes.reseed(index, each)
        return seeds

    def _seen(self, observations: Any) -> np.ndarray:
        space: gym.Space = self.venv.observation_space
        return self._episodes.show(flatten_batch(space, self._batched, observations))


class VecFreeProjection(Projects, _VecShown):
    """Show M_o ξ instead of the observation ξ, with a new word for each episode.

    The arguments are those of `ProjectObservation` of `freeproj.adapters.gymnasium`.
    """

    def save(self, path: str | Path) -> None:
        """Write settings and base matrices to an `.npz` file, beside a model."""
        kept = {name: getattr(self.words, name) for name in ("n_trials", "n_draws")}
        kept["projection"] = dataclasses.asdict(self.words.projection)
        settings = np.array(json.dumps(kept | {"entropy": self.words.entropy}))
        with Path(path).open("wb") as file:  # `savez` would change the name
            np.savez(file, settings=settings, bases=self.words.bases)

    @classmethod
    def load(cls, path: str | Path, venv: VecEnv) -> "VecFreeProjection":
        """Read what `save` wrote; the words of its seed are drawn from the first on."""
        with np.load(path, allow_pickle=False) as file:
            kept, bases = json.loads(str(file["settings"])), file["bases"]
        law = FreeProjection(**kept["projection"])
        loaded = cls(venv, law, seed=kept["entropy"], n_trials=kept["n_trials"])
        loaded.words.take_bases(bases, kept["n_draws"])
        return loaded


class VecFrame(ShowsFrames, _VecShown):
    """Show an observation's coordinates in the frame of its episode.

    They are the same under every projection: see `FrameObservation` of
    `freeproj.adapters.gymnasium`, whose arguments these are.
    """


class RedrawBases(BaseCallback):
    """Draw new base matrices at the start of every rollout, or of every k-th."""

    def __init__(self, venv: VecFreeProjection, every: int = 1):
        super().__init__()
        at_least(1, every=every)
        self.projected, self.every, self.n_collections = venv, every, 0

    def _on_rollout_start(self) -> None:
        if self.n_collections and self.n_collections % self.every == 0:
            self.projected.redraw_bases()
        self.n_collections += 1

    def _on_step(self) -> bool:
        return True
