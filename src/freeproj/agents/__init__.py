"""Agents with memory: embedding, GRU or S5, policy and value. (Appendix D.6.)"""

from freeproj.agents.actor_critic import ActorCritic, Memory
from freeproj.agents.dense import Dense
from freeproj.agents.gru import GRU
from freeproj.agents.policies import Categorical, Gaussian, Policy
from freeproj.agents.s5 import S5

__all__ = [
    "GRU",
    "S5",
    "ActorCritic",
    "Categorical",
    "Dense",
    "Gaussian",
    "Memory",
    "Policy",
]
