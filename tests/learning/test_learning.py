"""A real result at the laptop budget: agents learn under words that always change.

Minutes for each run, so behind the marker `slow`. Held-out returns are not looked at.
"""

import math

import jax
import numpy as np
import pytest

from freeproj import train
from freeproj.envs.baselines import baselines
from freeproj.experiments.settings import read_config

N_LATE = 20  # collections with an end that the training return is read from


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("task", "n_updates"),
    [("RepeatFirst", 90), ("HigherLower", 90), ("StatelessCartPole", 180)],
)
def test_training_return_clears_chance_by_five_standard_errors(task, n_updates, seed):
    settings = {"task": task, "n_updates": n_updates, "evaluation.every": 0}
    config = read_config("laptop", {**settings, "seed": seed})
    log = train(jax.random.key(seed), config).log
    ended = [row["train/episode_return"] for row in log if row["train/n_finished"]]
    late = np.array(ended[-N_LATE:])
    chance = baselines(task).chance
    error = math.hypot(
        late.std(ddof=1) / math.sqrt(len(late)), config.n_trials * chance.standard_error
    )
    assert late.mean() - config.n_trials * chance.mean >= 5 * error


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_without_the_reward_repeat_first_cannot_be_learned():
    # Under bases never seen before, nothing but a reward tells which suit is which.
    settings = {"task": "RepeatFirst", "n_updates": 90, "previous_reward": False}
    config = read_config("laptop", {**settings, "evaluation.every": 0})
    log = train(jax.random.key(0), config).log
    late = [row["train/episode_return"] for row in log if row["train/n_finished"]]
    assert np.mean(late[-N_LATE:]) < 16 * baselines("RepeatFirst").chance.mean + 1.0
