"""Blind policies: exact means where they are known."""

import math

import jax
import numpy as np
import pytest

from freeproj.envs import REGISTRY, Discrete, make
from players.blind import Estimate, blind_policies, blind_returns, estimate_mean


def test_the_standard_error_is_that_of_a_mean():
    assert estimate_mean(np.array([1.0, 2, 3, 4])) == Estimate(
        2.5, math.sqrt(5 / 3) / 2, 4
    )


@pytest.mark.parametrize("family", REGISTRY)
def test_policies_are_rows_of_actions_of_the_space(family):
    env = make(family)
    space = env.action_space
    for row in blind_policies(env).values():
        assert len(row) == env.max_steps
        if isinstance(space, Discrete):
            assert np.issubdtype(row.dtype, np.integer)
            assert ((row >= 0) & (row < space.n)).all()
        else:
            np.testing.assert_array_equal(jax.vmap(space.clip)(row), row)


def test_constants_and_alternation_are_among_them():
    policies = blind_policies(make("StatelessCartPole"))
    assert policies["always right"].tolist() == [1] * 200
    assert policies["left and right in turn"].tolist() == [0, 1] * 100
    assert "all in turn" in blind_policies(make("Minesweeper"))
    assert blind_policies(make("StatelessPendulum"))["always -2"].tolist()[0] == [-2]


EXACT = {
    ("RepeatPrevious", "uniform"): -47 / 48 / 2,
    ("RepeatPrevious", "always hearts"): -47 / 48 / 2,
    # 1/8: a mine at once; else one cell found and thirteen times again.
    ("Minesweeper", "always c2"): (-0.5 - 1 / 14) / 8 + 7 / 8 * (1 / 14 - 13 / 24),
    # On average 14/3 cells before the first mine, which only 1 board of 120 lacks.
    ("Minesweeper", "all in turn"): 1 / 3 - (0.5 + 1 / 14) * 119 / 120,
}


@pytest.mark.parametrize("task", sorted({task for task, _ in EXACT}))
def test_returns_agree_with_exact_means(getkey, task):
    returns = blind_returns(getkey(), make(task), 4000)
    for (name, policy), mean in EXACT.items():
        if name == task:
            found = returns[policy]
            assert abs(found.mean - mean) < 4.5 * found.standard_error
            assert found.n_trials == 4000
