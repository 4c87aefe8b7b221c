"""Policies of any origin as players of many episodes at once.

A player sees each observation through the episode's matrix, of the size that the policy
was trained on. Its memory begins empty with an episode and is kept over its trials.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from jaxtyping import Bool, Float

from freeproj.adapters.certify.arenas import Arena
from freeproj.envs import Discrete
from freeproj.projection.frames import PlainFrame
from freeproj.projection.maps import identity, tile

__all__ = ["Habits", "Player", "as_player"]

_Matrices = Float[np.ndarray, "episodes d_in d_obs"]
# Takes what is seen and the state, None at the start; returns actions and next state.
_Ask = Callable[[np.ndarray, Any], tuple[Any, Any]]


class Habits(NamedTuple):
    """How an agent was trained, as far as it matters for playing."""

    dim: int = 0  # of the matrices that projections are rows of; 0: `input_dim`
    scale: float = 1.0
    n_trials: int = 0  # 0: not known
    same_start: bool = False  # every trial of an episode starts from the same state
    has_words: bool = False  # can be played under the projections of its training


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
        """Return an action for each episode, told what the last ones earned and ended.

        Whether an action ended a trial is told with its reward.
        """
        ...


def as_player(
    policy: Any,
    arena: Arena,
    *,
    env: Any,
    dim: int,
    scale: float,
    frame: int,
    deterministic: bool,
) -> Player:
    """Return a policy as a player; `certify` says what the arguments are."""
    if callable(getattr(policy, "player", None)):  # an agent of this package
        return policy.player(env)
    name, act = type(policy).__name__, getattr(policy, "act", policy)
    homes = [each.__module__ for each in type(policy).__mro__]
    if callable(getattr(policy, "predict", None)) and hasattr(
        policy, "observation_space"
    ):
        start = functools.partial(_ask_model, policy, deterministic)
        dim = dim or (0 if frame else _input_dim(policy))
    elif any(home.startswith("torch.nn") for home in homes):
        sampled = isinstance(arena.action_space, Discrete) and not deterministic
        start = functools.partial(_ask_module, policy.eval(), arena, sampled)
    elif callable(act):
        name = getattr(act, "__qualname__", type(act).__name__)
        start = functools.partial(_ask_function, act)
    else:
        raise TypeError(
            "`policy` must be an agent from `load_agent`, a Stable-Baselines3 model, a "
            f"torch module, or a function `act(observation, state)`, got {name}."
        )
    return _Projected(name, start, dim or arena.obs_dim, scale, frame)


class _Projected(Player):
    """A policy of others behind a projection and, if asked for, a frame."""

    def __init__(
        self,
        name: str,
        start: Callable[[int], _Ask],
        input_dim: int,
        scale: float,
        frame: int,
    ):
        self.name, self.input_dim, self.habits = name, input_dim, Habits(scale=scale)
        self._start, self._size = start, frame

    def plain(self, obs_dim: int) -> Float[np.ndarray, "d_in d_obs"]:
        # Copies of the identity where there is room.
        matrix = identity if obs_dim == self.input_dim else tile
        return np.float32(self.habits.scale) * matrix(self.input_dim, obs_dim)

    def begin(self, n_episodes: int, matrices: _Matrices | None, seed: int) -> None:
        assert matrices is not None  # nobody knows its training's
        self._matrices = np.asarray(matrices, np.float32)
        if self._size:
            self._frame = PlainFrame(self._size, self.input_dim, batch=(n_episodes,))
        self._ask, self._state = self._start(seed), None

    def act(self, observations, rewards, ended) -> np.ndarray:
        seen = np.einsum("nij,nj->ni", self._matrices, observations)
        if self._size:
            seen = self._frame.see(seen)
        actions, self._state = self._ask(seen.astype(np.float32), self._state)
        return np.asarray(actions)


def _input_dim(model: Any) -> int:
    """Return how many numbers a model takes."""
    space = model.observation_space
    if len(space.shape or ()) != 1:
        raise ValueError(
            f"The model must take observations that are vectors, got {space}; flatten "
            "them, or pass a function `act(observation, state)`."
        )
    return int(space.shape[0])


def _ask_model(model: Any, deterministic: bool, seed: int) -> _Ask:
    """Ask Stable-Baselines3 or sb3-contrib, recurrent or not."""
    if not deterministic:
        model.set_random_seed(seed)
    first_action = int(getattr(model.action_space, "start", 0))

    def ask(seen: np.ndarray, state: Any) -> tuple[np.ndarray, Any]:
        begins = np.full(len(seen), state is None)
        actions, state = model.predict(
            seen, state=state, episode_start=begins, deterministic=deterministic
        )
        return actions - first_action, state

    return ask


def _ask_module(module: Any, arena: Arena, sampled: bool, seed: int) -> _Ask:
    """Ask a torch module: observations (and a state) to logits or actions."""
    import torch

    noise = torch.Generator().manual_seed(seed)
    taken = inspect.signature(module.forward).parameters.values()
    given = [each for each in taken if each.kind in _BY_PLACE]

    def ask(seen: np.ndarray, state: Any) -> tuple[np.ndarray, Any]:
        with torch.no_grad():
            x = torch.as_tensor(seen)
            found, state = module(x, state) if len(given) > 1 else (module(x), None)
            if sampled:
                odds = found.softmax(-1)
                found = torch.multinomial(odds, 1, generator=noise)[:, 0]
            elif isinstance(arena.action_space, Discrete):
                found = found.argmax(-1)
            return found.numpy(), state

    return ask


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _ask_function(act: Any, seed: int) -> _Ask:
    """Ask a function `act(observation, state)`, for one episode after the other."""

    def ask(seen: np.ndarray, states: Any) -> tuple[np.ndarray, Any]:
        states, actions = states or [None] * len(seen), []
        for index, observation in enumerate(seen):
            found = act(observation, states[index])
            if isinstance(found, tuple):
                found, states[index] = found
            actions.append(np.asarray(found))
        return np.stack(actions), states

    return ask
