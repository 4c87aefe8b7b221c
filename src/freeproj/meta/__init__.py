"""A task behind a projection: what is projected, what is seen, episodes of trials.

`tasks` holds the matrices, `inputs` what an agent sees and does, `episodes` the trials.
"""

__all__: list[str] = []
