"""Policies of any origin as players of many episodes at once.

A player sees each observation through the episode's matrix, of the size that the policy
was trained on. Its memory begins empty with an episode and is kept over its trials.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float

from freeproj.adapters.certify.arenas import Arena
from freeproj.envs import Box, Discrete
from freeproj.projection.frames import PlainFrame
from freeproj.projection.maps import identity, tile

__all__ = ["Habits", "Player", "as_player"]

_Matrices = Float[np.ndarray, "episodes d_in d_obs"]


class Habits(NamedTuple):
    """How an agent was trained, as far as it matters for playing."""

    dim: int = 0  # of the matrices that projections are rows of; 0: `input_dim`
    scale: float = 1.0
    n_trials: int = 0  # 0: not known
    same_start: bool = False  # every trial of an episode starts from the same state
    has_words: bool = False  # can be played under the projections of its training


@runtime_checkable
class Player(Protocol):
    """A policy that plays many episodes at once."""

    name: str
    input_dim: int
    habits: Habits

    def plain(self, obs_dim: int) -> Float[np.ndarray, "d_in d_obs"]:
        """Return the matrix through which it sees the observation itself."""
        ...

    def begin(self, n_episodes: int, matrices: _Matrices | None, seed: int) -> None:
        """Begin an episode under each matrix; None: under those of its training."""
        ...

    def act(
        self,
        observations: Float[np.ndarray, "episodes d_obs"],
        rewards: Float[np.ndarray, " episodes"],
        ended: Bool[np.ndarray, " episodes"],
    ) -> np.ndarray:
        """Return an action for each episode.

        Args:
            rewards: of the actions before.
            ended: whether those ended a trial.
        """
        ...


def as_player(
    policy: Any,
    arena: Arena,
    *,
    env: Any = "",
    dim: int = 0,
    scale: float = 1.0,
    frame: int = 0,
    deterministic: bool = True,
) -> Player:
    """Return a policy as a player.

    Args:
        policy: an agent of this package; a model of Stable-Baselines3 or sb3-contrib; a
            torch module from observations (and a state) to logits or actions (and the
            next state); or a function `act(observation, state)`, which returns an
            action, or an action and the next state (None at the start).
        env: the task, for agents of this package.
        dim: entries of what the policy sees; by default what it was trained on.
    """
    if callable(getattr(policy, "player", None)):  # an agent of this package
        return policy.player(env)
    if callable(getattr(policy, "predict", None)) and hasattr(
        policy, "observation_space"
    ):
        ask: Any = _Model(policy, deterministic)
        dim = dim or (0 if frame else ask.input_dim)
    elif any(each.__module__.startswith("torch.nn") for each in type(policy).__mro__):
        ask = _Module(policy, arena.action_space, deterministic)
    elif callable(getattr(policy, "act", None)) or callable(policy):
        ask = _Function(getattr(policy, "act", policy))
    else:
        raise TypeError(
            "`policy` must be an agent from `load_agent`, a Stable-Baselines3 model, a "
            "torch module, or a function `act(observation, state)`, got "
            f"{type(policy).__name__}."
        )
    return _Projected(ask, dim or arena.obs_dim, scale, frame)


class _Projected(Player):
    """A policy of others behind a projection and, if asked for, a frame."""

    def __init__(self, ask: Any, input_dim: int, scale: float, frame: int):
        self._ask, self.input_dim = ask, input_dim
        self.name = ask.name
        self.habits = Habits(scale=scale)
        self._frame = frame
        self._frames: list[PlainFrame] = []
        self._matrices: _Matrices = np.zeros((0, input_dim, 1), np.float32)

    def plain(self, obs_dim: int) -> Float[np.ndarray, "d_in d_obs"]:
        # Copies of the identity where there is room.
        matrix = identity if obs_dim == self.input_dim else tile
        return np.float32(self.habits.scale) * matrix(self.input_dim, obs_dim)

    def begin(self, n_episodes: int, matrices: _Matrices | None, seed: int) -> None:
        assert matrices is not None  # nobody knows its training's
        self._matrices = np.asarray(matrices, np.float32)
        if self._frame:
            size = self._frame, self.input_dim
            self._frames = [PlainFrame(*size) for _ in range(n_episodes)]
        self._ask.begin(n_episodes, seed)

    def act(self, observations, rewards, ended) -> np.ndarray:
        seen = np.einsum("nij,nj->ni", self._matrices, observations)
        if self._frame:
            pairs = zip(self._frames, seen, strict=True)
            seen = np.stack([frame.see(row) for frame, row in pairs])
        return np.asarray(self._ask.act(seen.astype(np.float32)))


class _Model:
    """Stable-Baselines3 or sb3-contrib, recurrent or not."""

    def __init__(self, model: Any, deterministic: bool):
        self._model, self._deterministic = model, deterministic
        self.name = type(model).__name__
        space = model.observation_space
        if len(space.shape or ()) != 1:
            raise ValueError(
                f"The model must take observations that are vectors, got {space}; "
                "flatten them, or pass a function `act(observation, state)`."
            )
        self.input_dim = int(space.shape[0])
        self._start = int(getattr(model.action_space, "start", 0))

    def begin(self, n: int, seed: int) -> None:
        self._state: Any = None
        self._first = np.ones(n, bool)
        if not self._deterministic:
            self._model.set_random_seed(seed)

    def act(self, seen: np.ndarray) -> np.ndarray:
        actions, self._state = self._model.predict(
            seen,
            state=self._state,
            episode_start=self._first,
            deterministic=self._deterministic,
        )
        self._first = np.zeros_like(self._first)
        return actions - self._start if self._start else actions


class _Module:
    """A torch module: observations (and a state) to logits or actions."""

    def __init__(self, module: Any, space: Box | Discrete, deterministic: bool):
        self._module, self._deterministic = module.eval(), deterministic
        self._discrete = isinstance(space, Discrete)
        self.name = type(module).__name__
        taken = inspect.signature(module.forward).parameters.values()
        n_given = sum(
            each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
            for each in taken
        )
        self._recurrent = n_given > 1

    def begin(self, n: int, seed: int) -> None:
        import torch

        self._state: Any = None
        self._noise = torch.Generator().manual_seed(seed)

    def act(self, seen: np.ndarray) -> np.ndarray:
        import torch

        with torch.no_grad():
            given = torch.as_tensor(seen)
            if self._recurrent:
                found, self._state = self._module(given, self._state)
            else:
                found = self._module(given)
            if not self._discrete:
                return found.numpy()
            if self._deterministic:
                return found.argmax(-1).numpy()
            odds = found.softmax(-1)
            return torch.multinomial(odds, 1, generator=self._noise)[:, 0].numpy()


class _Function:
    """A function `act(observation, state)`, called for one episode after the other."""

    def __init__(self, act: Any):
        self._act = act
        self.name = getattr(act, "__qualname__", type(act).__name__)

    def begin(self, n: int, seed: int) -> None:
        self._states: list[Any] = [None] * n

    def act(self, seen: np.ndarray) -> np.ndarray:
        actions = []
        for index, observation in enumerate(seen):
            found = self._act(observation, self._states[index])
            if isinstance(found, tuple):
                found, self._states[index] = found
            actions.append(np.asarray(found))
        return np.stack(actions)
