"""Agents with memory: embedding, a memory by name, policy and value. (Appendix D.6.)"""

from freeproj.agents.actor_critic import ActorCritic
from freeproj.agents.dense import Dense
from freeproj.agents.gated import GRU, LSTM
from freeproj.agents.linear import S5, MinGRU
from freeproj.agents.memories import MEMORIES, Memory
from freeproj.agents.policies import Categorical, Gaussian, Policy
from freeproj.agents.transformer import Transformer

__all__ = ["GRU", "LSTM", "MEMORIES", "S5", "ActorCritic", "Categorical", "Dense"]
__all__ += ["Gaussian", "Memory", "MinGRU", "Policy", "Transformer"]
