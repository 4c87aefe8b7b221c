"""One episode of an agent, step by step, for people to look at.

`play_episode` yields frames: numbers and words, drawn as text here and as pictures in
`report.animation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from freeproj.agents import ActorCritic
from freeproj.envs import Environment
from freeproj.metaenv import MetaEnv
from freeproj.rollout import RolloutState, play_step, start_rollout

__all__ = ["Frame", "play_episode", "watch_episode"]


class Frame(NamedTuple):
    """A moment of an episode: what there is, what was done, what it earned so far.

    `action` is empty at the start. `returns` has one entry for each trial begun, the
    last one of the trial under way.
    """

    task: str  # drawn as text, as a player may know it
    seen: Float[np.ndarray, " d_in"]  # the observation as the agent sees it
    action: str
    reward: float
    trial: int  # the one in which the action was taken, from 0
    n_trials: int
    trial_ended: bool
    returns: tuple[float, ...]

    @property
    def text(self) -> str:
        """The frame as lines of text."""
        lines = [self.task]
        if self.trial_ended:
            earned = self.returns[self.trial]
            lines.insert(0, f"--- trial {self.trial + 1} ended: {earned:.3f}")
        if self.action:
            where = f"trial {self.trial + 1}/{self.n_trials}"
            earned = f"return {sum(self.returns):.3f}"
            lines.insert(0, f"{self.action}  {self.reward:+.3f}  {where}  {earned}")
        return "\n".join(lines)


def watch_episode(agent: ActorCritic, env: MetaEnv, seed: int = 0) -> Iterator[str]:
    """Yield what each step looks like as text, until the episode ends."""
    return (frame.text for frame in play_episode(agent, env, seed))


def play_episode(agent: ActorCritic, env: MetaEnv, seed: int = 0) -> Iterator[Frame]:
    """Play one episode, actions sampled; the last frame shows how it ended."""
    key_params, key_start, key_play = jax.random.split(jax.random.key(seed), 3)
    params = env.draw_params(key_params)
    state = jax.jit(start_rollout, static_argnums=(1, 4))(
        key_start, env, params, agent, 1
    )
    step = jax.jit(play_step, static_argnums=2)
    index = int(state.episodes.task[0])
    task, seen = env.tasks[index], env.layout["observation"]
    returns = [0.0]
    frame = Frame(
        task=_drawn(task, state, index),
        seen=np.asarray(state.inputs[0, seen]),
        action="",
        reward=0.0,
        trial=0,
        n_trials=env.n_trials,
        trial_ended=False,
        returns=(0.0,),
    )
    yield frame
    for number in range(env.max_steps):
        key_noise, key_env = jax.random.split(jax.random.fold_in(key_play, number))
        noise = agent.noise(key_noise, (1,))
        state, happened, info = step(key_env, noise, env, params, agent, state)
        over, ended = bool(happened.done[0]), bool(info["trial_ended"][0])
        returns[-1] += float(happened.reward[0])
        yield frame._replace(
            task="" if over else _drawn(task, state, index),
            seen=np.asarray(state.inputs[0, seen]),
            action=_named(task, np.asarray(happened.action[0])),
            reward=float(happened.reward[0]),
            trial=int(info["trial"][0]),
            trial_ended=ended,
            returns=tuple(returns),
        )
        if over:
            return
        if ended:
            returns.append(0.0)


def _drawn(task: Environment, state: RolloutState, index: int) -> str:
    own = state.episodes.current[index]
    return task.render(jax.tree.map(lambda leaf: leaf[0], own))


def _named(task: Environment, action: np.ndarray) -> str:
    names = task.action_names
    if names and action.ndim == 0 and int(action) < len(names):
        return names[int(action)]
    return str(np.round(action, 2))
