"""Experiments: one room between settings and numbers.

Settings as text (`settings`), a grid of them (`study`), a run on disk (`run`),
and what carries runs out (`engines`).
"""

__all__: list[str] = []
