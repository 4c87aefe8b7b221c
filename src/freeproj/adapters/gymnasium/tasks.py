"""Tasks and the meta-environment as `gymnasium.Env`.

    import freeproj.gymnasium  # registers the ids
    env = gym.make("freeproj/HigherLower-v0")
    env = gym.make("freeproj/MetaEnv-v0", tasks="HigherLower", n_words=256, length=4)

The same seed gives the same game: everything is drawn from the seed given to `reset`,
except the base matrices, drawn from `bases_seed`. Continuous actions lie in [-1, 1].
"""

import copy
from typing import Any, ClassVar

import gymnasium as gym
import jax
import numpy as np
from jaxtyping import Bool

from freeproj.adapters.gymnasium import games
from freeproj.adapters.gymnasium.games import Begun, Options, Stepped
from freeproj.adapters.gymnasium.popgym import PopgymView, Seen, popgym_view
from freeproj.envs import Discrete, Environment, make
from freeproj.envs.base import plain_task
from freeproj.meta.episodes import MetaEnv
from freeproj.storage.checks import one_of

__all__ = ["MetaTaskEnv", "TaskEnv"]

# What changes while a game is played.
_CHANGING = ("_key", "_state", "_starts", "_noise", "_time", "_end")


class _GameEnv(gym.Env):
    """One game, stepped by compiled functions; what it shows is plain NumPy."""

    metadata: ClassVar = games.METADATA

    def __init__(self, game: games.Game, bases_seed: int, render_mode: str | None):
        one_of(games.RENDER_MODES, render_mode=render_mode)
        self.game, self.render_mode = game, render_mode
        self.observation_space = games.observation_space_of(game)
        self.action_space = games.action_space_of(game)
        self._params = games.params_of(game, bases_seed)
        self._key: np.ndarray | None = None
        self._state: Any = None

    def reset(self, *, seed: int | None = None, options: Options = None) -> Begun:
        self._seed(seed)
        moment = games.begin(self.game, self._key, self._params)
        if self._state is None:  # compile the step here, not in the midst of a rollout
            zeros = np.zeros(self.action_space.shape or (), self.action_space.dtype)
            action = games.to_game_action(self.game, zeros)
            games.advance(self.game, moment.key, moment.state, action, self._params)
        return self._shown(moment)

    def step(self, action: Any) -> Stepped:
        if self._state is None:
            raise RuntimeError("Call `reset` before the first `step`.")
        moved = games.to_game_action(self.game, action)
        moment = games.advance(self.game, self._key, self._state, moved, self._params)
        observation, info = self._shown(moment)
        ends = bool(moment.terminated), bool(moment.truncated)
        return observation, float(moment.reward), *ends, info

    def render(self) -> Any:
        """Return what a player may know, as text or as a picture."""
        if self.render_mode is None or self._state is None:
            return None
        return games.draw(self.game, self._state, self.render_mode)

    def action_masks(self) -> Bool[np.ndarray, " actions"]:
        """Which actions mean something now; sb3-contrib's MaskablePPO calls this."""
        space = self.action_space
        if not isinstance(space, gym.spaces.Discrete):
            raise TypeError(f"Only discrete actions can be masked, not {space}.")
        mask = None
        if isinstance(self.game, MetaEnv) and self._state is not None:
            mask = self.game.action_mask(self._state)
        return np.ones(space.n, bool) if mask is None else np.array(mask)

    def get_state(self) -> dict[str, Any]:
        """Return all that `set_state` needs to continue from here, hidden cards too."""
        kept = {name: vars(self)[name] for name in _CHANGING if name in vars(self)}
        return copy.deepcopy(kept)

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from where `get_state` was called, on this object or a copy."""
        if set(state) != {name for name in _CHANGING if name in vars(self)}:
            raise ValueError("`state` must come from `get_state` of the same kind.")
        vars(self).update(copy.deepcopy(state))

    def _seed(self, seed: int | None) -> bool:
        """Start the seed's episodes from the first; return whether it did."""
        super().reset(seed=seed)
        if seed is None and self._key is not None:
            return False
        self._key = games.key_from_seed(self.np_random_seed)
        return True

    def _shown(self, moment: games.Moment) -> tuple[np.ndarray, dict[str, Any]]:
        self._key, self._state = np.array(moment.key), moment.state
        info = {name: _plain(value) for name, value in moment.info.items()}
        return np.array(moment.observation), info


class TaskEnv(_GameEnv):
    """A task by name, or one of your own, as a Gymnasium environment.

    The package's tasks are stepped in plain Python, which for single steps is ten times
    as fast as a compiled program; starts are drawn several at a time. Others go through
    the compiled step.

    Args:
        task: a task or its name.
        render_mode: None, "ansi" or "rgb_array".
        spaces: "popgym" for POPGym's own spaces and `state_space`; `get_state` then
            returns POPGym's hidden state, which `set_state` does not take.
    """

    game: Environment

    def __init__(
        self,
        task: str | Environment,
        render_mode: str | None = None,
        spaces: str = "freeproj",
    ):
        super().__init__(make(task) if isinstance(task, str) else task, 0, render_mode)
        one_of(("freeproj", "popgym"), spaces=spaces)
        self._view: PopgymView | None = None
        if spaces == "popgym":
            self._view = view = popgym_view(self.game)
            self.observation_space = view.observation_space
            self.action_space = view.action_space or self.action_space
            self.state_space = view.state_space
            self.obs_requires_prev_action = view.needs_action
        self._plain = plain_task(self.game)
        space = self.game.action_space
        self._n_actions = space.n if isinstance(space, Discrete) else 0
        self._starts: list[tuple[np.ndarray, Any, Any]] = []
        self._noise: Any = None  # the random numbers of all steps of this trial
        self._time = 0
        self._end: Any = None  # what a step after the trial's end returns

    def reset(self, *, seed: int | None = None, options: Options = None) -> Begun:
        shown, info = self._reset(seed)
        if self._view is not None:
            shown = self._view.observe(shown)
            self._seen = Seen(shown, self._state)
        return shown, info

    def step(self, action: Any) -> Stepped:
        if self._view is None:
            return self._step(action)
        own, before = self._view.own_action(action), self._state
        shown, *outcome = self._step(own)
        shown = self._view.observe(shown)
        self._seen = Seen(shown, self._state, before, own)
        return shown, *outcome  # pyright: ignore

    def get_state(self) -> Any:
        """Return all that `set_state` needs; or POPGym's state, in POPGym's spaces."""
        if self._view is None:
            return super().get_state()
        if self._state is None:
            raise RuntimeError("Call `reset` before `get_state`.")
        return self._view.state(self._seen)

    def _reset(self, seed: int | None) -> Begun:
        if self._plain is None:
            return super().reset(seed=seed)
        if self._seed(seed):
            self._starts = []
        if not self._starts:
            self._draw_starts()
        assert self._key is not None
        self._key[-2] += 1
        self._time, self._end = 0, None
        observation, self._state, self._noise = self._starts.pop()
        return observation.copy(), {}

    def _step(self, action: Any) -> Stepped:
        if self._plain is None or self._state is None:
            return super().step(action)
        if self._end is not None:  # a trial that has ended stays as it is
            return self._end
        noise, step = self._noise and self._noise[self._time], self._plain
        stepped = step(self._state, self._own_action(action), noise)
        observation, self._state, reward, terminated, truncated = stepped
        self._time += 1
        if terminated or truncated:
            self._end = observation.copy(), 0.0, terminated, truncated, {}
        return observation, reward, terminated, truncated, {}

    def _draw_starts(self) -> None:
        drawn = games.draw_starts(self.game, self._key, self._params)
        observations, states, noise = jax.tree.map(np.asarray, drawn)
        noise = [None] * games.N_STARTS if noise is None else noise.tolist()
        for i in reversed(range(games.N_STARTS)):
            state = jax.tree.map(lambda leaf, i=i: _plain(leaf[i]), states)
            self._starts.append((observations[i], state, noise[i]))

    def _own_action(self, action: Any) -> Any:
        """Return an action as the task takes it; see `games.to_game_action`."""
        whole = isinstance(action, int | np.integer)
        if self._n_actions and whole and 0 <= action < self._n_actions:
            return int(action)
        moved = games.to_game_action(self.game, action)
        return moved.item() if self._n_actions else moved


class MetaTaskEnv(_GameEnv):
    """Episodes of trials behind a projection, as a Gymnasium environment.

    `info` has `word`, `task`, `trial`, `trial_ended` and, for discrete actions,
    `action_mask`.

    Args:
        tasks: names of tasks, or a whole `MetaEnv` (then no further settings).
        bases_seed: what the base matrices are drawn from.
        **settings: of the projection, `n_words`, `length`, `dim` and `family` (see
            `FreeProjection`); the rest are arguments of `MetaEnv`, such as `n_trials`.
    """

    game: MetaEnv

    def __init__(
        self,
        tasks: str | list[str] | MetaEnv = "StatelessCartPole",
        *,
        bases_seed: int = 0,
        render_mode: str | None = None,
        **settings: Any,
    ):
        super().__init__(games.make_meta(tasks, **settings), bases_seed, render_mode)

    def redraw_bases(self, seed: int) -> None:
        """Draw new base matrices, used from the next episode on."""
        self._params = self.game.redraw(jax.random.key(seed), self._params)


def _plain(value: Any) -> Any:
    """Return numbers as Python's own, arrays as NumPy's."""
    array = np.asarray(value)
    return array.item() if array.ndim == 0 else array
