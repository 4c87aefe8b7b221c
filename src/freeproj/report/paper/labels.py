"""Names for people: tasks."""

from __future__ import annotations

__all__ = ["task_title"]


def task_title(task: str) -> str:
    """Breaks a task's name for people: RepeatFirst is "Repeat First"."""
    spaced = "".join(f" {c}" if c.isupper() and i else c for i, c in enumerate(task))
    return spaced.replace("+ ", "+").replace("Cart Pole", "CartPole")
