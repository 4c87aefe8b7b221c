"""The tasks, by name."""

from __future__ import annotations

from freeproj.envs.base import Box, Discrete, Environment, Step

__all__ = ["Box", "Discrete", "Environment", "Step"]
