"""The conditions of a certificate, and the episodes that are played under each.

Episode i starts from the same states, with the same noise, under every condition, so
that conditions are compared episode by episode.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from freeproj.adapters.certify.arenas import Arena
from freeproj.adapters.numpy_core import haar
from freeproj.envs import Box, Discrete

__all__ = ["CONDITIONS", "Plan", "Returns", "play_all"]

# What an agent is played under, and what it sees there.
CONDITIONS = {
    "plain": "the observation itself",
    "trained": "projections of its training",
    "random": "an unseen random projection in each episode",
    "minus": "the observation with its sign turned",
    "blanked": "zeros instead of the observation",
    "relabelled": "plain, actions in another order",
    "beyond": "unseen projections, after the horizon",
}
_SIGNS = {"minus": -1.0, "blanked": 0.0}  # of the plain observation

Returns = Float[np.ndarray, "episodes trials"]
_Numbers = Int[np.ndarray, " copies"]


class Plan(NamedTuple):
    """What all conditions share."""

    n_episodes: int
    n_trials: int
    same_start: bool
    seed: int


def play_all(player: Any, arena: Arena, plan: Plan) -> dict[str, Returns]:
    """Play all conditions; return what each trial earned under each."""
    if player.input_dim < arena.obs_dim:
        raise ValueError(
            f"The policy sees {player.input_dim} entries, fewer than the "
            f"{arena.obs_dim} of {arena.name}: no projection keeps them all."
        )
    left_out = {"beyond"} if player.has_words else {"beyond", "trained"}
    longer = plan._replace(n_trials=2 * plan.n_trials)  # twice the horizon
    returns = {
        name: _play(player, arena, name, longer if name == "random" else plan)
        for name in CONDITIONS
        if name not in left_out
    }
    returns["random"], returns["beyond"] = np.split(returns["random"], 2, axis=1)
    return returns


def _play(player: Any, arena: Arena, name: str, plan: Plan) -> Returns:
    """Play a condition, as many episodes at a time as there are copies of the task."""
    matrices, found = _matrices(player, arena.obs_dim, name, plan), []
    for first in range(0, plan.n_episodes, arena.n_copies):
        chosen = np.arange(first, first + arena.n_copies) % plan.n_episodes
        part = None if matrices is None else matrices[chosen]
        player.begin(len(chosen), part, plan.seed + int(chosen[0]))
        found.append(_play_copies(player, arena, name == "relabelled", chosen, plan))
    return np.concatenate(found)[: plan.n_episodes]


def _matrices(
    player: Any, obs_dim: int, name: str, plan: Plan
) -> Float[np.ndarray, "episodes d_in d_obs"] | None:
    """Return the projection of each episode; None: as in the agent's training."""
    plain = player.plain(obs_dim)
    if name == "trained":
        return None
    if name == "random":
        rng = np.random.default_rng([plan.seed, 1])
        drawn = haar(rng, plan.n_episodes, player.dim)
        corner = drawn[:, : player.input_dim, :obs_dim]
        return (player.scale * corner).astype(np.float32)
    shown = np.float32(_SIGNS.get(name, 1.0)) * plain
    return np.broadcast_to(shown, (plan.n_episodes, *plain.shape))


def _play_copies(
    player: Any, arena: Arena, relabelled: bool, numbers: _Numbers, plan: Plan
) -> Returns:
    """Play one episode in every copy of the task; return what each trial earned."""
    n = len(numbers)
    returns, trial = np.zeros((n, plan.n_trials)), np.zeros(n, int)
    relabel = _relabelling(arena.action_space, numbers, plan.seed)
    rewards, ended = np.zeros(n), np.zeros(n, bool)
    shown = arena.begin(*_seeds(numbers, trial, plan), np.ones(n, bool))
    while (active := trial < plan.n_trials).any():
        actions = player.act(shown, rewards, ended)
        _check(actions, arena.action_space)
        actions = relabel(actions) if relabelled else actions
        shown, rewards, ended = arena.step(actions, active)
        returns[active, trial[active]] += rewards[active]
        trial = trial + ended
        again = ended & (trial < plan.n_trials)
        if again.any():
            shown = arena.begin(*_seeds(numbers, trial, plan), again)
    return returns


def _check(actions: np.ndarray, space: Box | Discrete) -> None:
    """Refuse what is no number of an action: JAX would clamp it silently."""
    if isinstance(space, Discrete):
        whole = actions.ndim == 1 and actions.dtype.kind in "biu"
        if not whole or actions.min() < 0 or actions.max() >= space.n:
            raise ValueError(
                f"The policy must return one integer in 0..{space.n - 1} for each "
                f"observation, got {actions[0].tolist()} for the first."
            )


def _seeds(numbers: _Numbers, trial: _Numbers, plan: Plan) -> tuple[_Numbers, _Numbers]:
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
