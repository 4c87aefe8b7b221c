"""The conditions of a certificate, and the episodes that are played under each.

Episode i starts from the same states, with the same noise, under every condition, so
that conditions are compared episode by episode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from freeproj.adapters.certify.arenas import Arena
from freeproj.adapters.certify.players import Player
from freeproj.adapters.numpy_core import haar
from freeproj.envs import Box, Discrete

__all__ = ["CONDITIONS", "Episodes", "play_all"]

# What an agent is played under, and what it sees there.
CONDITIONS = {
    "plain": "the observation itself",
    "trained": "projections of its training",
    "random": "an unseen random projection in each episode",
    "minus": "the observation with its sign turned",
    "blanked": "zeros instead of the observation",
    "relabelled": "plain, actions in another order",
}
_SIGNS = {"minus": -1.0, "blanked": 0.0}  # of the plain observation

_Returns = Float[np.ndarray, "episodes trials"]
_Numbers = Int[np.ndarray, " copies"]


class Episodes(NamedTuple):
    """Returns by condition: a row for each episode, a column for each trial.

    `random` is played longer than the others: `beyond` has the trials after the
    horizon.
    """

    returns: dict[str, _Returns]
    beyond: _Returns


class _Plan(NamedTuple):
    """What all conditions share."""

    n_episodes: int
    n_trials: int
    same_start: bool
    seed: int


def play_all(
    player: Player,
    arena: Arena,
    n_episodes: int,
    n_trials: int,
    same_start: bool,
    seed: int,
    report: Callable[[str], None] | None = None,
) -> Episodes:
    """Play all conditions; `report` is told the name of each before it is played."""
    if player.input_dim < arena.obs_dim:
        raise ValueError(
            f"The policy sees {player.input_dim} entries, fewer than the "
            f"{arena.obs_dim} of {arena.name}: no projection keeps them all."
        )
    returns = {}
    for name in CONDITIONS:
        if name == "trained" and not player.habits.has_words:
            continue
        if report is not None:
            report(name)
        longer = 2 if name == "random" else 1  # twice the horizon
        plan = _Plan(n_episodes, longer * n_trials, same_start, seed)
        returns[name] = _play(player, arena, name, plan)
    beyond = returns["random"][:, n_trials:]
    return Episodes(returns | {"random": returns["random"][:, :n_trials]}, beyond)


def _play(player: Player, arena: Arena, name: str, plan: _Plan) -> _Returns:
    """Play a condition, as many episodes at a time as there are copies of the task."""
    matrices, found = _matrices(player, arena.obs_dim, name, plan), []
    for first in range(0, plan.n_episodes, arena.n_copies):
        chosen = np.arange(first, first + arena.n_copies) % plan.n_episodes
        part = None if matrices is None else matrices[chosen]
        player.begin(len(chosen), part, plan.seed + int(chosen[0]))
        found.append(_play_copies(player, arena, name == "relabelled", chosen, plan))
    return np.concatenate(found)[: plan.n_episodes]


def _matrices(
    player: Player, obs_dim: int, name: str, plan: _Plan
) -> Float[np.ndarray, "episodes d_in d_obs"] | None:
    """Return the projection of each episode; None: as in the agent's training."""
    plain, habits = player.plain(obs_dim), player.habits
    if name == "trained":
        return None
    if name == "random":
        rng = np.random.default_rng([plan.seed, 1])
        drawn = haar(rng, plan.n_episodes, habits.dim or player.input_dim)
        corner = drawn[:, : player.input_dim, :obs_dim]
        return (habits.scale * corner).astype(np.float32)
    shown = np.float32(_SIGNS.get(name, 1.0)) * plain
    return np.broadcast_to(shown, (plan.n_episodes, *plain.shape))


def _play_copies(
    player: Player, arena: Arena, relabelled: bool, numbers: _Numbers, plan: _Plan
) -> _Returns:
    """Play one episode in every copy of the task; return what each trial earned."""
    n = len(numbers)
    returns, trial = np.zeros((n, plan.n_trials)), np.zeros(n, int)
    relabel = _relabelling(arena.action_space, numbers, plan.seed)
    rewards, ended = np.zeros(n), np.zeros(n, bool)
    shown = arena.begin(*_seeds(numbers, trial, plan), np.ones(n, bool))
    while (active := trial < plan.n_trials).any():
        actions = player.act(shown, rewards, ended)
        actions = relabel(actions) if relabelled else actions
        shown, rewards, ended = arena.step(actions, active)
        returns[active, trial[active]] += rewards[active]
        trial = trial + ended
        again = ended & (trial < plan.n_trials)
        if again.any():
            shown = arena.begin(*_seeds(numbers, trial, plan), again)
    return returns


def _seeds(
    numbers: _Numbers, trial: _Numbers, plan: _Plan
) -> tuple[_Numbers, _Numbers]:
    """Return the seeds of the start and of the noise of each copy's trial."""
    mixed = np.random.SeedSequence([plan.seed, 2]).generate_state(1)[0]
    base = (int(mixed) + 1_000_003 * numbers) % 2**30
    return (base if plan.same_start else base + trial), base + trial


def _relabelling(
    space: Box | Discrete, numbers: _Numbers, seed: int
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a map of actions: another order in each episode, or low + high - a."""
    if isinstance(space, Box):
        middle = np.add(space.low, space.high)
        return lambda actions: (middle - actions).astype(np.float32)
    usual, orders = np.arange(space.n), []
    for number in numbers:
        order = np.random.default_rng([seed, 3, int(number)]).permutation(space.n)
        orders.append(np.roll(usual, 1) if (order == usual).all() else order)
    table = np.stack(orders)
    return lambda actions: table[np.arange(len(table)), actions]
