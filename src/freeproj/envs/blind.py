"""Policies that look at nothing, and what they earn.

A blind policy is a row of actions, one for each step of a trial; the uniform policy
draws such a row anew for each trial. What they earn is what no memory is needed for:
a learning curve has to leave it behind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freeproj.envs.base import Discrete, Environment

__all__ = ["Estimate", "blind_policies", "blind_returns", "estimate_mean"]

_BATCH = 2**13  # trials at a time: some hundred MiB of actions at most
_SWING = 16  # steps; half the period of the pendulum's small oscillations


@dataclass(frozen=True)
class Estimate:
    """A mean over independent trials and its standard error."""

    mean: float
    standard_error: float
    n_trials: int


def blind_policies(env: Environment) -> dict[str, Array]:
    """Returns the simple blind policies of a task, each a row of `max_steps` actions.

    Discrete: every constant, and all actions in turn (for two actions: alternation).
    Continuous: the constants of a coarse grid, and a swing between the bounds.
    """
    space, time = env.action_space, np.arange(env.max_steps)
    if isinstance(space, Discrete):
        names = env.action_names
        rows = {f"always {name}": 0 * time + i for i, name in enumerate(names)}
        turn = " and ".join(names) if len(names) == 2 else "all"
        rows[f"{turn} in turn"] = time % space.n
        return {name: jnp.asarray(row, jnp.int32) for name, row in rows.items()}
    centre = (np.array(space.high) + space.low) / 2
    radius = np.array(space.high) - centre
    points = [centre + part * radius for part in (-1, -0.5, 0, 0.5, 1)]
    rows = {f"always {_label(point)}": 0 * time[:, None] + point for point in points}
    swing = np.where(time[:, None] // _SWING % 2, points[0], points[-1])
    rows[f"between the bounds every {_SWING} steps"] = swing
    return {name: jnp.asarray(row, jnp.float32) for name, row in rows.items()}


def blind_returns(
    key: PRNGKeyArray, env: Environment, n_trials: int
) -> dict[str, Estimate]:
    """Returns what `uniform` and each of `blind_policies` earn in a trial.

    All policies meet the same starts, so that their differences are sharper than their
    standard errors say.
    """
    policies = blind_policies(env)
    rows = jnp.stack(list(policies.values()))
    keys = jax.random.split(key, math.ceil(n_trials / _BATCH))
    batches = [_returns(key, env, rows, min(_BATCH, n_trials)) for key in keys]
    returns = np.concatenate(batches, axis=1)[:, :n_trials]
    names = ("uniform", *policies)
    return {name: estimate_mean(row) for name, row in zip(names, returns, strict=True)}


def estimate_mean(values: Float[Array | np.ndarray, " n"]) -> Estimate:
    """Returns the mean and its standard error, in float64."""
    values = np.asarray(values, dtype=np.float64)
    error = values.std(ddof=1) / math.sqrt(len(values))
    return Estimate(float(values.mean()), float(error), len(values))


def _label(vector: np.ndarray) -> str:
    return ", ".join(f"{entry:g}" for entry in vector)


@eqx.filter_jit
def _returns(
    key: PRNGKeyArray, env: Environment, policies: Array, n_trials: int
) -> Float[Array, "policies_and_uniform n_trials"]:
    key_uniform, key_trials = jax.random.split(key)
    keys = jax.random.split(key_trials, n_trials)
    batch = jax.vmap(_trial_return, in_axes=(0, None, None))
    blind = jax.lax.map(lambda actions: batch(keys, env, actions), policies)

    shape = (n_trials, env.max_steps)
    draws = jax.vmap(jax.vmap(env.action_space.sample))
    actions = draws(jax.random.split(key_uniform, shape))
    uniform = jax.vmap(_trial_return, in_axes=(0, None, 0))(keys, env, actions)
    return jnp.concatenate([uniform[None], blind])


def _trial_return(
    key: PRNGKeyArray, env: Environment, actions: Array
) -> Float[Array, ""]:
    """Plays one trial and adds up its rewards."""
    key_reset, key_steps = jax.random.split(key)
    params = env.default_params
    _, state = env.reset(key_reset, params)

    def advance(carry, key_and_action):
        state, ended = carry
        _, state, reward, terminated, truncated, _ = env.step(
            key_and_action[0], state, key_and_action[1], params
        )
        return (state, ended | terminated | truncated), jnp.where(ended, 0.0, reward)

    keys = jax.random.split(key_steps, env.max_steps)
    start = (state, jnp.zeros((), bool))
    return jax.lax.scan(advance, start, (keys, actions))[1].sum()
