"""Labyrinths: find the exit (Escape), or walk over every free cell (Explore).

Observation: the 3 x 3 cells around the player (free, wall, start, goal, or POPGym's
unused "hidden", each one-hot) and the last action (left, right, up, down, none),
one-hot. At the outer wall the window is cropped and padded with walls *at its end*, as
in POPGym: in the top row the player is in the window's first row, not in its middle.

Escape: each step costs 1/L; the goal, in the wall opposite the start, earns 1 and ends
the trial. Explore: a new cell earns 1/(free cells), any other step costs 1/L; the trial
ends when every free cell has been visited. Both are truncated after L - 1 steps,
L = 1024.

Mazes as POPGym draws them: mazelib's hunt-and-kill with random hunts.

A maze of n x n rooms is a grid of 2n + 1 cells a side: rooms at odd rows and columns,
passages between them, walls elsewhere. From a random room walk to unvisited neighbours
until there are none. Then jump to a random room and, if it has been visited, walk on
from there. There are as many jumps as the grid has cells. (With negligible probability
a room is left out, as in mazelib.) The entrances lie in opposite outer walls.
"""

# pyright: reportIncompatibleMethodOverride=false
import abc
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.ndimage
from jaxtyping import Array, Bool, Float, Float32, Int8, Int32, PRNGKeyArray

from freeproj.envs import drawing
from freeproj.envs.base import Game, derived, easy_to_hard, fixed, marked, static
from freeproj.projection.spaces import Box, Discrete

__all__ = ["FREE", "GOAL", "WALL", "Labyrinth", "LabyrinthEscape", "LabyrinthExplore"]
__all__ += ["LabyrinthState"]

FREE = 0
WALL = 1
_START = 2
GOAL = 3
_N_KINDS = 5  # POPGym's fifth, "hidden", never occurs in an observation

_HOPS = np.array([[-2, 0], [2, 0], [0, -2], [0, 2]], np.int32)  # to rooms
_MOVES = np.array([[0, -1], [0, 1], [-1, 0], [1, 0]], np.int32)
_N_ACTIONS = len(_MOVES)
_WINDOW = 3
_SIGNS = np.array(["  ", "██", "S ", "G "])


_Walls = Bool[Array, "side side"]
_Place = Int32[Array, "2"]  # row, column


class _Digging(NamedTuple):
    walls: _Walls
    room: _Place
    jumps: Int32[Array, ""]


class LabyrinthState(NamedTuple):
    """The maze, the cells walked over, and where the player is."""

    cells: Int8[Array, "side side"]
    explored: Bool[Array, "side side"]
    position: _Place
    last_action: Int32[Array, ""]
    time: Int32[Array, ""]


class Labyrinth(Game):
    """What both tasks share: mazes of 5, 7 or 9 rooms a side."""

    n_rooms: int = static(5, least=2)
    time_limit: int = static(1024, least=2)

    levels: ClassVar = easy_to_hard(n_rooms=(5, 7, 9))
    has_goal: ClassVar[bool] = False  # whether the end of the maze is shown and ends it

    @abc.abstractmethod
    def score(self, before: LabyrinthState, after: LabyrinthState) -> Float[Array, ""]:
        """Return the reward of a step while the trial runs."""

    side = derived(lambda self: 2 * self.n_rooms + 1)  # in cells, with the outer walls
    observation_space = fixed(Box.unit(_WINDOW**2 * _N_KINDS + _N_ACTIONS + 1))
    action_space = fixed(Discrete(_N_ACTIONS))
    action_names = fixed(("left", "right", "up", "down"))
    max_steps = derived(lambda self: self.time_limit - 1)

    def start(self, key: PRNGKeyArray, params: None) -> LabyrinthState:
        walls, start, end = _draw_maze(key, self.n_rooms)
        cells = jnp.where(walls, WALL, FREE).astype(jnp.int8)
        cells = cells.at[start[0], start[1]].set(_START)
        if self.has_goal:
            cells = cells.at[end[0], end[1]].set(GOAL)
        return LabyrinthState(
            cells=cells,
            explored=jnp.zeros_like(walls).at[start[0], start[1]].set(True),
            position=start,
            last_action=jnp.full((), _N_ACTIONS, jnp.int32),
            time=jnp.zeros((), jnp.int32),
        )

    def advance(
        self, state: LabyrinthState, action: Array, noise: None, params: None
    ) -> tuple[LabyrinthState, Array]:
        # Walls and the rim stop the player.
        ahead = state.position + jnp.asarray(_MOVES)[action]
        ahead = jnp.clip(ahead, 0, self.side - 1)
        blocked = state.cells[ahead[0], ahead[1]] == WALL
        position = jnp.where(blocked, state.position, ahead)
        here = jnp.arange(self.side)
        now = (here[:, None] == position[0]) & (here == position[1])
        following = state._replace(
            explored=state.explored | now,
            position=position,
            last_action=action.astype(jnp.int32),
            time=state.time + 1,
        )
        return following, self.score(state, following)

    def observe(self, state: LabyrinthState) -> Float[Array, "50"]:
        start = jnp.maximum(state.position - 1, 0)
        padded = jnp.pad(state.cells, (0, _WINDOW), constant_values=WALL)
        view = jax.lax.dynamic_slice(padded, (start[0], start[1]), (_WINDOW, _WINDOW))
        # At the rim, cells further than one beyond the player count as walls.
        places = start[:, None] + jnp.arange(_WINDOW)
        near = places <= state.position[:, None] + 1
        view = jnp.where(near[0][:, None] & near[1], view, WALL)
        seen = jax.nn.one_hot(view.ravel(), _N_KINDS, dtype=jnp.float32).ravel()
        last = jax.nn.one_hot(state.last_action, _N_ACTIONS + 1, dtype=jnp.float32)
        return jnp.concatenate([seen, last])

    def render(self, state: LabyrinthState) -> str:
        """Draw the cells walked over and those next to them; "@" is the player."""
        explored, cells = np.asarray(state.explored), np.asarray(state.cells)
        row, column = np.asarray(state.position)
        signs = np.where(explored & (cells == FREE), "· ", _SIGNS[cells])
        signs = np.where(_near(explored), signs, "░░")
        signs[row, column] = "@ "
        steps = f"step {int(state.time)} of {self.max_steps}"
        return "\n".join([*("".join(line).rstrip() for line in signs), steps])

    def paint(self, canvas: drawing.Canvas, state: LabyrinthState) -> None:
        cells, explored = np.asarray(state.cells), np.asarray(state.explored)
        # In the order of FREE, WALL, START and GOAL.
        colors = [drawing.PAPER, drawing.INK, drawing.BLUE, drawing.GREEN]
        fills = np.array(colors, object)[cells]
        fills = np.where(explored & (cells == FREE), "#dcebf5", fills)
        fills = np.where(_near(explored), fills, drawing.HIDDEN)
        row, column = np.asarray(state.position)
        fills[row, column] = drawing.RED
        signs = [""] * fills.size
        drawing.paint_board(canvas, self.side, fills.ravel().tolist(), signs, line=None)


class LabyrinthEscape(Labyrinth):
    """Find the goal in the wall opposite the start."""

    summary: ClassVar = "find the way out of a maze"
    popgym_name: ClassVar = "LabyrinthEscape"
    has_goal: ClassVar = True

    def is_done(self, state: LabyrinthState) -> Bool[Array, ""]:
        return state.cells[state.position[0], state.position[1]] == GOAL

    def score(self, before: LabyrinthState, after: LabyrinthState) -> Float[Array, ""]:
        return self.is_done(after) - 1 / self.time_limit

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        state = _plain_walk(state, action)
        done = bool(state.cells[tuple(state.position)] == GOAL)
        reward = done - 1 / self.time_limit
        return _window(state), state, reward, done, state.time >= self.max_steps


class LabyrinthExplore(Labyrinth):
    """Walk over every free cell."""

    summary: ClassVar = "visit every free cell of a maze"
    popgym_name: ClassVar = "LabyrinthExplore"

    def is_done(self, state: LabyrinthState) -> Bool[Array, ""]:
        return (state.explored | (state.cells == WALL)).all()

    def score(self, before: LabyrinthState, after: LabyrinthState) -> Float[Array, ""]:
        new = ~before.explored[after.position[0], after.position[1]]
        found = 1 / (after.cells == FREE).sum()
        return jnp.where(new, found, -1 / self.time_limit)

    def plain_step(self, state: Any, action: Any, noise: Any) -> tuple:
        before, state = state.explored, _plain_walk(state, action)
        reward = -1 / self.time_limit
        if not before[tuple(state.position)]:
            reward = 1 / int((state.cells == FREE).sum())
        done = bool((state.explored | (state.cells == WALL)).all())
        return _window(state), state, reward, done, state.time >= self.max_steps


def _near(cells: Bool[np.ndarray, "side side"]) -> Bool[np.ndarray, "side side"]:
    """Return the cells and all that touch them."""
    return scipy.ndimage.binary_dilation(cells, np.ones((_WINDOW, _WINDOW)))


def _plain_walk(state: Any, action: Any) -> Any:
    (row, column), (down, right) = state.position.tolist(), _MOVES[action].tolist()
    side = len(state.cells)
    ahead = min(max(row + down, 0), side - 1), min(max(column + right, 0), side - 1)
    place = (row, column) if state.cells[ahead] == WALL else ahead
    explored = marked(state.explored, place)
    position = np.array(place, np.int32)
    return type(state)(state.cells, explored, position, action, state.time + 1)


def _window(state: Any) -> Float32[np.ndarray, " 50"]:
    """Return what is seen, in NumPy."""
    row, column = state.position.tolist()
    view = np.full((_WINDOW, _WINDOW), WALL)
    seen = state.cells[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
    view[: seen.shape[0], : seen.shape[1]] = seen
    n_entries = _WINDOW**2 * _N_KINDS
    obs = np.zeros(n_entries + _N_ACTIONS + 1, np.float32)
    obs[np.arange(_WINDOW**2) * _N_KINDS + view.ravel()] = 1.0
    obs[n_entries + state.last_action] = 1.0
    return obs


def _draw_maze(key: PRNGKeyArray, n_rooms: int) -> tuple[_Walls, _Place, _Place]:
    """Draw the walls of a maze of `n_rooms` x `n_rooms`, its start and its end."""
    side = 2 * n_rooms + 1
    key_first, key_noise, key_rooms, key_doors = jax.random.split(key, 4)
    n_turns = side**2 + n_rooms**2  # all jumps, and a step into every room
    noise = jax.random.uniform(key_noise, (n_turns, len(_HOPS)), jnp.float32)
    rooms = _random_rooms(key_rooms, (n_turns, 2), n_rooms)
    first = _random_rooms(key_first, (2,), n_rooms)
    walls = jnp.ones((side, side), bool).at[first[0], first[1]].set(False)

    def turn(index, digging):
        return _dig(digging, noise[index], rooms[index], side)

    digging = _Digging(walls, first, jnp.zeros((), jnp.int32))
    walls = jax.lax.fori_loop(0, n_turns, turn, digging).walls
    return walls, *_entrances(key_doors, n_rooms)


def _dig(digging: _Digging, noise: Array, jump: _Place, side: int) -> _Digging:
    """Walk into a random unvisited neighbour, or jump where there is none."""
    walls, room, jumps = digging
    targets = room + _HOPS
    inside = ((targets > 0) & (targets < side)).all(axis=1)
    rows, columns = jnp.clip(targets, 1, side - 2).T
    open_to = inside & walls[rows, columns] & ~walls[room[0], room[1]]
    walks = open_to.any()
    move = jnp.asarray(_HOPS)[jnp.argmax(jnp.where(open_to, noise, -1.0))]
    target = jnp.where(walks, room + move, room)
    between = (room + target) // 2
    dug = walls.at[target[0], target[1]].min(~walks)
    dug = dug.at[between[0], between[1]].min(~walks)
    hunting = ~walks & (jumps < side**2)
    return _Digging(dug, jnp.where(hunting, jump, target), jumps + hunting)


def _entrances(key: PRNGKeyArray, n_rooms: int) -> tuple[_Place, _Place]:
    """Draw start and end: in opposite outer walls, each beside a random room."""
    key_side, key_doors = jax.random.split(key)
    upright, swapped = jax.random.bernoulli(key_side, shape=(2,))
    doors = _random_rooms(key_doors, (2,), n_rooms)
    edges = jnp.where(swapped, jnp.array([2 * n_rooms, 0]), jnp.array([0, 2 * n_rooms]))
    pairs = jnp.stack([edges, doors], axis=1).astype(jnp.int32)
    pairs = jnp.where(upright, pairs, pairs[:, ::-1])
    return pairs[0], pairs[1]


def _random_rooms(
    key: PRNGKeyArray, shape: tuple[int, ...], n_rooms: int
) -> Int32[Array, "..."]:
    """Draw odd coordinates, those of rooms."""
    return 2 * jax.random.randint(key, shape, 0, n_rooms, jnp.int32) + 1
