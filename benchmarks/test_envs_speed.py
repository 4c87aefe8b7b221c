"""Steps per second of the bare tasks, against POPGym's Python loop, in one run.

Random actions, drawn beforehand on both sides. A trial that ends is followed by another
one: in POPGym by its `reset`, in ours from the same start, as in the meta-environment;
the time to draw new starts is printed beside. Minima over repeats.

    python -m pytest benchmarks/test_envs_speed.py -n 0 -s
"""

import warnings

import jax
import jax.numpy as jnp
import pytest
from timing import best, say

from freeproj.envs import REGISTRY
from random_play import draw_actions, draw_keys

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import gymnasium
    import popgym.envs  # noqa: F401

TARGET = 20
N_STEPS = 500
N_POPGYM_STEPS = 3000


@pytest.mark.parametrize("family", REGISTRY)
def test_steps_per_second(family):
    env = REGISTRY[family].make()
    theirs = popgym_rate(family, env)
    known = "needs mazelib" if theirs is None else f"{theirs:,.0f} steps/s"
    print(f"\n{family}: popgym {known}")
    for n_envs in (64, 1024):
        rate, reset = our_rates(env, n_envs)
        line = f"  {n_envs:>4} environments: {rate / 1e6:6.2f} M steps/s"
        print(f"{line}; reset {1e6 / reset:.2f} us", end="")
        if theirs is not None:
            what = f"{family}, {n_envs} environments, steps over popgym's"
            say(what, rate / theirs, "x", at_least=TARGET)


def our_rates(env, n_envs):
    """Steps and resets per second of a batch."""
    step = jax.vmap(env.step, in_axes=(0, 0, 0, None))
    params = env.default_params

    @jax.jit
    def reset(keys):
        return jax.vmap(lambda key: env.reset(key, params))(keys)[1]

    @jax.jit
    def roll(start, keys, actions):
        def advance(state, key_and_action):
            obs, state, reward, terminated, truncated, _ = step(
                key_and_action[0], state, key_and_action[1], params
            )
            ended = terminated | truncated
            return jax.tree.map(pick(ended), start, state), (obs.sum(), reward.sum())

        return jax.lax.scan(advance, start, (keys, actions))

    keys = draw_keys((N_STEPS, n_envs))
    actions = jnp.asarray(draw_actions(env, N_STEPS, n_envs))
    start = reset(keys[0])
    seconds = best(roll, start, keys, actions, repeats=5)
    seconds_reset = best(reset, keys[0], repeats=5)
    return N_STEPS * n_envs / seconds, n_envs / seconds_reset


def pick(flags):
    """A function that takes the first of two batches where a flag is set."""

    def where(first, second):
        shape = flags.shape + (1,) * (second.ndim - 1)
        return jnp.where(flags.reshape(shape), first, second)

    return where


def popgym_rate(family, env):
    """Steps per second of POPGym's loop; None for its mazes without mazelib."""
    spec = f"popgym-{REGISTRY[family].popgym_name}Easy-v0"
    if spec not in gymnasium.registry:
        return None
    oracle = gymnasium.make(spec, disable_env_checker=True).unwrapped
    actions = draw_actions(env, 1, N_POPGYM_STEPS)[0]
    if hasattr(oracle.action_space, "nvec"):
        actions = [divmod(int(action), env.side) for action in actions]
    oracle.reset(seed=0)

    def loop():
        for action in actions:
            _, _, terminated, truncated, _ = oracle.step(action)
            if terminated or truncated:
                oracle.reset()

    return N_POPGYM_STEPS / best(loop, repeats=5)
