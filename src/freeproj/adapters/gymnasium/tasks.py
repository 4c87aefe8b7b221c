"""Tasks and the meta-environment as `gymnasium.Env`.

    env = gym.make("freeproj/HigherLower-v0")
    env = gym.make("freeproj/MetaEnv-v0", tasks="HigherLower", n_words=256, length=4)

Same seed, same game: everything drawn comes from the seed given to `reset`, the base
matrices from `bases_seed`. Continuous actions lie in [-1, 1].
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import jax
import numpy as np

from freeproj.adapters.gymnasium import games
from freeproj.envs import Environment, make
from freeproj.metaenv import MetaEnv

__all__ = ["MetaTaskEnv", "TaskEnv"]


class _GameEnv(gym.Env):
    """One game, stepped by compiled functions; what it shows is plain NumPy."""

    metadata: ClassVar = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(self, game: games.Game, bases_seed: int, render_mode: str | None):
        if render_mode not in (None, "ansi"):
            raise ValueError(
                f"`render_mode` must be None or 'ansi', got {render_mode!r}."
            )
        self.game = game
        self.render_mode = render_mode
        self.observation_space = games.observation_space_of(game)
        self.action_space = games.action_space_of(game)
        self._params = games.params_of(game, bases_seed)
        self._key: np.ndarray | None = None
        self._state: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None or self._key is None:
            self._key = games.key_from_seed(self.np_random_seed)
        moment = games.begin(self.game, self._key, self._params)
        return self._shown(moment)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self._state is None:
            raise RuntimeError("Call `reset` before the first `step`.")
        moved = games.to_game_action(self.game, action)
        moment = games.advance(self.game, self._key, self._state, moved, self._params)
        observation, info = self._shown(moment)
        ends = bool(moment.terminated), bool(moment.truncated)
        return observation, float(moment.reward), *ends, info

    def _shown(self, moment: games.Moment) -> tuple[np.ndarray, dict[str, Any]]:
        self._key, self._state = np.asarray(moment.key), moment.state
        info = {name: _plain(value) for name, value in moment.info.items()}
        return np.array(moment.observation), info


class TaskEnv(_GameEnv):
    """A task by name, or one of your own, as a Gymnasium environment."""

    game: Environment

    def __init__(self, task: str | Environment, render_mode: str | None = None):
        super().__init__(make(task) if isinstance(task, str) else task, 0, render_mode)

    def render(self) -> str | None:
        """Returns what a player may know, as text."""
        if self.render_mode is None or self._state is None:
            return None
        return self.game.render(self._state)


class MetaTaskEnv(_GameEnv):
    """Episodes of trials behind a projection, as a Gymnasium environment.

    `info` tells `word`, `task`, `trial`, `trial_ended` and, for discrete actions,
    `action_mask`.

    Args:
        tasks: names of tasks, or a whole `MetaEnv` (then no further settings).
        n_words: of the projection, as are `length`, `dim`; see `FreeProjection`.
        bases_seed: what the base matrices are drawn from.
        **settings: further arguments of `MetaEnv`, such as `n_trials`.
    """

    game: MetaEnv

    def __init__(
        self,
        tasks: str | list[str] | MetaEnv = "StatelessCartPole",
        n_words: int = 256,
        length: int = 4,
        dim: int = 128,
        bases_seed: int = 0,
        render_mode: str | None = None,
        **settings: Any,
    ):
        game = games.make_meta(tasks, n_words, length, dim, **settings)
        super().__init__(game, bases_seed, render_mode)

    def redraw_bases(self, seed: int) -> None:
        """Draws new base matrices; they show from the next episode on."""
        self._params = self.game.redraw(jax.random.key(seed), self._params)

    def render(self) -> str | None:
        """Returns the trial's number and the task as a player knows it, as text."""
        if self.render_mode is None or self._state is None:
            return None
        task = int(self._state.task)
        drawn = self.game.tasks[task].render(self._state.current[task])
        return f"trial {int(self._state.trial) + 1} of {self.game.n_trials}\n{drawn}"


def _plain(value: Any) -> Any:
    """Returns numbers as Python's own, arrays as NumPy's."""
    array = np.asarray(value)
    return array.item() if array.ndim == 0 else array
