"""Tasks and the meta-environment as `gymnasium.vector.VectorEnv`, all stepped at once.

    envs = gym.make_vec("freeproj.gymnasium:freeproj/HigherLower-v0", num_envs=64)

Sub-environment i under seed s plays exactly what the single environment plays under
seed s + i. All three autoreset modes of Gymnasium are there: NEXT_STEP (its default),
SAME_STEP (the last observation in `info["final_obs"]`) and DISABLED (reset by
`options={"reset_mask": mask}`).
"""

import operator
from typing import Any

import gymnasium as gym
import jax
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool

from freeproj.adapters.gymnasium import games
from freeproj.adapters.gymnasium.games import Begun, Options, Seeds, Stepped
from freeproj.envs import Environment, make
from freeproj.meta.episodes import MetaEnv, choose
from freeproj.storage.checks import at_least, one_of

__all__ = ["MetaTaskVectorEnv", "TaskVectorEnv"]


class _GameVectorEnv(gym.vector.VectorEnv):
    def __init__(
        self,
        game: games.Game,
        bases_seed: int,
        num_envs: int,
        autoreset_mode: AutoresetMode | str,
        render_mode: str | None,
    ):
        at_least(1, num_envs=num_envs)
        one_of(games.RENDER_MODES, render_mode=render_mode)
        self.game, self.num_envs = game, num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.render_mode = render_mode
        self.metadata = games.METADATA | {"autoreset_mode": self.autoreset_mode}
        observed, acted = games.observation_space_of(game), games.action_space_of(game)
        self.single_observation_space, self.single_action_space = observed, acted
        self.observation_space = batch_space(observed, num_envs)
        self.action_space = batch_space(acted, num_envs)
        self._params = games.params_of(game, bases_seed)
        self._keys: Any = None
        self._moment: Any = None
        self._over = np.zeros(num_envs, bool)

    def reset(self, *, seed: Seeds = None, options: Options = None) -> Begun:
        """Begin everywhere, or where `options["reset_mask"]` says so."""
        mask = self._checked_mask((options or {}).get("reset_mask"))
        self._seed_keys(seed, mask)
        fresh = _begin_all(self.game, self._keys, self._params)
        if self._moment is None:
            self._compile(fresh)
        chosen = fresh if mask.all() else _choose(mask, fresh, self._moment)
        self._keep(chosen)
        self._over = self._over & ~mask
        return np.array(chosen.observation), self._info(mask)

    def step(self, actions: Any) -> Stepped:
        """Step everywhere; the autoreset mode decides what happens after an end."""
        if self._moment is None:
            raise RuntimeError("Call `reset` before the first `step`.")
        if self._over.any() and self.autoreset_mode == AutoresetMode.DISABLED:
            ended = np.flatnonzero(self._over).tolist()
            raise ValueError(
                f"Environments {ended} have ended and autoreset is off: call "
                "`reset(options={'reset_mask': mask})` first."
            )
        moved = games.to_game_action(self.game, actions, (self.num_envs,))
        state = self._moment.state
        stepped = _advance_all(self.game, self._keys, state, moved, self._params)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP and self._over.any():
            fresh = _begin_all(self.game, self._keys, self._params)
            stepped = _choose(self._over, fresh, stepped)
        self._keep(stepped)
        ends = np.array(stepped.terminated), np.array(stepped.truncated)
        self._over, final = ends[0] | ends[1], {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._over.any():
            final = self._restart_ended(stepped)
        info = self._info(np.ones(self.num_envs, bool)) | final
        reward = np.array(stepped.reward, np.float64)
        return np.array(self._moment.observation), reward, *ends, info

    def render(self) -> tuple[Any, ...] | None:
        """Return one text or picture per sub-environment."""
        if self.render_mode is None or self._moment is None:
            return None
        state, each = self._moment.state, range(self.num_envs)
        states = (jax.tree.map(operator.itemgetter(i), state) for i in each)
        return tuple(games.draw(self.game, one, self.render_mode) for one in states)

    def _compile(self, begun: games.Moment) -> None:
        """Compile step and autoreset at the first reset, not within a rollout."""
        zeros = np.zeros(self.action_space.shape or (), self.action_space.dtype)
        actions = games.to_game_action(self.game, zeros, (self.num_envs,))
        keys = np.asarray(begun.key)
        stepped = _advance_all(self.game, keys, begun.state, actions, self._params)
        _choose(np.zeros(self.num_envs, bool), begun, stepped)

    def _restart_ended(self, stepped: games.Moment) -> dict[str, Any]:
        """Begin again where a game has ended; return the end of the old one."""
        over, shown = self._over, np.array(stepped.observation)
        last = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(over):
            last[index] = shown[index]
        final = {"final_obs": last, "final_info": self._info(over)}
        fresh = _begin_all(self.game, self._keys, self._params)
        self._keep(_choose(over, fresh, stepped))
        return final | {f"_{name}": over.copy() for name in final}

    def _seed_keys(self, seed: Seeds, mask: Bool[np.ndarray, " envs"]) -> None:
        """Start the chains of keys anew, where they are reset and a seed is given."""
        n = self.num_envs
        if seed is None and self._keys is not None:
            return
        if seed is None or isinstance(seed, int | np.integer):
            super().reset(seed=None if seed is None else int(seed))
            first = int(self.np_random_seed or 0)
            seed = [first + index for index in range(n)]
        if len(seed) != n:
            raise ValueError(f"`seed` must be one number or {n} of them, got {seed}.")
        spare = self.np_random.integers(2**32, size=n).tolist()
        seeds = [s if r is None else r for s, r in zip(spare, seed, strict=True)]
        keys = np.stack([games.key_from_seed(each) for each in seeds])
        given = np.array([each is not None for each in seed]) & mask
        before = keys if self._keys is None else self._keys
        self._keys = np.where(given[:, None], keys, before)

    def _checked_mask(self, mask: Any) -> Bool[np.ndarray, " envs"]:
        if mask is None:
            return np.ones(self.num_envs, bool)
        mask = np.asarray(mask)
        enough = mask.any() if self._moment is not None else mask.all()
        if mask.shape != (self.num_envs,) or mask.dtype != bool or not enough:
            raise ValueError(
                f"`options['reset_mask']` must be {self.num_envs} booleans, at least "
                f"one of them True (at the first reset all), got {mask!r}."
            )
        return mask

    def _keep(self, moment: games.Moment) -> None:
        self._keys, self._moment = np.asarray(moment.key), moment

    def _info(self, told: Bool[np.ndarray, " envs"]) -> dict[str, Any]:
        """Return the batched info, each entry with the mask that Gymnasium expects."""
        info = {name: np.array(value) for name, value in self._moment.info.items()}
        return info | {f"_{name}": told.copy() for name in info}


class TaskVectorEnv(_GameVectorEnv):
    """Many copies of a task, as a Gymnasium vector environment."""

    def __init__(
        self,
        task: str | Environment,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ):
        game = make(task) if isinstance(task, str) else task
        super().__init__(game, 0, num_envs, autoreset_mode, render_mode)


class MetaTaskVectorEnv(_GameVectorEnv):
    """Many episodes of trials, as a Gymnasium vector environment: see `MetaTaskEnv`."""

    game: MetaEnv

    def __init__(
        self,
        tasks: str | list[str] | MetaEnv = "StatelessCartPole",
        num_envs: int = 1,
        *,
        bases_seed: int = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **settings: Any,
    ):
        game = games.make_meta(tasks, **settings)
        super().__init__(game, bases_seed, num_envs, autoreset_mode, render_mode)

    def redraw_bases(self, seed: int) -> None:
        """Draw new base matrices, used from the next episodes on."""
        self._params = self.game.redraw(jax.random.key(seed), self._params)


_begin_all = jax.jit(jax.vmap(games.begin, in_axes=(None, 0, None)))
_advance_all = jax.jit(jax.vmap(games.advance, in_axes=(None, 0, 0, 0, None)))
_choose = jax.jit(choose)  # environment by environment
