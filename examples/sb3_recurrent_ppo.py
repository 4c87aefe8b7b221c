"""sb3-contrib's RecurrentPPO on CartPole: free random projection against plain RP.

    python examples/sb3_recurrent_ppo.py --steps 100000

Both see CartPole through one of 256 random matrices, another one in each episode, and
are tested on an untouched, zero-padded observation. A few thousand steps only show that
it runs.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from sb3_contrib import RecurrentPPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

from freeproj import FreeProjection
from freeproj.adapters.gymnasium import ProjectObservation
from freeproj.adapters.stable_baselines3 import RedrawBases, VecFreeProjection

DIM = 32
LAWS = {
    "RP": FreeProjection.with_words(256, length=1, dim=DIM),
    "FRP": FreeProjection.with_words(256, length=4, dim=DIM),
}


def held_out() -> gym.Env:
    """Returns CartPole with its observation padded by zeros: no random matrix."""
    law = FreeProjection(1, 1, dim=DIM, scale=1.0, family="identity")
    return Monitor(ProjectObservation(gym.make("CartPole-v1"), law))


def train(law: FreeProjection, n_steps: int, seed: int) -> tuple[float, float]:
    """Returns mean and standard deviation of the return on the held-out map."""
    venv = VecFreeProjection(make_vec_env("CartPole-v1", 8, seed=seed), law, seed=seed)
    model = RecurrentPPO(
        "MlpLstmPolicy",
        venv,
        n_steps=128,
        batch_size=512,
        n_epochs=4,
        policy_kwargs={"lstm_hidden_size": 64},
        seed=seed,
    )
    model.learn(n_steps, callback=RedrawBases(venv))
    mean, std = evaluate_policy(model, held_out(), n_eval_episodes=5)
    return float(np.mean(mean)), float(np.mean(std))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)  # the networks are small: threads would only wait
    for name, law in LAWS.items():
        mean, std = train(law, options.steps, options.seed)
        print(f"{name:4} (length {law.length}): return {mean:.1f} ± {std:.1f}")


if __name__ == "__main__":
    main()
