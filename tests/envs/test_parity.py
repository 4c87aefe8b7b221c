"""Every task against the real POPGym, whole trajectories, step by step.

POPGym's own code runs unchanged: only its random generator is replaced by a `Puppet`
that deals our deck, lays our mines, gives our start and our noise.
"""

import functools
import operator
import warnings
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.envs import REGISTRY
from random_play import draw_actions, draw_keys, quick_jit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import gymnasium
    import popgym.envs

N_TRAJECTORIES = 200
LEVELS = ("Easy", "Medium", "Hard")
TASKS = [(family, level) for family in REGISTRY for level in LEVELS]
PHYSICS = [task for task in TASKS if "Cart" in task[0] or "Pendulum" in task[0]]
FLOAT32 = [("StatelessCartPole", level) for level in LEVELS] + [
    ("NoisyStatelessCartPole", "Easy"),
    ("StatelessPendulum", "Easy"),
]
GAMES = [task for task in TASKS if task not in PHYSICS]


class Puppet:
    """A random generator that hands out what it is told to."""

    def __init__(self, hidden, noise):
        self.hidden, self.noise = hidden, iter(noise)

    def shuffle(self, index):
        index[:] = self.hidden

    def choice(self, cells, size, replace):
        assert (len(self.hidden), replace) == (size, False)
        return self.hidden

    def uniform(self, low, high, size=None):
        assert np.all(low <= self.hidden)
        assert np.all(self.hidden <= high)
        return np.array(self.hidden, dtype=np.float64)

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
def test_parity_of_cards_and_boards(family, level):
    env, oracle = pair(family, level)
    ours = roll(env, random_actions(env))
    theirs = play(oracle, env, ours)
    compare(ours, theirs, tolerance=0, scale=reward_scale(env))


@pytest.mark.parametrize("level", LEVELS)
def test_parity_of_minesweeper_in_all_its_endings(level):
    env, oracle = pair("Minesweeper", level)
    ours = roll(env, random_actions(env), mostly_safe)
    compare(ours, play(oracle, env, ours), tolerance=0)
    last = np.arange(N_TRAJECTORIES), ours.lengths() - 1
    won = ours.terminated[last] & (ours.reward[last] > 0)
    lost = ours.terminated[last] & (ours.reward[last] < 0)
    assert won.any()
    assert lost.any()
    assert ours.truncated[last].any()


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
    ours = roll(env, random_actions(env), policy)
    assert (ours.lengths() == env.max_steps).any(), "the limit must be reached"
    # In float32, each step of both sides from the same state.
    theirs = play(oracle, env, ours, rows=range(0, 200, 8), same_state=True)
    compare(ours, theirs, tolerance=1e-5)


@pytest.mark.parametrize(("family", "level"), TASKS)
def test_parity_of_spaces_and_ids(family, level):
    env, oracle = pair(family, level)
    spec = gymnasium.spec(f"popgym-{REGISTRY[family].popgym_name}{level}-v0")
    assert spec.id in REGISTRY[family].names()
    if isinstance(oracle.observation_space, gymnasium.spaces.Box):
        np.testing.assert_allclose(
            oracle.observation_space.low, env.observation_space.low, rtol=1e-6
        )
        np.testing.assert_allclose(
            oracle.observation_space.high, env.observation_space.high, rtol=1e-6
        )
    else:
        assert oracle.observation_space.n == env.observation_space.size
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
    name = f"{REGISTRY[family].popgym_name}{level}"
    return env, getattr(popgym.envs, name)()


def reward_scale(env):
    """Ours over POPGym's, which divides by the number of cards minus its own k."""
    if not hasattr(env, "delay"):
        return 1.0
    return (env.n_cards - env.delay - 1) / (env.n_cards - env.delay)


def random_actions(env):
    return draw_actions(env, N_TRAJECTORIES, env.max_steps)


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
    out = jax.jit(jax.vmap(trajectory))(state, keys[:, 1:], actions)
    states, all_obs, *outcome = jax.tree.map(np.asarray, out)
    noise = noise_of(env, keys) if hasattr(env, "noise") else None
    return Trajectories(
        jax.tree.map(prepend, state, states), prepend(obs, all_obs), *outcome, noise
    )


def as_float(leaf, dtype):
    return leaf.astype(dtype) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf


def prepend(first, rest):
    return np.concatenate([first[:, None], rest], axis=1)


def noise_of(env, keys):
    """The standard normal numbers that our steps draw from their keys."""
    first = jax.vmap(jax.random.split)(keys[:, 0])[:, 1]
    keys = jnp.concatenate([first[:, None], keys[:, 1:]], axis=1)
    draw = functools.partial(jax.random.normal, shape=(2,), dtype=jnp.float32)
    return np.asarray(quick_jit(jax.vmap(jax.vmap(draw)))(keys))


def play(oracle, env, ours, rows=range(N_TRAJECTORIES), same_state=False):
    """Plays POPGym with our hidden numbers and our actions, row after row.

    Returns the rows and times of what was seen, and what was seen there.
    """
    places, seen, lengths = [], [], ours.lengths()
    for row in rows:
        states = jax.tree.map(operator.itemgetter(row), ours.states)
        noise = () if ours.noise is None else ours.noise[row]
        oracle.np_random = Puppet(hidden_of(states), noise)
        seen.append((oracle.reset()[0], 0.0, False, False))
        for time, action in enumerate(ours.actions[row, : lengths[row]]):
            if same_state:
                oracle.state = np.array([leaf[time] for leaf in states[:-1]], float)
            if hasattr(env, "side"):  # Minesweeper: POPGym's actions are pairs
                action = divmod(int(action), env.side)
            seen.append(oracle.step(action)[:4])
        places += [(row, time) for time in range(lengths[row] + 1)]
    return np.array(places).T, [np.array(column) for column in zip(*seen, strict=True)]


def hidden_of(states):
    """What POPGym draws at reset, read off our first state."""
    if hasattr(states, "deck"):
        return states.deck[0][::-1]  # POPGym deals from the end
    if hasattr(states, "mines"):
        return np.flatnonzero(states.mines[0])
    return np.array([leaf[0] for leaf in states[:-1]], dtype=np.float64)


def compare(ours, theirs, tolerance, scale=1.0):
    (row, time), (obs, reward, terminated, truncated) = theirs
    if obs.ndim == 1:  # a number on POPGym's side, one-hot on ours
        obs = np.eye(ours.obs.shape[-1])[obs]
    np.testing.assert_allclose(ours.obs[row, time], obs, atol=tolerance, rtol=0)
    later = time > 0  # a reset has no reward and no flags
    before = row[later], time[later] - 1
    np.testing.assert_allclose(
        ours.reward[before], reward[later] * scale, rtol=1e-6, atol=tolerance / 100
    )
    np.testing.assert_array_equal(ours.terminated[before], terminated[later])
    np.testing.assert_array_equal(ours.truncated[before], truncated[later])
