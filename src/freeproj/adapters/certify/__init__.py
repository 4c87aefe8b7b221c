"""Does an agent adapt to projections it has never seen? A certificate for any policy.

    fp.certify(fp.load_agent("cartpole"))                # an agent of this package
    fp.certify(PPO.load("model"), "CartPole-v1")         # one trained elsewhere

The agent plays plain, under many unseen random projections, with its observation
negated and blanked, with relabelled actions, and beyond its training's horizon. `rule`
decides what may be said; `Certificate` has the table, and writes it as a card.
"""

from typing import Any

from threadpoolctl import threadpool_limits

from freeproj.adapters.certify.arenas import open_arena
from freeproj.adapters.certify.certificate import Certificate, certificate
from freeproj.adapters.certify.players import as_player
from freeproj.adapters.certify.playing import Plan, play_all
from freeproj.storage.checks import at_least

__all__ = ["FEWEST", "Certificate", "certify"]

FEWEST = 8  # episodes
_TRIALS = 4  # of an episode, for policies whose training is not known


def certify(
    policy: Any,
    env: Any = None,
    *,
    n_episodes: int = 64,
    n_trials: int = 0,
    same_start: bool | None = None,
    dim: int = 0,
    scale: float = 1.0,
    frame: int = 0,
    deterministic: bool = True,
    seed: int = 0,
    name: str = "",
) -> Certificate:
    """Play a policy under projections it has never seen, and say whether it adapts.

    The rule is that of `freeproj.adapters.certify.rule`.

    Args:
        policy: an agent from `load_agent` or `train`; a Stable-Baselines3 or
            sb3-contrib model; a torch module; or a function `act(observation, state)`
            that returns an action, or an action and the next state. The state is None
            at the start.
        env: a task or its name; a Gymnasium id, environment, or function that makes
            one. Agents of this package know their own.
        n_episodes: under each condition; as many unseen projections.
        n_trials: trials of an episode, over which memory is kept; 0: as in the agent's
            training, or 4. Unseen projections are played for twice as many.
        same_start: whether the trials of an episode start from one state.
        dim: the number of entries that the policy sees; 0: what it was trained on, or
            the size of the observation.
        scale: the factor by which projections stretch observations.
        frame: directions of a frame between the projection and the policy, which then
            sees `frame` + 1 numbers; 0: none.
        deterministic: take the likeliest action, for policies trained elsewhere.
        name: what to call the agent.
    """
    at_least(FEWEST, n_episodes=n_episodes)
    at_least(0, n_trials=n_trials, dim=dim, frame=frame)
    policy = getattr(policy, "loaded", policy)  # what `fp.train` returns
    env = getattr(policy, "own_task", None) if env is None else env
    if env is None:
        raise ValueError(
            "`env` (`--task`) must name the task that the policy is to play, such as "
            "CartPole-v1."
        )
    arena = open_arena(env, n_episodes)
    how = {"dim": dim, "scale": scale, "frame": frame, "deterministic": deterministic}
    player = as_player(policy, arena, env, **how)
    n_trials = n_trials or player.n_trials or _TRIALS
    same = player.same_start if same_start is None else same_start
    plan = Plan(n_episodes, n_trials, same, seed)
    with threadpool_limits(1):  # for small networks threads only wait for each other
        returns = play_all(player, arena, plan)
    return certificate(name or player.name, arena.name, player.input_dim, seed, returns)
