"""Importing this registers our tasks with Gymnasium, as `freeproj/NAME-v0`.

    import freeproj.gymnasium                # or gym.register_envs(freeproj.gymnasium)
    env = gym.make("freeproj/HigherLower-v0")
    env = gym.make("freeproj.gymnasium:freeproj/HigherLower-v0")  # no import needed

The second form also works in worker processes, which import nothing by themselves.
"""

import freeproj.adapters.gymnasium  # noqa: F401

__all__ = []
