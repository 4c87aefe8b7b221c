"""Does an agent of Stable-Baselines3 adapt? Train one on CartPole-v1, then certify it.

    python examples/certify_sb3.py                          # PPO: about a minute
    python examples/certify_sb3.py --agent recurrent        # RecurrentPPO
    python examples/certify_sb3.py --agent frame            # ... with a frame in front

The first two see CartPole as it is. Under a rotation that they have never seen they
earn little more than without any observation. The third sees coordinates in a frame,
which no rotation changes: it earns the same under every one. How much it earns is a
matter of training; 60,000 steps are few for it.
"""

import argparse
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO

import freeproj as fp
from freeproj.projection.frames import PlainFrame

SIZE = 4  # entries of an observation of CartPole


class InAFrame(gym.ObservationWrapper):
    """Show coordinates in the frame of what the episode has shown so far."""

    def __init__(self, env):
        super().__init__(env)
        self.frame = PlainFrame(SIZE, SIZE)
        shape = (SIZE + 1,)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, shape, np.float32)

    def reset(self, **given):
        self.frame.clear()
        return super().reset(**given)

    def observation(self, observation):
        return self.frame.see(observation)


def train(agent: str, n_steps: int, seed: int):
    """Return a trained model."""
    env = gym.make("CartPole-v1")
    if agent == "ppo":
        return PPO("MlpPolicy", env, seed=seed, device="cpu").learn(n_steps)
    if agent == "frame":
        env = InAFrame(env)
    sizes = {
        "n_steps": 512,
        "batch_size": 128,
        "policy_kwargs": {"lstm_hidden_size": 64},
    }
    model = RecurrentPPO("MlpLstmPolicy", env, seed=seed, device="cpu", **sizes)
    return model.learn(n_steps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agent", choices=["ppo", "recurrent", "frame"], default="ppo")
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--episodes", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="Folder for the model and its card.")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the networks are small: threads would only wait
    model = train(options.agent, options.steps, options.seed)
    found = fp.certify(
        model,
        "CartPole-v1",
        n_episodes=options.episodes,
        # RecurrentPPO forgets at the end of a trial in training, so play one.
        n_trials=4 if options.agent == "ppo" else 1,
        frame=SIZE if options.agent == "frame" else 0,
        name=options.agent,
    )
    print(found)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        model.save(options.out / f"{options.agent}.zip")
        found.save(options.out / f"{options.agent}.html")


if __name__ == "__main__":
    main()
