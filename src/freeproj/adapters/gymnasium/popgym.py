"""POPGym's own spaces and hidden states around our tasks, for code written for POPGym.

    env = gym.make("freeproj/popgym-BattleshipEasy-v0", spaces="popgym")

Our tasks show vectors and number all actions; POPGym has Discrete, MultiDiscrete and
Tuple observations, rows and columns as actions of board games, and a `state_space` with
the hidden Markov state that `get_state` returns.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete, Space, Tuple
from gymnasium.spaces.utils import unflatten
from jaxtyping import Float32

from freeproj.envs import Environment

__all__ = ["PopgymView", "Seen", "popgym_view"]


class Seen(NamedTuple):
    """A moment of a trial: what `get_state` of POPGym is computed from."""

    observation: Any  # in POPGym's space
    state: Any
    before: Any = None  # the state before the last action
    action: int = -1


class PopgymView(NamedTuple):
    """POPGym's spaces of a task, and the function that gives its hidden state."""

    observation_space: Space
    action_space: Any  # a space; None: ours
    state_space: Space
    state: Callable[[Seen], Any]
    needs_action: bool = False  # POPGym's `obs_requires_prev_action`

    def observe(self, observation: np.ndarray) -> Any:
        """Return an observation in POPGym's space."""
        if isinstance(self.observation_space, Box):
            return observation
        shown = unflatten(self.observation_space, observation)
        if isinstance(shown, tuple):
            return tuple(map(int, shown))
        return int(shown) if np.ndim(shown) == 0 else np.asarray(shown, np.int64)

    def own_action(self, action: Any) -> Any:
        """Return our action: the number of a cell, a torque in [-1, 1]."""
        if self.action_space is None:
            return action
        if isinstance(self.action_space, Box):
            return np.asarray(action) / self.action_space.high
        cell, board = np.asarray(action), self.action_space
        if not board.contains(cell):
            raise ValueError(f"Actions are a row and a column in {board}, got {cell}.")
        return int(cell[0] * board.nvec[1] + cell[1])


def popgym_view(task: Environment) -> PopgymView:
    """Return POPGym's view of one of its tasks; refuse any other."""
    view = _VIEWS.get(task.popgym_name or "")
    if view is None:
        raise ValueError(f"spaces='popgym' needs a task of POPGym, not {task.name}.")
    return view(task)


def _unit(size: int) -> Box:
    return Box(0.0, 1.0, (size,), np.float32)


def _suits_left(task: Any, seen: Seen) -> Float32[np.ndarray, "4"]:
    """Return the share of each suit that is still in the deck."""
    dealt = seen.state.deck[: seen.state.time + 1] % 4
    left = 1.0 - np.bincount(dealt, minlength=4) / (task.n_cards / 4)
    return left.astype(np.float32)


def _autoencode(task: Any) -> PopgymView:
    def state(seen: Seen) -> Any:
        deck, position = seen.state
        held = min(position + 1, 2 * task.n_cards - 1 - position) / task.n_cards
        order = np.asarray(deck, np.int64) % 4
        return order, seen.observation[0], np.array([held], np.float32)

    suits = MultiDiscrete(np.full(task.n_cards, 4))
    hidden = Tuple((suits, Discrete(2), _unit(1)))
    return PopgymView(Tuple((Discrete(2), Discrete(4))), None, hidden, state)


def _repeat_previous(task: Any) -> PopgymView:
    n_kept = task.delay + 1  # POPGym counts the open card as the first of its k

    def state(seen: Seen) -> Any:
        first = seen.state.time + 1 - n_kept
        kept = seen.state.deck[max(first, 0) : seen.state.time + 1]
        suits = np.pad(np.asarray(kept, np.int64) % 4, (max(-first, 0), 0))
        return suits, _suits_left(task, seen)

    hidden = Tuple((MultiDiscrete(np.full(n_kept, 4)), _unit(4)))
    return PopgymView(Discrete(4), None, hidden, state)


def _repeat_first(task: Any) -> PopgymView:
    def state(seen: Seen) -> Any:
        return int(seen.state.deck[0]) % 4, _suits_left(task, seen)

    return PopgymView(Discrete(4), None, Tuple((Discrete(4), _unit(4))), state)


def _count_recall(task: Any) -> PopgymView:
    kinds = task.n_kinds

    def state(seen: Seen) -> Any:
        _, queries, counts, position = seen.state
        asked = np.bincount(queries[: position + 1], minlength=kinds)
        shares = np.array([counts, asked], np.float32) / (task.n_cards // kinds)
        return *shares, seen.observation

    pair = MultiDiscrete([kinds, kinds])
    return PopgymView(pair, None, Tuple((_unit(kinds), _unit(kinds), pair)), state)


def _higher_lower(task: Any) -> PopgymView:
    def state(seen: Seen) -> Any:
        ranks = seen.state.deck[: seen.state.time + 1] // 4
        dealt = np.bincount(ranks, minlength=13) / 4 / task.n_decks
        return dealt.astype(np.float32)

    return PopgymView(Discrete(13), None, _unit(13), state)


def _bandit(task: Any) -> PopgymView:
    def state(seen: Seen) -> Any:
        return np.array(seen.state.payouts, np.float32)

    return PopgymView(Discrete(2), None, _unit(task.n_arms), state, True)


def _battleship(task: Any) -> PopgymView:
    board = (task.side, task.side)

    def state(seen: Seen) -> Any:
        cells = seen.state.ships, seen.state.shot
        boards = [np.asarray(each, np.int8).reshape(board) for each in cells]
        return *boards, seen.observation

    cells = MultiDiscrete(np.full(board, 2))
    hidden = Tuple((cells, cells, Discrete(2)))
    return PopgymView(Discrete(2), MultiDiscrete(list(board)), hidden, state, True)


def _minesweeper(task: Any) -> PopgymView:
    def state(seen: Seen) -> Any:
        mines, clicked = np.asarray(seen.state.mines), np.asarray(seen.state.clicked)
        return np.where(mines, 1, 2 * clicked).astype(np.int8)

    shown, board = task.observation_space.size, (task.side, task.side)
    hidden = MultiDiscrete(np.full(task.n_cells, 3))
    return PopgymView(Discrete(shown), MultiDiscrete(list(board)), hidden, state, True)


def _concentration(task: Any) -> PopgymView:
    n, none = task.n_cards, task.n_kinds  # POPGym's number for "no card"

    def state(seen: Seen) -> Any:
        flips: list[int] = []  # of the last try
        if seen.before is not None:
            flips = [*np.flatnonzero(seen.before.in_play).tolist(), seen.action]
        turned = [*flips, none, none][:2]
        kinds, face_up = seen.state.kinds, seen.state.face_up
        return np.asarray(kinds, np.int64), np.asarray(face_up, np.int8), *turned

    shown, kinds = np.full(n, none + 1), MultiDiscrete(np.full(n, none))
    hidden = Tuple((kinds, MultiBinary(n), Discrete(n), Discrete(n)))
    return PopgymView(MultiDiscrete(shown), None, hidden, state, True)


def _labyrinth(task: Any) -> PopgymView:
    def state(seen: Seen) -> Any:
        cells, explored = np.asarray(seen.state.cells), np.asarray(seen.state.explored)
        return np.where(explored, cells, 4).astype(np.int64)  # 4: hidden

    hidden = MultiDiscrete(np.full((task.side, task.side), 5))
    return PopgymView(MultiDiscrete(np.full(10, 5)), None, hidden, state, True)


def _cartpole(task: Any) -> PopgymView:
    def state(seen: Seen) -> Any:
        return np.array(seen.state[:4], np.float32)

    shown = task.observation_space
    reach = np.array([4.8, np.inf, np.radians(24), np.inf], np.float32)
    low, high = np.array(shown.low, np.float32), np.array(shown.high, np.float32)
    return PopgymView(Box(low, high), None, Box(-reach, reach), state)


def _pendulum(task: Any) -> PopgymView:
    def state(seen: Seen) -> Any:
        angle, speed = float(seen.state.angle), float(seen.state.speed)
        return np.array([np.cos(angle), np.sin(angle), speed], np.float32)

    reach = np.array([1, 1, 8], np.float32)
    torque = np.array(task.action_space.high, np.float32)
    space = Box(-reach[:2], reach[:2])
    return PopgymView(space, Box(-torque, torque), Box(-reach, reach), state)


_VIEWS: dict[str, Callable[[Any], PopgymView]] = {
    "Autoencode": _autoencode,
    "Battleship": _battleship,
    "Concentration": _concentration,
    "CountRecall": _count_recall,
    "HigherLower": _higher_lower,
    "LabyrinthEscape": _labyrinth,
    "LabyrinthExplore": _labyrinth,
    "MineSweeper": _minesweeper,
    "MultiarmedBandit": _bandit,
    "NoisyPositionOnlyCartPole": _cartpole,
    "NoisyPositionOnlyPendulum": _pendulum,
    "PositionOnlyCartPole": _cartpole,
    "PositionOnlyPendulum": _pendulum,
    "RepeatFirst": _repeat_first,
    "RepeatPrevious": _repeat_previous,
    "VelocityOnlyCartpole": _cartpole,
}
