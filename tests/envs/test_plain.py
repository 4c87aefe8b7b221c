"""Plain steps against the compiled ones."""

import jax
import numpy as np
import pytest

from freeproj.envs import REGISTRY, HigherLower, make
from freeproj.envs.base import plain_task
from random_play import draw_actions, quick_jit

NAMES = [*REGISTRY, "CountRecallHard", "ConcentrationHard", "popgym-RepeatPrevious-v0"]
LONGEST = 250  # steps; all trials but those in mazes end before


@pytest.mark.parametrize("name", NAMES)
def test_plain_tasks_equal_the_compiled_ones_from_the_same_state(name):
    env, params = make(name), make(name).default_params
    plain, step = plain_task(env), quick_jit(env.step)
    keys = jax.random.split(jax.random.key(0), LONGEST + 1)
    _, state = quick_jit(env.reset)(keys[0], params)
    for key, action in zip(keys[1:], draw_actions(env, 1, LONGEST)[0], strict=True):
        noise = env.draw_noise(key)
        noise = noise if noise is None else noise.tolist()
        obs, after, *outcome = plain(as_plain(state), action, noise)
        expected, state, *others = step(key, state, action, params)
        assert obs.dtype == np.float32
        np.testing.assert_allclose(obs, expected, atol=2e-6, rtol=2e-6)
        for ours, theirs in zip(after, state, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-6, rtol=2e-6)
        assert outcome[0] == pytest.approx(float(others[0]), abs=1e-6)
        assert outcome[1:] == [bool(others[1]), bool(others[2])]
        assert all(isinstance(flag, bool) for flag in outcome[1:])
        if any(outcome[1:]):
            break


def test_a_task_with_rules_of_its_own_has_no_plain_task():
    class Odd(HigherLower):
        pass

    assert plain_task(Odd()) is None


def as_plain(state):
    """The state with Python numbers instead of arrays without axes."""
    leaves = [np.asarray(leaf) for leaf in state]
    return type(state)(*(leaf if leaf.ndim else leaf.item() for leaf in leaves))
