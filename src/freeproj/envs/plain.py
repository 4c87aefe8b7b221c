"""One step of each task in plain Python, for loops that step one environment.

A compiled program pays off for batches; called for one small step it spends most of its
time on the call itself. `plain_task(env)` has the task's rules as a Python function

    outcome = plain.step(plain.numbers, state, action, luck)
    observation, state, reward, terminated, truncated = outcome

on the same states, with NumPy arrays and Python numbers as leaves. `luck` is what
`env.draw_luck` draws for the step, as Python numbers. While the trial runs, results
equal those of `env.step`, floats up to rounding; a test compares them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from freeproj.envs.autoencode import Autoencode
from freeproj.envs.bandit import MultiarmedBandit
from freeproj.envs.base import Environment
from freeproj.envs.battleship import Battleship
from freeproj.envs.cartpole import (
    MAX_ANGLE,
    MAX_POSITION,
    CartPoleParams,
    NoisyStatelessCartPole,
    StatelessCartPole,
    VelocityOnlyCartPole,
)
from freeproj.envs.concentration import Concentration
from freeproj.envs.count_recall import CountRecall
from freeproj.envs.higher_lower import HigherLower
from freeproj.envs.labyrinth import LabyrinthEscape, LabyrinthExplore
from freeproj.envs.mazes import FREE, GOAL, N_CELL_KINDS, WALL
from freeproj.envs.minesweeper import Minesweeper
from freeproj.envs.pendulum import (
    HALF_COST,
    MAX_TORQUE,
    NoisyStatelessPendulum,
    PendulumParams,
    StatelessPendulum,
)
from freeproj.envs.repeat_first import RepeatFirst
from freeproj.envs.repeat_previous import PopgymRepeatPrevious, RepeatPrevious

__all__ = ["PlainTask", "plain_task"]

# observation, state, reward, terminated, truncated
_Step = Callable[[SimpleNamespace, Any, Any, Any], tuple[Any, ...]]

_CART = CartPoleParams()
_PENDULUM = PendulumParams()
_MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))


# Attributes that steps need; read once, since those of an Equinox module are slow.
_NUMBERS = (
    "delay",
    "max_steps",
    "n_cards",
    "n_kinds",
    "n_ship_cells",
    "noise",
    "observation_space",
    "reward_scale",
    "time_limit",
)


class PlainTask(NamedTuple):
    """A task's rules in plain Python, and the numbers that they need."""

    step: _Step
    numbers: SimpleNamespace


def plain_task(env: Environment) -> PlainTask | None:
    """Return the plain rules of a task of this package, or None for other tasks."""
    step = _STEPS.get(type(env))  # a subclass may have other rules
    if step is None:
        return None
    known = {name: getattr(env, name) for name in _NUMBERS if hasattr(env, name)}
    return PlainTask(step, SimpleNamespace(**known))


def _one_hot(size: int, *places: Any) -> np.ndarray:
    row = np.zeros(size, np.float32)
    for place in places:
        row[place] = 1.0
    return row


# Cards: the deck lies in the state, a step only moves along it.


def _higher_lower(env, state, action, luck):
    deck, position = state
    rank, following = int(deck[position]) // 4, int(deck[position + 1]) // 4
    direction = (following > rank) - (following < rank)
    reward = (-direction if action else direction) / env.n_cards
    state, ended = _next_card(env, state)
    return _one_hot(13, following), state, reward, ended, False


def _repeat_first(env, state, action, luck):
    reward = _right(action == state.deck[0] % 4, env.n_cards - 1)
    state, ended = _next_card(env, state)
    return _open_suit(state), state, reward, ended, False


def _repeat_previous(env, state, action, luck):
    asked, reward = state.position - env.delay, 0.0
    if asked >= 0:
        reward = _right(action == state.deck[asked] % 4, env.reward_scale)
    state, ended = _next_card(env, state)
    return _open_suit(state), state, reward, ended, False


def _autoencode(env, state, action, luck):
    last, reward = env.n_cards - 1, 0.0
    if state.position >= last:
        asked = state.deck[2 * last - state.position]
        reward = _right(action == asked % 4, env.n_cards)
    state, ended = _next_card(env, state)
    position = state.position
    suit = int(state.deck[position]) % 4 if position <= last else 0
    return _one_hot(6, int(position < last), 2 + suit), state, reward, ended, False


def _count_recall(env, state, action, luck):
    dealt, queries, counts, position = state
    last = env.max_steps
    reward = _right(action == counts[queries[position]], last)
    position, counts = position + 1, counts.copy()
    kind, n_kinds = dealt[position], env.n_kinds
    counts[kind] += 1
    obs = _one_hot(2 * n_kinds, kind, n_kinds + int(queries[position]))
    state = type(state)(dealt, queries, counts, position)
    return obs, state, reward, position >= last, False


def _right(right: Any, scale: int) -> float:
    return 1 / scale if right else -1 / scale


def _next_card(env, state):
    position = state.position + 1
    return type(state)(state.deck, position), position >= env.max_steps


def _open_suit(state) -> np.ndarray:
    return _one_hot(4, int(state.deck[state.position]) % 4)


# Boards: what was clicked, shot at or turned up is copied, then marked.


def _concentration(env, state, action, luck):
    kinds, face_up, in_play, _, time = state
    waiting, already = in_play.any(), face_up[action]
    shown = face_up | in_play
    new = not shown[action]
    shown[action] = True
    match = waiting and new and kinds[in_play][0] == kinds[action]
    reward = -(1 + int(waiting)) / env.max_steps if waiting or already else 0.0
    in_play = np.zeros_like(in_play)
    if match:
        face_up, reward = shown, 2 / env.n_cards
    elif not (waiting or already):
        in_play[action] = True
    obs = np.zeros((len(kinds), env.n_kinds + 1), np.float32)
    obs[np.arange(len(kinds)), np.where(shown, kinds, env.n_kinds)] = 1.0
    state = type(state)(kinds, face_up, in_play, shown, time + 1)
    ends = bool(face_up.all()), time + 1 >= env.max_steps
    return obs.ravel(), state, reward, *ends


def _minesweeper(env, state, action, luck):
    mines, counts, clicked, n_seen, time, _ = state
    n_safe, mine = env.max_steps, bool(mines[action])
    new = not (mine or clicked[action])
    reward = 1 / n_safe if new else -0.5 / (n_safe - 2)
    if mine:
        reward = -0.5 - 1 / n_safe
    clicked, n_seen, time = _marked(clicked, action), n_seen + new, time + 1
    ended = mine or n_seen == n_safe
    obs = _one_hot(env.observation_space.size, int(counts[action]))
    state = type(state)(mines, counts, clicked, n_seen, time, ended)
    return obs, state, reward, ended, time >= n_safe and not ended


def _battleship(env, state, action, luck):
    ships, shot, hits, time = state
    hit, total = bool(ships[action] and not shot[action]), env.n_ship_cells
    reward = 1 / total if hit else -1 / (len(ships) - total)
    hits, time = hits + hit, time + 1
    state = type(state)(ships, _marked(shot, action), hits, time)
    return _one_hot(2, int(hit)), state, reward, hits >= total, time >= len(ships)


def _marked(cells: np.ndarray, place: Any) -> np.ndarray:
    cells = cells.copy()
    cells[place] = True
    return cells


# Mazes, arms, carts and pendulums: physics in float64, as in Gymnasium.


def _escape(env, state, action, luck):
    state = _walk(state, action)
    done = bool(state.cells[tuple(state.position)] == GOAL)
    reward = done - 1 / env.time_limit
    return _window(state), state, reward, done, state.time >= env.max_steps


def _explore(env, state, action, luck):
    before, state = state.explored, _walk(state, action)
    reward = -1 / env.time_limit
    if not before[tuple(state.position)]:
        reward = 1 / int((state.cells == FREE).sum())
    done = bool((state.explored | (state.cells == WALL)).all())
    return _window(state), state, reward, done, state.time >= env.max_steps


def _walk(state, action):
    (row, column), (down, right) = state.position.tolist(), _MOVES[action]
    side = len(state.cells)
    ahead = min(max(row + down, 0), side - 1), min(max(column + right, 0), side - 1)
    place = (row, column) if state.cells[ahead] == WALL else ahead
    explored = _marked(state.explored, place)
    position = np.array(place, np.int32)
    return type(state)(state.cells, explored, position, action, state.time + 1)


def _window(state) -> np.ndarray:
    row, column = state.position.tolist()
    view = np.full((3, 3), WALL)
    seen = state.cells[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
    view[: seen.shape[0], : seen.shape[1]] = seen
    places = np.arange(9) * N_CELL_KINDS + view.ravel()
    obs = np.zeros(9 * N_CELL_KINDS + 5, np.float32)
    obs[places] = 1.0
    obs[9 * N_CELL_KINDS + state.last_action] = 1.0
    return obs


def _bandit(env, state, action, luck):
    paid, time = bool(luck < state.payouts[action]), state.time + 1
    reward = _right(paid, env.time_limit)
    state = type(state)(state.payouts, paid, time)
    return _one_hot(2, int(paid)), state, reward, False, time >= env.time_limit


def _cart(env, state, action, luck):
    state = _moved_cart(state, _CART.force if action else -_CART.force)
    obs = np.array((state.position, state.angle), np.float32)
    out = abs(state.position) > MAX_POSITION or abs(state.angle) > MAX_ANGLE
    return obs, state, 1 / env.time_limit, out, state.time >= env.time_limit


def _cart_by_velocity(env, state, action, luck):
    _, state, *outcome = _cart(env, state, action, luck)
    obs = np.array((state.velocity, state.angular_velocity), np.float32)
    return obs, state, *outcome


def _moved_cart(state, force: float):
    x, velocity, angle, turning, time = state
    gravity, cart, pole, half, _, dt = _CART
    sine, cosine, mass = math.sin(angle), math.cos(angle), cart + pole
    push = (force + pole * half * turning**2 * sine) / mass
    inertia = half * (4 / 3 - pole * cosine**2 / mass)
    angular = (gravity * sine - cosine * push) / inertia
    linear = push - pole * half * angular * cosine / mass
    x, velocity = x + dt * velocity, velocity + dt * linear
    angle, turning = angle + dt * turning, turning + dt * angular
    return type(state)(x, velocity, angle, turning, time + 1)


def _pendulum(env, state, action, luck):
    angle, speed, time = state
    gravity, mass, length, max_speed, dt = _PENDULUM
    torque = min(max(float(action[0]), -MAX_TORQUE), MAX_TORQUE)
    upright = angle - 2 * math.pi * math.floor((angle + math.pi) / (2 * math.pi))
    cost = upright**2 + 0.1 * speed**2 + 0.001 * torque**2
    pull = 1.5 * gravity / length * math.sin(angle)
    speed += (pull + 3 / (mass * length**2) * torque) * dt
    speed = min(max(speed, -max_speed), max_speed)
    angle, time, limit = angle + speed * dt, time + 1, env.time_limit
    obs = np.array((math.cos(angle), math.sin(angle)), np.float32)
    reward = (HALF_COST - cost) / HALF_COST / limit
    return obs, type(state)(angle, speed, time), reward, False, time >= limit


def _noisy_cart(env, state, action, luck):
    obs, *outcome = _cart(env, state, action, luck)
    return _with_noise(env, obs, luck), *outcome


def _noisy_pendulum(env, state, action, luck):
    obs, *outcome = _pendulum(env, state, action, luck)
    return _with_noise(env, obs, luck), *outcome


def _with_noise(env, obs: np.ndarray, luck) -> np.ndarray:
    """Return what is seen with noise, clipped to the bounds."""
    space = env.observation_space
    noisy = zip(obs.tolist(), luck, space.low, space.high, strict=True)
    shown = [min(max(x + env.noise * n, low), high) for x, n, low, high in noisy]
    return np.array(shown, np.float32)


_STEPS: dict[type[Environment], _Step] = {
    Autoencode: _autoencode,
    Battleship: _battleship,
    Concentration: _concentration,
    CountRecall: _count_recall,
    HigherLower: _higher_lower,
    LabyrinthEscape: _escape,
    LabyrinthExplore: _explore,
    Minesweeper: _minesweeper,
    MultiarmedBandit: _bandit,
    NoisyStatelessCartPole: _noisy_cart,
    NoisyStatelessPendulum: _noisy_pendulum,
    PopgymRepeatPrevious: _repeat_previous,
    RepeatFirst: _repeat_first,
    RepeatPrevious: _repeat_previous,
    StatelessCartPole: _cart,
    StatelessPendulum: _pendulum,
    VelocityOnlyCartPole: _cart_by_velocity,
}
