"""How an agent learns and is tested.

Settings (`config`); playing (`rollout`) and learning from it (`ppo`, `learn`); the
loop (`train`, `many_seeds`); tests on unseen maps (`evaluate`); an episode to look at
(`watch`).
"""

__all__: list[str] = []
