"""Tasks and the meta-environment behind one interface, in Gymnasium's terms.

A game is a task or a `MetaEnv`. Both begin and advance by the same two functions here,
compiled once. Their randomness is a plain array, which can be copied and pickled: the
words of the seed's key, the number of the episode and the number of the step. So
episode k of a seed is the same whatever was played before. Nothing restarts by itself.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray, PyTree, UInt32

from freeproj.adapters.flatten import farthest, with_room
from freeproj.adapters.numpy_core import keeps_norms
from freeproj.envs import Box, Discrete, Environment
from freeproj.meta.episodes import MetaEnv
from freeproj.projection.projection import FreeProjection

__all__ = ["METADATA", "N_STARTS", "RENDER_MODES", "Begun", "Game", "Moment", "Options"]
__all__ += ["Seeds", "Stepped", "action_space_of", "advance", "begin", "draw"]
__all__ += ["draw_starts", "key_from_seed", "make_meta", "observation_space_of"]
__all__ += ["params_of", "to_game_action"]

Game = Environment | MetaEnv

# What Gymnasium's `reset` takes and returns, single and vectorized, and `step` returns.
Options = dict[str, Any] | None
Seeds = int | Sequence[int | None] | None
Begun = tuple[Any, dict[str, Any]]
Stepped = tuple[Any, Any, Any, Any, dict[str, Any]]

METADATA = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
RENDER_MODES = (None, "ansi", "rgb_array")
N_STARTS = 16  # episodes drawn at a time: a draw costs as much as a hundred steps

_Key = UInt32[Array | np.ndarray, " words"]


class Moment(NamedTuple):
    """What a game shows at one time: the next key, the observation, the state, …"""

    key: _Key
    observation: Array
    state: PyTree
    reward: Array
    terminated: Array
    truncated: Array
    info: dict[str, Any]


def key_from_seed(seed: int | None) -> UInt32[np.ndarray, " words"]:
    """Return a key as a plain array; seeds beyond 32 bits are folded."""
    if seed is None or seed < 0:
        raise ValueError(f"`seed` must be an integer of at least 0, got {seed}.")
    words = jax.random.key_data(jax.random.key(np.uint32(seed % 2**32)))
    return np.concatenate([np.asarray(words), np.zeros(2, np.uint32)])


@jax.jit
def begin(game: Game, key: _Key, params: PyTree) -> Moment:
    """Start a trial of a task, or an episode of a meta-environment."""
    key = jnp.asarray(key).at[-2].add(1).at[-1].set(0)
    observation, state = game.reset(_episode_keys(key)[0], params)
    still, info = jnp.zeros((), bool), _info(game, state, None)
    reward = jnp.zeros((), jnp.float32)
    return Moment(key, observation, state, reward, still, still, info)


@jax.jit
def advance(
    game: Game, key: _Key, state: PyTree, action: Array | np.ndarray, params: PyTree
) -> Moment:
    """Make one step."""
    key = jnp.asarray(key)
    key_step = jax.random.fold_in(_episode_keys(key)[1], key[-1])
    step = game.advance if isinstance(game, MetaEnv) else game.step
    stepped = step(key_step, state, jnp.asarray(action), params)
    shown, state, reward, terminated, truncated, told = stepped
    key, info = key.at[-1].add(1), _info(game, state, told)
    return Moment(key, shown, state, reward, terminated, truncated, info)


@jax.jit
def draw_starts(
    task: Environment, key: _Key, params: PyTree
) -> tuple[Array, PyTree, Array | None]:
    """Draw the next episodes of a task: observations, states, and all steps' noise."""

    def draw(ahead: Array) -> tuple[Array, PyTree, Array | None]:
        moment = begin(task, jnp.asarray(key).at[-2].add(ahead), params)
        key_steps = _episode_keys(moment.key)[1]
        times = jnp.arange(task.max_steps, dtype=jnp.uint32)
        keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key_steps, times)
        return moment.observation, moment.state, jax.vmap(task.draw_noise)(keys)

    return jax.vmap(draw)(jnp.arange(N_STARTS, dtype=jnp.uint32))


def _episode_keys(key: _Key) -> tuple[PRNGKeyArray, PRNGKeyArray]:
    """Return the keys of an episode's reset and of its steps."""
    words = jax.random.wrap_key_data(jnp.asarray(key[:-2]))
    key_reset, key_steps = jax.random.split(jax.random.fold_in(words, key[-2]))
    return key_reset, key_steps


def params_of(game: Game, bases_seed: int) -> PyTree:
    """Return the game's numbers, with base matrices drawn from the seed."""
    if isinstance(game, MetaEnv):
        return game.draw_params(jax.random.key(bases_seed))
    return game.default_params


def make_meta(
    tasks: str | list[str] | MetaEnv,
    *,
    n_words: int = 256,
    length: int = 4,
    dim: int = 128,
    family: str = "haar",
    **settings,
) -> MetaEnv:
    """Return the meta-environment of plain settings; others are passed to `MetaEnv`."""
    if isinstance(tasks, MetaEnv):
        return tasks
    projection = FreeProjection.with_words(n_words, length, dim=dim, family=family)
    return MetaEnv(tasks, projection, **settings)


def action_space_of(game: Game) -> gym.spaces.Box | gym.spaces.Discrete:
    """Return the action space; continuous ones become [-1, 1], as Gymnasium advises."""
    space = game.action_space
    if isinstance(space, Discrete):
        return gym.spaces.Discrete(space.n)
    return gym.spaces.Box(-1.0, 1.0, (space.size,), np.float32)


def to_game_action(game: Game, actions: Any, batch: tuple[int, ...] = ()) -> np.ndarray:
    """Return actions as the game takes them: [-1, 1] is stretched to its bounds.

    `batch` is () for one action and (n,) for n of them. Integers out of range are
    refused, since JAX would clamp them silently; continuous actions are clipped.
    """
    space, array = game.action_space, np.asarray(actions)
    if isinstance(space, Discrete):
        whole = array.dtype.kind in "iu" and array.shape == batch
        if not whole or not ((array >= 0) & (array < space.n)).all():
            rule = f"integers in 0..{space.n - 1}, of shape {batch}"
            raise ValueError(f"Actions must be {rule}, got {actions!r}.")
        return array.astype(np.int32)
    if array.shape != (*batch, space.size) or not np.isfinite(array).all():
        rule = f"finite, of shape {(*batch, space.size)}"
        raise ValueError(f"Actions must be {rule}, got {actions!r}.")
    low, high = _bounds(space)
    # Interpolated so that both bounds are reached exactly.
    share = (np.minimum(np.maximum(array.astype(np.float32), -1), 1) + 1) / 2
    return low * (1 - share) + high * share


@functools.cache
def _bounds(space: Box) -> tuple[np.ndarray, np.ndarray]:
    return np.array(space.low, np.float32), np.array(space.high, np.float32)


def observation_space_of(game: Game) -> gym.spaces.Box:
    """Return the bounds of observations, as tight as they are known beforehand."""
    if not isinstance(game, MetaEnv):
        low, high = _bounds(game.observation_space)
        return gym.spaces.Box(low, high)
    low = np.zeros(game.input_size, np.float32)
    high = np.ones_like(low)
    reach = _projected_reach(game)
    parts: dict[str, tuple[Any, Any]] = {"observation": (-reach, reach)}
    if isinstance(game.action_space, Box):
        parts["previous_action"] = game.action_space.low, game.action_space.high
    if game.previous_reward:
        parts["previous_reward"] = -np.inf, np.inf
    for name, bounds in parts.items():
        low[game.layout[name]], high[game.layout[name]] = bounds
    return gym.spaces.Box(low, high)


def _projected_reach(meta: MetaEnv) -> float:
    """Return a bound on every entry that is seen, for all words and base matrices.

    |(σ U ξ)_i| ≤ |σ U ξ| = σ |ξ| for orthogonal U; other matrices have no such bound. A
    frame's coordinates do not exceed the norm either.
    """
    scale = meta.projection.scale
    if meta.evaluation_map is not None:
        maps = np.asarray(meta.map_matrices(meta.evaluation_map))[0]
        scale = max(float(np.linalg.norm(each, 2)) for each in maps)
    elif not keeps_norms(meta.projection):
        return np.inf
    norms = []
    for task in meta.tasks:
        unit = task.observation_scale if meta.normalize_observations else 1.0
        norms.append(np.linalg.norm(farthest(task.observation_space) / np.array(unit)))
    return with_room(scale * max(norms))


def _info(game: Game, state: PyTree, told: dict[str, Any] | None) -> dict[str, Array]:
    """Return the info of a meta-environment: word, task, trial, mask."""
    if not isinstance(game, MetaEnv):
        return {}
    info = {"word": game.letters(state), "task": state.task, "trial": state.trial}
    info["trial_ended"] = jnp.zeros((), bool) if told is None else told["trial_ended"]
    mask = game.action_mask(state)
    return info if mask is None else info | {"action_mask": mask}


def draw(game: Game, state: Any, render_mode: str) -> str | np.ndarray:
    """Draw a state as text or as an RGB picture, with the trial of an episode."""
    caption = ""
    if isinstance(game, MetaEnv):
        task = int(state.task)
        caption = f"trial {int(state.trial) + 1} of {game.n_trials}"
        game, state = game.tasks[task], state.current[task]
    if render_mode == "rgb_array":
        from freeproj.envs.drawing import draw_picture

        return draw_picture(game, state, caption)
    return f"{caption}\n{game.render(state)}".lstrip("\n")
