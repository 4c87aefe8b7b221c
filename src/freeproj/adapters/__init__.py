"""The projection, the tasks and the meta-environment in other people's pipelines.

One module per tool, each needing that tool and nothing else beyond the core; none is
imported by the rest of the package.
"""

__all__ = []
