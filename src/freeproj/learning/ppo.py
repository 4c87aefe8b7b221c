"""The formulas of proximal policy optimisation, and nothing else.

Arrays are time-major, (time, batch). With rewards r_t, values V_t, episode ends
d_t ∈ {0, 1} and the ratio ρ_t = π(a_t) / π_old(a_t),

    δ_t = r_t + γ V_{t+1} (1 - d_t) - V_t,    A_t = δ_t + γ λ (1 - d_t) A_{t+1},
    policy loss = -mean min(ρ A, clip(ρ, 1 - ε, 1 + ε) A),
    value loss  = ½ mean max((V - R)², (V_old + clip(V - V_old, -ε, ε) - R)²),

where R = A + V_old and A is normalised in the policy loss only. (Appendix D.7 of the
paper.)
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

__all__ = ["advantages", "approximate_kl", "clip_fraction", "explained_variance"]
__all__ += ["normalize", "policy_loss", "value_loss"]

_Rollout = Float[Array, "time batch"]
_Steps = Float[Array, "*shape"]
_Scalar = Float[Array, ""]


def advantages(
    rewards: _Rollout,
    values: _Rollout,
    last_value: Float[Array, " batch"],
    dones: Bool[Array, "time batch"],
    discount: float,
    gae_lambda: float,
) -> _Rollout:
    """Return the generalised advantage estimates A_t.

    The end of an episode cuts the return; the end of a trial within an episode does
    not. To let an episode that only ran out of time keep its value, add `discount`
    times the value after its last step to that step's reward. `last_value` is that of
    the observation after the last step; `dones` marks the last steps of episodes.
    """
    ahead = discount * (1 - dones.astype(values.dtype))
    following = jnp.concatenate([values[1:], last_value[None]])
    deltas = rewards + ahead * following - values

    def step(advantage, now):
        delta, ahead = now
        advantage = delta + gae_lambda * ahead * advantage
        return advantage, advantage

    nothing = jnp.zeros_like(last_value)
    return jax.lax.scan(step, nothing, (deltas, ahead), reverse=True)[1]


def normalize(advantages: _Steps) -> _Steps:
    """Centre the advantages and divide by their spread; zeros if all are equal."""
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def policy_loss(
    log_prob: _Steps, old_log_prob: _Steps, advantages: _Steps, clip: float
) -> _Scalar:
    """Return -mean min(ρ A, clip(ρ, 1 - ε, 1 + ε) A)."""
    ratio = jnp.exp(log_prob - old_log_prob)
    clipped = jnp.clip(ratio, 1 - clip, 1 + clip)
    return -jnp.minimum(ratio * advantages, clipped * advantages).mean()


def value_loss(
    values: _Steps, old_values: _Steps, targets: _Steps, clip: float
) -> _Scalar:
    """Return ½ mean max((V - R)², (V_clipped - R)²)."""
    clipped = old_values + jnp.clip(values - old_values, -clip, clip)
    errors = jnp.maximum((values - targets) ** 2, (clipped - targets) ** 2)
    return 0.5 * errors.mean()


def approximate_kl(log_prob: _Steps, old_log_prob: _Steps) -> _Scalar:
    """Return mean(ρ - 1 - log ρ): unbiased for KL(π_old, π), and never negative."""
    log_ratio = log_prob - old_log_prob
    return jnp.mean(jnp.expm1(log_ratio) - log_ratio)


def clip_fraction(log_prob: _Steps, old_log_prob: _Steps, clip: float) -> _Scalar:
    """Return the share of steps whose ratio left [1 - ε, 1 + ε]."""
    ratio = jnp.exp(log_prob - old_log_prob)
    return jnp.mean((jnp.abs(ratio - 1) > clip).astype(ratio.dtype))


def explained_variance(values: _Steps, targets: _Steps) -> _Scalar:
    """Return 1 - Var(R - V) / Var(R); nan where R does not vary."""
    variance = targets.var()
    share = 1 - (targets - values).var() / jnp.where(variance > 0, variance, 1)
    return jnp.where(variance > 0, share, jnp.nan)
