"""The projection around a Gymnasium environment, single and vectorized.

python examples/gymnasium_wrapper.py
"""

import gymnasium as gym
import numpy as np

from freeproj import FreeProjection
from freeproj.adapters.gymnasium import (
    ProjectObservation,
    ProjectVectorObservation,
    TrialsWrapper,
)

N_EPISODES = 3


def main() -> None:
    projection = FreeProjection.with_words(256, length=4)

    env = TrialsWrapper(gym.make("CartPole-v1"), n_trials=16)
    env = ProjectObservation(env, projection, seed=0)
    env.action_space.seed(0)
    for episode in range(N_EPISODES):
        observation, info = env.reset(seed=0 if episode == 0 else None)
        word, total, over = info["word"].tolist(), 0.0, False
        while not over:
            observation, reward, over, _, info = env.step(env.action_space.sample())
            total += float(reward)
        print(f"episode {episode}: word {word}, {info['trial']} trials, return {total}")
    print(
        f"seen: {observation.shape[0]} numbers, norm {np.linalg.norm(observation):.2f}"
    )

    envs = gym.make_vec("CartPole-v1", num_envs=4, vectorization_mode="sync")
    envs = ProjectVectorObservation(envs, projection, seed=0)
    observations, info = envs.reset(seed=0)
    envs.redraw_bases()  # at the start of each collection of trajectories
    for _ in range(100):
        observations, *_, info = envs.step(envs.action_space.sample())
    print(f"four at once: {observations.shape}, words {info['word'].tolist()}")


if __name__ == "__main__":
    main()
