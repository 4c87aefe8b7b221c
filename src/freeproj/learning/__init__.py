"""How an agent learns and is tested.

Settings (`config`); playing (`rollout`) and learning from it (`ppo`, `learn`); the loop
(`train`, `many_seeds`); tests (`evaluate`); an episode step by step (`watch`).
"""

__all__: list[str] = []
