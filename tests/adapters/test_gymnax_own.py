"""Our tasks in gymnax's interface; these tests need no gymnax."""

import functools
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.adapters.gymnax import GymnaxEnv, make
from freeproj.envs import REGISTRY
from freeproj.envs import make as make_task


@pytest.mark.parametrize("family", REGISTRY)
def test_every_task_is_there_under_its_full_name(family):
    level = next(iter(REGISTRY[family].levels), "")
    env, params = make(f"{family}{level}")
    assert env.task == make_task(family)
    assert params.max_steps_in_episode == env.task.max_steps
    shape = jax.eval_shape(env.reset, jax.random.key(0), params)[0].shape
    assert shape == env.observation_space(params).shape


def test_popjyms_capitals_are_understood():
    assert make("MineSweeperEasy")[0].task == make_task("Minesweeper")
    assert make("MultiArmedBanditHard")[0].task == make_task("MultiarmedBanditHard")
    with pytest.raises(ValueError, match="Did you mean"):
        make("HigherLoweEasy")


def test_popgyms_repeat_previous_has_popgyms_id():
    assert make("RepeatPreviousEasy")[0].task.delay == 4
    assert make("popgym-RepeatPreviousEasy-v0")[0].task.delay == 3


def rollout(env, params, n_steps, n_envs):
    """Plays at random as purejaxrl's loops do."""
    key_reset, key_steps = jax.random.split(jax.random.key(0))
    reset = jax.vmap(env.reset, in_axes=(0, None))
    step = jax.vmap(env.step, in_axes=(0, 0, 0, None))
    sample = jax.vmap(env.action_space(params).sample)

    def advance(carry, key):
        keys = jax.random.split(key, n_envs)
        obs, state, *outcome = step(keys, carry, sample(keys), params)
        return state, (obs, outcome)

    _, state = reset(jax.random.split(key_reset, n_envs), params)
    return jax.lax.scan(advance, state, jax.random.split(key_steps, n_steps))[1]


def test_a_purejaxrl_loop_sees_trials_begin_again():
    env, params = make("MinesweeperEasy", "1.0")
    run = jax.jit(functools.partial(rollout, env, params, 60, 8))
    obs, (_, terminated, truncated, info) = run()
    done = np.asarray(terminated | truncated)
    assert done.sum() > 20
    first = np.array([1, 0, 0], np.float32)  # no count before the first click
    assert (np.asarray(obs)[done] == first).all()
    assert (np.asarray(info["final_observation"])[done] != first).any()


def test_callers_of_the_older_gymnax_get_five_values():
    env, params = make("StatelessPendulumHard", generation="0.0")
    _, state = env.reset(jax.random.key(0), params)
    for _ in range(100):
        _, state, reward, done, info = env.step(jax.random.key(1), state, 0.5, params)
    assert done
    assert reward.shape == ()
    assert float(info["discount"]) == 1.0  # out of time is no end
    assert int(state.time) == 0


def test_params_may_be_left_out():
    env, _ = make("CountRecallEasy", "1.0")
    obs, state = env.reset(jax.random.key(0))
    assert obs.shape == (4,)
    assert len(env.step(jax.random.key(1), state, jnp.array(1))) == 6


def test_another_generation_is_refused():
    with pytest.raises(ValueError, match=r"got '2\.0'"):
        GymnaxEnv(make_task("HigherLower"), "2.0")


def test_gymnax_need_not_be_installed():
    code = """
import importlib.util, sys
sys.modules["gymnax"] = None
import jax
from freeproj.adapters.gymnax import make
env, params = make("CountRecallEasy")
print(env.reset(jax.random.key(0), params)[0].shape, env.action_space(params).n)
"""
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "(4,) 27"
