"""What luck alone reaches."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from freeproj import stats


@pytest.mark.parametrize(
    ("n", "expected"),
    [(1, 0.0), (2, 1 / math.sqrt(math.pi)), (3, 1.5 / math.sqrt(math.pi))],
)
def test_maximum_of_few_normals_has_its_closed_form(n, expected):
    assert stats.expected_maximum(n) == pytest.approx(expected, abs=1e-9)


def test_maximum_of_many_normals_is_that_of_simulation():
    draws = np.random.default_rng(0).standard_normal((4000, 228)).max(axis=1)
    error = draws.std() / math.sqrt(len(draws))
    assert abs(stats.expected_maximum(228) - draws.mean()) < 4 * error


def test_one_evaluation_has_no_luck_and_more_have_more():
    mmer = [stats.expected_maximum(n, 1, 4 / 8) for n in (1, 10, 100)]
    assert mmer[0] == pytest.approx(1.0)
    assert mmer[0] < mmer[1] < mmer[2]


def test_the_luckiest_policy_has_the_widest_evaluations_and_no_more_than_the_ceiling():
    policies = {
        "uniform": (-8.0, 0.5, 0.0),
        "constant": (-8.0, 14.0, 0.0),
        "random lookup": (-8.0, 12.0, 7.0),
    }
    counts = {"n_episodes": 64, "n_evaluations": 228}
    lines = stats.chance_lines(policies, **counts)
    assert [line.policy for line in lines] == ["random lookup", "constant", "uniform"]
    expected = stats.expected_maximum(228, -8.0, math.hypot(7.0, 12.0 / 8))
    assert lines[0].mmer == pytest.approx(expected)
    assert stats.chance_lines(policies, **counts, ceiling=2.0)[0].mmer == 2.0


@pytest.mark.parametrize("arguments", [(0,), (1, 0, -1), (1, 0, math.inf)])
def test_impossible_counts_are_refused(arguments):
    with pytest.raises(ValueError, match="`n` must be at least 1, `std` finite"):
        stats.expected_maximum(*arguments)


def test_importing_the_statistics_is_light():
    code = (
        "import sys, freeproj.stats; "
        "print([name for name in ('jax', 'scipy.stats') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.strip() == "[]"
