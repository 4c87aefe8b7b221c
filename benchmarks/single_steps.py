"""CPU seconds of one step through `gym.make`, of several environments that take turns.

Random actions, drawn beforehand; trials that end are reset, and the resets count. The
environments take turns, so that all meet the same load; the fastest turn counts.

    python benchmarks/single_steps.py ID [ID ...]
"""

import json
import sys
import time
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import gymnasium as gym
    import popgym  # noqa: F401

import freeproj.adapters.gymnasium  # noqa: F401

N_STEPS, N_TURNS = 1000, 10


def player(env_id):
    """Return a function that plays some steps and returns the seconds of each."""
    env = gym.make(env_id)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(N_STEPS)]
    env.reset(seed=0)

    def play():
        before = time.process_time()
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return (time.process_time() - before) / N_STEPS

    play()
    return play


def main(env_ids):
    """Print the least seconds of each environment as JSON."""
    players = [player(env_id) for env_id in env_ids]
    turns = [[play() for play in players] for _ in range(N_TURNS)]
    least = [min(column) for column in zip(*turns, strict=True)]
    print(json.dumps(dict(zip(env_ids, least, strict=True))))


if __name__ == "__main__":
    main(sys.argv[1:])
