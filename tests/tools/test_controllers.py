"""The good players of CartPole and Pendulum."""

import jax
import jax.numpy as jnp
import pytest

from freeproj.envs import make
from freeproj.envs.pendulum import PendulumState
from players.controllers import balance_returns, cost_to_go, swing_up_returns


def test_seeing_positions_is_enough_to_balance_for_ever(getkey):
    returns = balance_returns(getkey(), make("StatelessCartPole"), 200)
    assert returns.min() == pytest.approx(1.0, abs=1e-5)


def test_noise_makes_balancing_harder_but_not_hopeless(getkey):
    returns = balance_returns(getkey(), make("NoisyStatelessCartPole"), 400)
    assert 0.85 < returns.mean() < 1


def test_planning_swings_the_pendulum_up(getkey):
    plan = cost_to_go(100, n_angles=61, n_speeds=61, n_torques=9)
    returns = swing_up_returns(getkey(), make("StatelessPendulumHard"), plan, 400)
    assert returns.mean() > 0.8  # the finest grid reaches 0.83, blind policies 0.27


def test_a_plan_with_one_step_to_go_saves_torque():
    plan = cost_to_go(2, n_angles=21, n_speeds=21, n_torques=5)
    state = PendulumState(jnp.float32(1), jnp.float32(0), jnp.int32(0))
    assert float(plan.best_torque(state, jnp.array(0))) == 0
    assert (jax.tree.leaves(plan)[0][0] == 0).all()
