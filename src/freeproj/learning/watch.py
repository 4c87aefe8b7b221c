"""One episode of an agent, step by step, for people.

`play_episode` yields frames of numbers and texts; `report.animation` draws them.
"""

from collections.abc import Iterator
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float, PyTree

from freeproj.agents import ActorCritic
from freeproj.envs import Environment
from freeproj.learning.rollout import play_step, start_rollout
from freeproj.meta.episodes import MetaEnv

__all__ = ["Frame", "play_episode"]


class Frame(NamedTuple):
    """A step of an episode: the situation, the action taken in it, and its reward."""

    env: Environment
    state: PyTree  # of the task
    seen: Float[np.ndarray, " d_in"]  # the observation as the agent sees it
    action: str
    reward: float
    trial: int  # from 0
    n_trials: int
    trial_ended: bool
    returns: tuple[float, ...]  # of each trial begun so far, with this reward

    @property
    def task(self) -> str:
        """The task drawn as text, as a player may know it."""
        return self.env.render(self.state)

    @property
    def text(self) -> str:
        """The frame as lines of text."""
        where = f"trial {self.trial + 1}/{self.n_trials}"
        earned = f"return {self.returns[-1]:+.3f}"
        lines = [self.task, f"{self.action}  {self.reward:+.3f}  {where}  {earned}"]
        if self.trial_ended:
            lines.append(f"--- trial {self.trial + 1} ended: {self.returns[-1]:+.3f}")
        return "\n".join(lines)


def play_episode(agent: ActorCritic, env: MetaEnv, seed: int = 0) -> Iterator[Frame]:
    """Play one episode with sampled actions; yield a frame for each step."""
    key_params, key_start, key_play = jax.random.split(jax.random.key(seed), 3)
    params = env.draw_params(key_params)
    start = jax.jit(start_rollout, static_argnums=(1, 4))
    step = jax.jit(play_step, static_argnums=2)
    state = start(key_start, env, params, agent, 1)
    index = int(state.episodes.task[0])
    task, returns = env.tasks[index], [0.0]
    for number in range(env.max_steps):
        key_noise, key_env = jax.random.split(jax.random.fold_in(key_play, number))
        noise, before = agent.noise(key_noise, (1,)), state
        state, happened, info = step(key_env, noise, env, params, agent, before)
        reward, ended = float(happened.reward[0]), bool(info["trial_ended"][0])
        returns[-1] += reward
        shown = jax.tree.map(lambda leaf: leaf[0], before.episodes.current[index])
        seen = np.asarray(before.inputs[0, env.layout["observation"]])
        action, trial = np.asarray(happened.action[0]), int(info["trial"][0])
        did = _named(task, action), reward, trial, env.n_trials, ended
        yield Frame(task, shown, seen, *did, returns=tuple(returns))
        if happened.done[0]:
            return
        returns += [0.0] if ended else []


def _named(task: Environment, action: np.ndarray) -> str:
    names = task.action_names
    if names and action.ndim == 0 and int(action) < len(names):
        return names[int(action)]
    return str(np.round(action, 2))
