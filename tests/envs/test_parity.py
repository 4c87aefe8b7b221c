"""Every task against the real POPGym, whole trajectories, step by step.

POPGym's own code runs unchanged: only its random generator is replaced by a `Puppet`
that deals our deck, lays our mines, gives our start and our noise, and its mazes by
ours. (Its labyrinths import mazelib, which draws the mazes; a stand-in suffices here.)
"""

import functools
import importlib
import operator
import sys
import types
import warnings
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.envs import REGISTRY, make
from players.mazes import follow_wall
from random_play import draw_actions, draw_keys, quick_jit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import gymnasium
    import popgym.envs

LEVELS = ("Easy", "Medium", "Hard")
POPGYM = [name for name, family in REGISTRY.items() if family.popgym_name]
TASKS = [(family, level) for family in POPGYM for level in LEVELS]
PHYSICS = [task for task in TASKS if "Cart" in task[0] or "Pendulum" in task[0]]
FLOAT32 = [("StatelessCartPole", level) for level in LEVELS] + [
    ("NoisyStatelessCartPole", "Easy"),
    ("VelocityOnlyCartPole", "Easy"),
    ("StatelessPendulum", "Easy"),
]
MAZES = ("LabyrinthEscape", "LabyrinthExplore")
BOARDS = ("Battleship", "Concentration", "Minesweeper", *MAZES)
GAMES = [task for task in TASKS if task not in PHYSICS and task[0] not in BOARDS]


class Puppet:
    """A random generator that hands out what it is told to."""

    def __init__(self, hidden, noise):
        self.hidden, self.noise = iter(hidden), iter(noise)

    def shuffle(self, index):
        index[:] = next(self.hidden)

    def choice(self, cells, size, replace):
        chosen = next(self.hidden)
        assert (len(chosen), replace) == (size, False)
        return chosen

    def uniform(self, low, high, size=None):
        drawn = np.array(next(self.hidden), dtype=np.float64)
        assert np.all(low <= drawn)
        assert np.all(drawn <= high)
        return drawn

    def random(self, size=None, dtype=float):
        return next(self.noise) if size is None else next(self.hidden).astype(dtype)

    def integers(self, high, size):
        return np.random.default_rng().integers(high, size=size)  # replaced afterwards

    def normal(self, mean, deviation):
        return mean + deviation * next(self.noise)


class Trajectories(NamedTuple):
    """Ours, for a batch: states, observations and noise have one entry more in time."""

    states: object
    obs: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    actions: np.ndarray
    noise: np.ndarray

    def lengths(self):
        """The number of steps up to the first flag, that one included."""
        ended = self.terminated | self.truncated
        assert ended.any(axis=1).all(), "max_steps must end every trial"
        return ended.argmax(axis=1) + 1


@pytest.mark.parametrize(("family", "level"), GAMES)
def test_parity_of_cards_and_bandits(family, level):
    env, oracle = pair(family, level)
    ours = roll(env, random_actions(env))
    theirs = play(oracle, env, ours)
    compare(ours, theirs, tolerance=0, scale=reward_scale(env))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", BOARDS)
def test_parity_of_games_that_are_played_to_their_aim(family, level):
    env, oracle = pair(family, level)
    ours = roll(env, random_actions(env, 12_000), POLICIES[family])
    compare(ours, play(oracle, env, ours), tolerance=0)
    last = np.arange(len(ours.actions)), ours.lengths() - 1
    won = ours.terminated[last] & (ours.reward[last] > 0)
    lost = ours.terminated[last] & (ours.reward[last] < 0)
    assert won.any()
    if family == "Minesweeper":
        assert lost.any()
        assert ours.truncated[last].any()


@pytest.mark.parametrize("level", LEVELS)
def test_popgym_ids_of_repeat_previous_mean_popgyms_own_task(level):
    env = make(f"popgym-RepeatPrevious{level}-v0")
    oracle = getattr(popgym.envs, f"RepeatPrevious{level}")()
    ours = roll(env, random_actions(env))
    compare(ours, play(oracle, env, ours), tolerance=0)


@pytest.mark.parametrize(("family", "level"), PHYSICS)
def test_parity_of_physics_over_whole_trajectories(family, level):
    env, oracle = pair(family, level)
    # Poles and pendulums amplify rounding; in float64 a trajectory's end still agrees.
    with jax.enable_x64(True):
        ours = roll(env, random_actions(env), dtype=jnp.float64)
    compare(ours, play(oracle, env, ours), tolerance=1e-6)


@pytest.mark.parametrize(("family", "level"), FLOAT32)
def test_parity_of_physics_step_by_step_up_to_the_limit(family, level):
    env, oracle = pair(family, level)
    policy = balance if "CartPole" in family else None
    ours = roll(env, random_actions(env, 120_000), policy)
    assert (ours.lengths() == env.max_steps).any(), "the limit must be reached"
    # In float32, each step of both sides from the same state.
    theirs = play(
        oracle, env, ours, rows=range(0, len(ours.actions), 8), same_state=True
    )
    compare(ours, theirs, tolerance=1e-5)


@pytest.mark.parametrize(("family", "level"), TASKS)
def test_parity_of_spaces_and_ids(family, level):
    env, oracle = pair(family, level)
    popgym_id = f"popgym-{REGISTRY[family].popgym_name}{level}-v0"
    assert popgym_id in REGISTRY[family].names()
    if "Labyrinth" not in family:  # registered only where mazelib is installed
        assert type(oracle).__name__ in gymnasium.spec(popgym_id).entry_point
    if isinstance(oracle.observation_space, gymnasium.spaces.Box):
        np.testing.assert_allclose(
            oracle.observation_space.low, env.observation_space.low, rtol=1e-6
        )
        np.testing.assert_allclose(
            oracle.observation_space.high, env.observation_space.high, rtol=1e-6
        )
    else:
        size = gymnasium.spaces.flatdim(oracle.observation_space)
        assert size == env.observation_space.size
    if isinstance(oracle.action_space, gymnasium.spaces.Box):
        np.testing.assert_array_equal(oracle.action_space.low, env.action_space.low)
        np.testing.assert_array_equal(oracle.action_space.high, env.action_space.high)
    else:
        theirs = getattr(oracle.action_space, "nvec", None)
        n_actions = oracle.action_space.n if theirs is None else np.prod(theirs)
        assert n_actions == env.action_space.n


def pair(family, level):
    """Our task and POPGym's. RepeatPrevious meets POPGym's k + 1: the paper's "exactly
    k steps earlier" lies one step further back than POPGym's code."""
    env = REGISTRY[family].make(level)
    if family == "RepeatPrevious":
        shipped = getattr(popgym.envs, f"RepeatPrevious{level}")()
        assert (shipped.k, shipped.deck.num_decks) == (env.delay, env.n_decks)
        return env, popgym.envs.RepeatPrevious(env.n_decks, k=env.delay + 1)
    if "Labyrinth" in family:
        home = labyrinths(family.removeprefix("Labyrinth").lower())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it advises against its own mazes
            return env, getattr(home, f"{family}{level}")()
    name = REGISTRY[family].popgym_name.replace("Cartpole", "CartPole")
    return env, getattr(popgym.envs, f"{name}{level}")()


class Maze:
    """Stands in for mazelib's: draws the maze that was planned."""

    def generate(self):
        self.grid = self.planned[0].copy()

    def generate_entrances(self, start_outer):
        self.start, self.end = self.planned[1:]


def labyrinths(kind):
    """The POPGym module of labyrinths, with our stand-in for mazelib."""
    if "popgym.core.maze" not in sys.modules:
        fake = types.ModuleType("mazelib")
        deep = types.ModuleType("mazelib.generate.HuntAndKill")
        fake.Maze, deep.HuntAndKill = Maze, lambda height, width: None
        sys.modules.update({"mazelib": fake, "mazelib.generate": fake})
        sys.modules["mazelib.generate.HuntAndKill"] = deep
        importlib.import_module("popgym.core.maze")
        for name in ("mazelib", "mazelib.generate", "mazelib.generate.HuntAndKill"):
            del sys.modules[name]
    sys.modules["popgym.core.maze"].Maze = Maze
    return importlib.import_module(f"popgym.envs.labyrinth_{kind}")


def reward_scale(env):
    """Ours over POPGym's, which divides by the number of cards minus its own k."""
    if not hasattr(env, "delay"):
        return 1.0
    return (env.n_cards - env.delay - 1) / (env.n_cards - env.delay)


def random_actions(env, n_steps=4_000):
    """Actions of several trajectories, about so many in all."""
    n_trajectories = min(200, max(8, n_steps // env.max_steps))
    return draw_actions(env, n_trajectories, env.max_steps)


def balance(state, action):
    """Pushes to where the pole leans; now and then follows `action` for a while."""
    lean = state.angle + 0.3 * state.angular_velocity
    drift = 0.05 * state.position + 0.1 * state.velocity
    push = (lean + drift > 0).astype(jnp.int32)
    return jnp.where(state.time % 64 < 12, action, push)


def mostly_safe(state, action):
    """Clicks a new safe cell; now and then `action` itself, or a cell seen before."""
    cells = len(state.mines)
    ahead = jnp.roll(~state.mines & ~state.clicked, -action)
    safe = (action + jnp.argmax(ahead)) % cells
    turn = (state.time + action) % (2 * cells)
    bold = jnp.where(turn == 0, action, safe)
    return jnp.where(turn == 1, jnp.argmax(state.clicked), bold)


def mostly_hits(state, action):
    """Shoots at a ship that is still afloat; every other time at `action`."""
    cells = len(state.ships)
    ahead = jnp.roll(state.ships & ~state.shot, -action)
    hit = (action + jnp.argmax(ahead)) % cells
    return jnp.where(state.time % 2 == 0, action, hit)


def mostly_pairs(state, action):
    """Flips a hidden card, then one of its kind; now and then `action` itself."""
    cells = len(state.kinds)
    hidden = ~state.face_up & ~state.in_play
    wanted = jnp.where(state.in_play, state.kinds, 0).sum()
    mate = hidden & ((state.kinds == wanted) | ~state.in_play.any())
    card = (action + jnp.argmax(jnp.roll(mate, -action))) % cells
    return jnp.where(state.time % 8 == 7, action, card)


def mostly_along_the_wall(state, action):
    """Keeps a hand on the right wall; now and then follows `action`."""
    return jnp.where(state.time % 32 == 31, action, follow_wall(state))


POLICIES = {
    "Battleship": mostly_hits,
    "Concentration": mostly_pairs,
    "LabyrinthEscape": mostly_along_the_wall,
    "LabyrinthExplore": mostly_along_the_wall,
    "Minesweeper": mostly_safe,
}


def roll(env, actions, policy=None, dtype=jnp.float32):
    """Plays our trials; `policy(state, action)` may change the actions given."""
    keys = draw_keys((len(actions), env.max_steps + 1))
    cast = functools.partial(jax.tree.map, functools.partial(as_float, dtype=dtype))
    params = env.default_params

    def start(key):
        return cast(env.reset(key, params))

    def advance(state, key_and_action):
        key, action = key_and_action
        action = policy(state, action) if policy else action
        obs, state, *outcome, _ = env.step(key, state, action, params)
        return state, (state, obs, *outcome, action)

    def trajectory(state, keys, actions):
        return jax.lax.scan(advance, state, (keys, actions))[1]

    obs, state = quick_jit(jax.vmap(start))(keys[:, 0])
    actions = jnp.asarray(actions)
    out = quick_jit(jax.vmap(trajectory))(state, keys[:, 1:], actions)
    states, all_obs, *outcome = jax.tree.map(np.asarray, out)
    noise = noise_of(env, keys)
    return Trajectories(
        jax.tree.map(prepend, state, states), prepend(obs, all_obs), *outcome, noise
    )


def as_float(leaf, dtype):
    return leaf.astype(dtype) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf


def prepend(first, rest):
    return np.concatenate([first[:, None], rest], axis=1)


def noise_of(env, keys):
    """The random numbers that our steps draw from their keys; POPGym's noisy tasks
    draw at a reset as well."""
    if env.draw_noise(keys[0, 0]) is None:
        return None
    if not hasattr(env, "noise"):
        keys = keys[:, 1:]
    else:
        first = jax.vmap(jax.random.split)(keys[:, 0])[:, 1]
        keys = jnp.concatenate([first[:, None], keys[:, 1:]], axis=1)
    return np.asarray(quick_jit(jax.vmap(jax.vmap(env.draw_noise)))(keys))


def play(oracle, env, ours, rows=None, same_state=False):
    """Plays POPGym with our hidden numbers and our actions, row after row.

    Returns the rows and times of what was seen, and what was seen there.
    """
    places, seen, lengths = [], [], ours.lengths()
    rows = range(len(ours.actions)) if rows is None else rows
    for row in rows:
        states = jax.tree.map(operator.itemgetter(row), ours.states)
        noise = () if ours.noise is None else ours.noise[row]
        oracle.np_random = Puppet(hidden_of(states, oracle), noise)
        seen.append((oracle.reset()[0], 0.0, False, False))
        if hasattr(states, "ships"):
            oracle.board = states.ships[0].reshape(env.side, env.side).astype(np.int8)
        for time, action in enumerate(ours.actions[row, : lengths[row]]):
            if same_state:
                oracle.state = np.array([leaf[time] for leaf in states[:-1]], float)
            if hasattr(oracle.action_space, "nvec"):  # POPGym's actions are pairs
                action = divmod(int(action), env.side)
            seen.append(oracle.step(action)[:4])
        places += [(row, time) for time in range(lengths[row] + 1)]
    obs, *outcome = zip(*seen, strict=True)
    if not isinstance(oracle.observation_space, gymnasium.spaces.Box):
        flatten = functools.partial(gymnasium.spaces.flatten, oracle.observation_space)
        obs = map(flatten, obs)
    return np.array(places).T, [np.array(list(obs)), *map(np.array, outcome)]


def hidden_of(states, oracle):
    """What POPGym draws at reset, read off our first state."""
    if hasattr(states, "cells"):
        grid = (states.cells[0] != 0).astype(np.int8)
        doors = [np.argwhere(states.cells[0] == kind) for kind in (2, 3)]
        Maze.planned = grid, *(tuple(door[0]) if len(door) else None for door in doors)
        return ()
    if hasattr(states, "dealt"):
        decks = states.dealt[0], states.queries[0]
        return [cards_of(kinds, oracle)[::-1] for kinds in decks]
    if hasattr(states, "kinds"):
        return [cards_of(states.kinds[0], oracle)]
    if hasattr(states, "deck"):
        return [states.deck[0][::-1]]  # POPGym deals from the end
    if hasattr(states, "mines"):
        return [np.flatnonzero(states.mines[0])]
    if hasattr(states, "ships"):
        return ()  # laid after the reset
    if hasattr(states, "payouts"):
        return [states.payouts[0]]
    return [np.array([leaf[0] for leaf in states[:-1]], dtype=np.float64)]


def cards_of(kinds, oracle):
    """Different cards of POPGym's that have the given kinds, in this order."""
    cards = np.empty(len(kinds), int)
    cards[np.argsort(kinds, kind="stable")] = np.argsort(
        oracle.deck_idx_type, kind="stable"
    )
    return cards


def compare(ours, theirs, tolerance, scale=1.0):
    (row, time), (obs, reward, terminated, truncated) = theirs
    np.testing.assert_allclose(ours.obs[row, time], obs, atol=tolerance, rtol=0)
    later = time > 0  # a reset has no reward and no flags
    before = row[later], time[later] - 1
    np.testing.assert_allclose(
        ours.reward[before], reward[later] * scale, rtol=1e-6, atol=tolerance / 100
    )
    np.testing.assert_array_equal(ours.terminated[before], terminated[later])
    np.testing.assert_array_equal(ours.truncated[before], truncated[later])
