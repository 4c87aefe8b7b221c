"""Policies of any origin as players of many episodes at once.

A player sees each observation through the episode's matrix, of the size that the policy
was trained on. Its memory begins empty with an episode and is kept over its trials.
"""

import functools
import importlib
import inspect
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from freeproj.adapters.certify.arenas import Arena, space_of
from freeproj.envs import Discrete
from freeproj.projection.frames import PlainFrame
from freeproj.projection.maps import tile

__all__ = ["ALGORITHMS", "Projected", "as_player", "load_model"]

_SB3 = ("A2C", "DDPG", "DQN", "PPO", "SAC", "TD3")
_CONTRIB = ("ARS", "CrossQ", "QRDQN", "RecurrentPPO", "TQC", "TRPO")
ALGORITHMS: dict[str, str] = dict.fromkeys(_SB3, "stable_baselines3")
ALGORITHMS |= dict.fromkeys(_CONTRIB, "sb3_contrib")

# Takes what is seen and the state, None at the start; returns actions and next state.
_Ask = Callable[[np.ndarray, Any], tuple[Any, Any]]


def as_player(
    policy: Any,
    arena: Arena,
    env: Any,
    *,
    dim: int,
    scale: float,
    frame: int,
    deterministic: bool,
) -> Any:
    """Return a policy as a player; `certify` says what the arguments are."""
    if callable(getattr(policy, "player", None)):  # an agent of this package
        if dim or frame or scale != 1:
            raise ValueError(
                "`dim`, `scale` and `frame` are for policies trained elsewhere; an "
                "agent of this package sees what it saw in training."
            )
        return policy.player(env)
    name, act = type(policy).__name__, getattr(policy, "act", policy)
    homes = [each.__module__ for each in type(policy).__mro__]
    if hasattr(policy, "predict") and hasattr(policy, "observation_space"):
        n_taken = _checked_size(policy, arena)
        start = functools.partial(_ask_model, policy, deterministic)
        dim = dim or (0 if frame else n_taken)
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
    return Projected(name, start, dim or arena.obs_dim, scale, frame)


class Projected:
    """A policy of others behind a projection and, if asked for, a frame.

    Agents of this package bring a player with the same attributes and methods.
    """

    n_trials = 0  # of an episode in training; 0: not known
    same_start = False  # every trial of an episode started from the same state
    has_words = False  # can be played under the projections of its training

    def __init__(
        self, name: str, start: Callable[[int], _Ask], dim: int, scale: float, k: int
    ):
        # Projections are rows of square matrices, here of the size of what is seen.
        self.name, self.input_dim, self.dim, self.scale = name, dim, dim, scale
        self._start, self._size = start, k

    def plain(self, obs_dim: int) -> Float[np.ndarray, "d_in d_obs"]:
        """Return the matrix through which the observation itself is seen."""
        return np.float32(self.scale) * tile(self.input_dim, obs_dim)

    def begin(self, n_episodes: int, matrices: Any, seed: int) -> None:
        """Begin an episode under each matrix; None: under those of the training."""
        self._matrices = np.asarray(matrices, np.float32)
        if self._size:
            self._frame = PlainFrame(self._size, self.input_dim, batch=(n_episodes,))
        self._ask, self._state = self._start(seed), None

    def act(self, observations: Any, rewards: Any, ended: Any) -> np.ndarray:
        """Return actions; `rewards` and `ended` (a trial) are of the actions before."""
        seen = np.einsum("nij,nj->ni", self._matrices, observations)
        if self._size:
            seen = self._frame.see(seen)
        actions, self._state = self._ask(seen.astype(np.float32), self._state)
        return np.asarray(actions)


def _checked_size(model: Any, arena: Arena) -> int:
    """Return how many numbers a model takes; refuse one of other actions."""
    theirs = space_of(model.action_space)
    if theirs != arena.action_space:
        raise ValueError(
            f"The model's actions, {theirs}, are not those of {arena.name}, "
            f"{arena.action_space}; name the environment that it was trained on."
        )
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
        actions, state = model.predict(seen, state, begins, deterministic)
        return actions - first_action, state

    return ask


def _ask_module(module: Any, arena: Arena, sampled: bool, seed: int) -> _Ask:
    """Ask a torch module: observations (and a state) to logits or actions."""
    import torch

    noise = torch.Generator().manual_seed(seed)
    taken = inspect.signature(module.forward).parameters.values()
    with_state = sum(each.kind <= each.POSITIONAL_OR_KEYWORD for each in taken) > 1

    def ask(seen: np.ndarray, state: Any) -> tuple[np.ndarray, Any]:
        with torch.no_grad():
            x = torch.as_tensor(seen)
            found, state = module(x, state) if with_state else (module(x), None)
            if sampled:
                odds = found.softmax(-1)
                found = torch.multinomial(odds, 1, generator=noise)[:, 0]
            elif isinstance(arena.action_space, Discrete):
                found = found.argmax(-1)
            return found.numpy(), state

    return ask


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


def load_model(path: str | Path) -> Any:
    """Load a model of Stable-Baselines3 or sb3-contrib; the file tells the algorithm.

    It holds pickled objects, so that loading it may run code: load what you trust.
    """
    name = _algorithm(_settings(Path(path)))
    home = importlib.import_module(ALGORITHMS[name])
    return getattr(home, name).load(path, device="cpu")


def _algorithm(settings: Mapping[str, Any]) -> str:
    """Return the algorithm of a model: its policy's module tells, or its settings."""
    policy = settings.get("policy_class")
    module = str(policy.get("__module__", "")) if isinstance(policy, dict) else ""
    folder = module.split(".")
    by_folder = {name.lower(): name for name in ALGORITHMS}
    if "recurrent" in folder:
        return "RecurrentPPO"
    if len(folder) > 1 and folder[1] in by_folder and folder[1] not in ("ppo", "a2c"):
        return by_folder[folder[1]]
    if "cg_max_steps" in settings:
        return "TRPO"
    return "PPO" if "clip_range" in settings else "A2C"


def _settings(path: Path) -> dict[str, Any]:
    """Read the settings of a model's file; nothing in it is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            return dict(json.loads(archive.read("data")))
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file.") from None
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        text = f"{path} is not a model of Stable-Baselines3, as `model.save` writes it."
        raise ValueError(text) from error
