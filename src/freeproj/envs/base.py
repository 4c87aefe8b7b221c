"""The contract of a task.

A task is a frozen object whose attributes are fixed numbers. Whatever varies is an
argument: numbers of the physics in `params`, everything that changes in `state`,
randomness in `key`. A step returns six values and never resets by itself. A state holds
all that is hidden (deck, board), so stepping again from a stored state replays the same
trial. All observations are vectors: a task with discrete observations shows them
one-hot.

A compiled program that is called for one small step spends most of its time on the
call. So a task may have its rules a second time, for loops that step one environment,

    observation, state, reward, terminated, truncated = plain_step(state, action, noise)

in plain Python, with NumPy arrays and Python numbers as leaves of the same states, and
as `noise` what `draw_noise` drew. While the trial runs, results equal those of `step`,
floats up to rounding.
"""

# pyright: reportIncompatibleMethodOverride=false
import abc
import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, ArrayLike, Bool, Float, PRNGKeyArray, PyTree

from freeproj.envs.drawing import Canvas
from freeproj.projection.spaces import Box, Discrete
from freeproj.storage.checks import at_least

__all__ = ["Environment", "Game", "Step", "TimedGame", "answer", "check_action"]
__all__ += ["derived", "easy_to_hard", "fixed", "marked", "one_hot", "plain_task"]
__all__ += ["static"]

_Start = tuple[Float[Array, " d_obs"], PyTree]
_End = Bool[Array, ""]
# observation, state, reward, terminated, truncated, info
Step = tuple[Float[Array, " d_obs"], Any, Float[Array, ""], _End, _End, dict[str, Any]]


def derived(rule: Callable[[Any], Any]) -> Any:
    """Return a property of a task, by its rule."""
    return property(rule)


def fixed(value: Any) -> Any:
    """Return a property that is the same for all tasks of a class."""
    return property(lambda self: value)


def static(default: Any, least: float | int | None = None) -> Any:
    """Return a field of a task: one of its numbers, and how small it may be."""
    return eqx.field(static=True, default=default, metadata={"least": least})


class Environment(eqx.Module):
    """A task: what every file beside this one implements.

    `max_steps` bounds the length of a trial; a trial may end earlier. `terminated`
    says that the task is over, `truncated` that only its time is up. In the tasks of
    this package stepping after the end of a trial is a no-op with reward 0.

    A class may define two more things: `plain_step`, its rules in plain Python, and
    `paint`, a picture of a state. Under a name of the registry it has a `summary`, for
    POPGym's tasks a `popgym_name`, and `levels`.
    """

    summary: ClassVar[str] = ""
    popgym_name: ClassVar[str | None] = None
    popgym_version: ClassVar[Any] = None  # POPGym's own task, where the two differ
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @property
    def name(self) -> str:
        """The task's name: that of its class, unless the class defines another."""
        return type(self).__name__

    @property
    @abc.abstractmethod
    def observation_space(self) -> Box:
        """The bounds of an observation; infinite where the task has none."""

    @property
    @abc.abstractmethod
    def action_space(self) -> Box | Discrete:
        """The actions."""

    @property
    @abc.abstractmethod
    def max_steps(self) -> int:
        """The longest possible trial."""

    @property
    def default_params(self) -> PyTree:
        """The numbers that `reset` and `step` take as `params`; none by default."""
        return None

    @abc.abstractmethod
    def reset(self, key: PRNGKeyArray, params: PyTree) -> _Start:
        """Return a first observation and a fresh state."""

    @abc.abstractmethod
    def step(
        self, key: PRNGKeyArray, state: PyTree, action: ArrayLike, params: PyTree
    ) -> Step:
        """Return observation, state, reward, terminated, truncated and info."""

    def render(self, state: PyTree) -> str:
        """Draw a state as text: what a player may know. By default all its numbers."""
        entries = (
            f"{jax.tree_util.keystr(path, simple=True)}: {np.asarray(leaf)}"
            for path, leaf in jax.tree_util.tree_leaves_with_path(state)
        )
        return "  ".join(entries).removeprefix(": ")

    def paint(self, canvas: Canvas, state: PyTree) -> None:
        """Paint a state; by default, its text."""
        canvas.print(self.render(state))

    def draw_noise(self, key: PRNGKeyArray) -> Array | None:
        """Draw the random numbers of one step; None where a step draws none."""
        return None

    @property
    def observation_scale(self) -> tuple[float, ...]:
        """What to divide observations by to bring them to unit range."""
        space = self.observation_space
        if not space.bounded:
            raise ValueError(
                f"{self.name} has infinite observation bounds {space.low} and "
                f"{space.high}, so its class must define `observation_scale`."
            )
        bounds = zip(space.low, space.high, strict=True)
        return tuple(max(abs(low), abs(high)) or 1.0 for low, high in bounds)

    @property
    def action_names(self) -> tuple[str, ...]:
        """The names of the actions, in order; empty for continuous ones."""
        space = self.action_space
        return tuple(map(str, range(space.n))) if isinstance(space, Discrete) else ()


class Game(Environment):
    """A task that shows what its state says; the state counts the steps as `time`.

    A class says how a trial starts and goes on while it runs, what is seen, and when it
    is over. What an ended trial does is the same for all. The last step truncates the
    trial, unless the class says that it terminates it.
    """

    last_step_terminates: ClassVar[bool] = False

    def __check_init__(self):
        for field in dataclasses.fields(self):
            if (least := field.metadata.get("least")) is not None:
                at_least(least, **{field.name: getattr(self, field.name)})

    @property
    def name(self) -> str:
        """The class with the level, unless it is the first one, or with all numbers."""
        family, fields = type(self).__name__, dataclasses.fields(self)
        usual = {field.name: field.default for field in fields}
        levels = self.levels or {"": usual}
        own = {key: getattr(self, key) for key in next(iter(levels.values()))}
        for position, (level, attributes) in enumerate(levels.items()):
            if own == attributes:
                return f"{family}{level}" if position else family
        return f"{family}({', '.join(f'{key}={own[key]}' for key in own)})"

    @abc.abstractmethod
    def start(self, key: PRNGKeyArray, params: Any) -> Any:
        """Draw the state in which a trial starts."""

    @abc.abstractmethod
    def advance(self, state: Any, action: Array, noise: Any, params: Any) -> Any:
        """Return the next state and the reward; `noise` is what `draw_noise` drew."""

    @abc.abstractmethod
    def observe(self, state: Any) -> Float[Array, " d_obs"]:
        """Return what is seen in a state."""

    def is_done(self, state: Any) -> Bool[Array, ""]:
        """Whether the task is over (terminated)."""
        return self.last_step_terminates & (state.time >= self.max_steps)

    def is_late(self, state: Any) -> Bool[Array, ""]:
        """Whether only its time is up (truncated)."""
        return (not self.last_step_terminates) & (state.time >= self.max_steps)

    def reset(self, key: PRNGKeyArray, params: PyTree) -> _Start:
        state = self.start(key, params)
        return self.observe(state), state

    def step(
        self, key: PRNGKeyArray, state: Any, action: ArrayLike, params: PyTree
    ) -> Step:
        check_action(action, self.action_space)
        over, noise = self.is_done(state) | self.is_late(state), self.draw_noise(key)
        following, reward = self.advance(state, jnp.asarray(action), noise, params)
        reward = jnp.where(over, 0.0, reward).astype(jnp.float32)
        state = jax.tree.map(
            lambda old, new: new if old is new else jnp.where(over, old, new),
            state,
            following,
        )
        ends = self.is_done(state), self.is_late(state)
        return self.observe(state), state, reward, *ends, {}


class TimedGame(Game):
    """A game that is truncated after `time_limit` steps, unless it ends before."""

    time_limit: int = static(200, least=1)

    max_steps = derived(lambda self: self.time_limit)


def easy_to_hard(**values: tuple) -> dict[str, dict[str, Any]]:
    """Return POPGym's levels from each attribute's values at Easy, Medium and Hard."""
    names = ("Easy", "Medium", "Hard")
    return {name: {k: values[k][i] for k in values} for i, name in enumerate(names)}


def check_action(action: ArrayLike, space: Box | Discrete) -> None:
    """Refuse an action of wrong shape, or a concrete one outside a discrete space.

    Traced values cannot be checked: inside `jit` the caller must stay in the space.
    Continuous actions may lie outside; tasks clip them, as POPGym does.
    """
    shape = (space.size,) if isinstance(space, Box) else ()
    if jnp.shape(action) != shape:
        raise ValueError(
            f"`action` must have shape {shape}, got {jnp.shape(action)}; batch "
            "environments by `jax.vmap`."
        )
    if isinstance(action, Tracer) or isinstance(space, Box):
        return
    value = np.asarray(action)
    if value.dtype.kind not in "iub" or not 0 <= value < space.n:
        raise ValueError(
            f"`action` must be an integer in 0..{space.n - 1}, got {value.item()}."
        )


def plain_task(env: Environment) -> Callable[[Any, Any, Any], tuple] | None:
    """Return `plain_step` of a task whose own class has it, or None."""
    # Not inherited, since a subclass may have changed the compiled rules.
    own: Any = vars(type(env)).get("plain_step")
    return functools.partial(own, _Numbers(env)) if own else None


class _Numbers:
    """A task's attributes, each read once: those of an Equinox module are slow."""

    def __init__(self, env: Environment):
        self._env = env

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked for by copy and pickle, before there is a task
            raise AttributeError(name)
        value = getattr(self._env, name)
        setattr(self, name, value)
        return value


def one_hot(size: int, *places: Any) -> Float[np.ndarray, " size"]:
    """Return a row with ones at some places."""
    row = np.zeros(size, np.float32)
    for place in places:
        row[place] = 1.0
    return row


def answer(right: Any, scale: int) -> float:
    """Return the reward of an answer, 1/scale or -1/scale."""
    return 1 / scale if right else -1 / scale


def marked(cells: np.ndarray, place: Any) -> np.ndarray:
    """Return a copy of a board with one cell marked."""
    cells = cells.copy()
    cells[place] = True
    return cells
