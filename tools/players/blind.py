"""Policies that look at nothing, and what they earn.

A blind policy is a row of actions, one for each step of a trial; the uniform policy
draws such a row anew for each trial. What they earn is what no memory is needed for:
a learning curve has to leave it behind. Which row is best is searched for: all rows of
a short period are played, and the best of them once more on more, fresh starts.
"""

from __future__ import annotations

import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freeproj.envs import (
    Battleship,
    Concentration,
    CountRecall,
    Discrete,
    Environment,
    MultiarmedBandit,
)
from freeproj.envs.baselines import Estimate
from players.counts import likeliest_counts

__all__ = [
    "blind_policies",
    "blind_returns",
    "estimate_mean",
    "estimate_row",
    "periodic_rows",
    "row_returns",
]

_BATCH = 2**13  # trials at a time: some hundred MiB of actions at most
_LONGEST = 8  # period of the rows that are searched
_MOST_ROWS = 2**8
_ROUNDS = ((32, 1), (3, 8))  # rows kept in each round, and how much longer it plays
_ALIKE = (Battleship, Concentration, MultiarmedBandit)  # one constant stands for all
_SWINGS = range(1, 41)  # half periods, in steps


def blind_policies(env: Environment) -> dict[str, Array]:
    """Return the simple blind policies of a task, each a row of `max_steps` actions.

    Discrete: every constant (one where the actions are alike), all actions in turn (for
    two actions: alternation), and in Count Recall the likeliest answers.
    Continuous: the constants of a coarse grid.
    """
    space, time = env.action_space, np.arange(env.max_steps)
    if isinstance(space, Discrete):
        names = env.action_names
        constants = names[:1] if isinstance(env, _ALIKE) else names
        rows = {f"always {name}": 0 * time + i for i, name in enumerate(constants)}
        turn = " and ".join(names) if len(names) == 2 else "all"
        rows[f"{turn} in turn"] = time % space.n
        if isinstance(env, CountRecall):
            rows["the likeliest count"] = likeliest_counts(env)
        return {name: jnp.asarray(row, jnp.int32) for name, row in rows.items()}
    points = _grid(space)
    rows = {f"always {_label(point)}": 0 * time[:, None] + point for point in points}
    return {name: jnp.asarray(row, jnp.float32) for name, row in rows.items()}


def periodic_rows(env: Environment) -> dict[str, Array]:
    """Return the rows that are searched.

    Discrete: all rows of a period up to 8, as long as there are at most 256 of that
    period. Continuous: swings between the bounds with half periods of 1 to 40 steps.
    """
    space, time = env.action_space, np.arange(env.max_steps)
    if not isinstance(space, Discrete):
        low, *_, high = _grid(space)
        return {
            f"between the bounds every {h} steps": jnp.asarray(
                np.where(time[:, None] // h % 2, low, high), jnp.float32
            )
            for h in _SWINGS
        }
    rows = {}
    for period in range(1, _LONGEST + 1):
        if space.n**period > _MOST_ROWS:
            break
        for word in itertools.product(range(space.n), repeat=period):
            row = np.resize(word, env.max_steps).astype(np.int32)
            name = " ".join(env.action_names[action] for action in word)
            rows.setdefault(row.tobytes(), (f"{name}, repeated", jnp.asarray(row)))
    return dict(rows.values())


def blind_returns(
    key: PRNGKeyArray, env: Environment, n_trials: int, n_search: int = 256
) -> dict[str, Estimate]:
    """Return what `uniform`, `blind_policies` and the best searched row earn.

    That row is left out where it is not better than the simple policies.
    All policies meet the same starts, so that their differences are sharper than their
    standard errors say.
    """
    key_search, key_play = jax.random.split(key)
    rows = _best_rows(key_search, env, n_search)
    policies = blind_policies(env)
    shown = policies | rows
    keys = jax.random.split(key_play, math.ceil(n_trials / _BATCH))
    table = jnp.stack(list(shown.values()))
    batches = [_returns(key, env, table, min(_BATCH, n_trials)) for key in keys]
    returns = np.concatenate(batches, axis=1)[:, :n_trials].astype(float)
    # Two uniform trials of one start: what they share, unless it is noise.
    first, second = returns[:2]
    shared = float(np.cov(first, second)[0, 1])
    noise = 3 * first.var() / math.sqrt(n_trials)
    rest = {name: estimate_row(x) for name, x in zip(shown, returns[2:], strict=True)}
    uniform = estimate_mean(first, math.sqrt(shared) if shared > noise else 0.0)
    kept = {name: rest[name] for name in policies}
    winner = max(rows, key=lambda name: rest[name].mean)
    if rest[winner].mean > max(e.mean + 4 * e.standard_error for e in kept.values()):
        kept[winner] = rest[winner]
    return {"uniform": uniform, **_without_copies(kept, shown)}


def row_returns(
    key: PRNGKeyArray, env: Environment, rows: list[Array], n_starts: int
) -> Float[np.ndarray, "rows starts"]:
    """Return what each row earns from each of the same starts."""
    keys = jax.random.split(key, n_starts)
    play = jax.vmap(_trial_return, in_axes=(0, None, None))
    run = eqx.filter_jit(
        lambda rows: jax.lax.map(lambda row: play(keys, env, row), rows)
    )
    return np.asarray(run(jnp.stack(rows)), float)


def estimate_mean(
    values: Float[Array | np.ndarray, " n"], start_std: float = 0.0
) -> Estimate:
    """Return the mean and its standard error, in float64."""
    values = np.asarray(values, dtype=np.float64)
    error = values.std(ddof=1) / math.sqrt(len(values))
    return Estimate(float(values.mean()), float(error), len(values), start_std)


def estimate_row(values: Float[Array | np.ndarray, " n"]) -> Estimate:
    """Return the same for a row of actions: its return depends on the start alone."""
    found = estimate_mean(values)
    return Estimate(found.mean, found.standard_error, found.n_trials, found.std)


def _best_rows(key: PRNGKeyArray, env: Environment, n_starts: int) -> dict[str, Array]:
    """Return the best few rows of the search, in two rounds."""
    rows = periodic_rows(env)
    for key_round, (n_kept, times) in zip(jax.random.split(key), _ROUNDS, strict=True):
        found = row_returns(key_round, env, list(rows.values()), times * n_starts)
        best = np.argsort(-found.mean(axis=1))[:n_kept]
        rows = {list(rows)[i]: list(rows.values())[i] for i in best}
    return rows


def _without_copies(
    found: dict[str, Estimate], rows: dict[str, Array]
) -> dict[str, Estimate]:
    """Drop names whose row stands there already, such as `left right, repeated`."""
    kept: dict[bytes, str] = {}
    for name in found:
        kept.setdefault(np.asarray(rows[name]).tobytes(), name)
    return {name: found[name] for name in kept.values()}


def _grid(space) -> list[np.ndarray]:
    centre = (np.array(space.high) + space.low) / 2
    radius = np.array(space.high) - centre
    return [centre + part * radius for part in (-1, -0.5, 0, 0.5, 1)]


def _label(vector: np.ndarray) -> str:
    return ", ".join(f"{entry:g}" for entry in vector)


@eqx.filter_jit
def _returns(
    key: PRNGKeyArray, env: Environment, policies: Array, n_trials: int
) -> Float[Array, "policies_and_two_uniform n_trials"]:
    key_uniform, key_trials = jax.random.split(key)
    keys = jax.random.split(key_trials, n_trials)
    batch = jax.vmap(_trial_return, in_axes=(0, None, None))
    blind = jax.lax.map(lambda actions: batch(keys, env, actions), policies)

    draws = jax.vmap(jax.vmap(env.action_space.sample))
    play = jax.vmap(_trial_return, in_axes=(0, None, 0))
    shape = (n_trials, env.max_steps)
    uniform = jax.lax.map(
        lambda key: play(keys, env, draws(jax.random.split(key, shape))),
        jax.random.split(key_uniform),
    )
    return jnp.concatenate([uniform, blind])


def _trial_return(
    key: PRNGKeyArray, env: Environment, actions: Array
) -> Float[Array, ""]:
    """Play one trial and add up its rewards."""
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
