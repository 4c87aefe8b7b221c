"""From a word to what an agent sees.

Words become matrices (`words`, `matrices`, `families`), matrices projections
(`projection`), seen in a frame (`frames`); `maps` are for testing, `actions` for
acting, `cayley` for drawing.
"""

from freeproj.projection.projection import FreeProjection

__all__ = ["FreeProjection"]
