"""Trains a small agent under random words and tests it on a map it never saw.

    python examples/train_and_adapt.py

Seconds long, so it learns next to nothing; `freeproj train laptop` takes minutes.
"""

import jax

import freeproj as fp
from freeproj.learning.config import EvaluationConfig, NetworkConfig, PPOConfig

config = fp.TrainConfig(
    task="RepeatFirst",
    projection=fp.FreeProjection.with_words(16, length=2, dim=16),
    n_updates=3,
    n_envs=16,
    n_steps=128,
    n_trials=2,
    ppo=PPOConfig(n_epochs=2, n_minibatches=2, learning_rate=1e-3),
    network=NetworkConfig(embedding_size=16, hidden_size=16, head_size=16),
    evaluation=EvaluationConfig(n_envs=16, n_steps=128),
)

result = fp.train(jax.random.key(0), config)
for row in result.log:
    trained, tested = (
        row["train/episode_return"],
        row["test/tile/episodes/episode_return"],
    )
    print(f"update {row['update']}: train {trained:.2f}, test {tested:.2f}")

found = fp.evaluate(jax.random.key(1), result.agent, config, maps="random")["random"]
print("returns of trials under new maps:", found.trial_returns.round(2).tolist())
