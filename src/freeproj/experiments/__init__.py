"""Experiments: one room between settings and numbers.

Settings as text (`settings`), a grid of them (`study`), a run on disk (`run`, `log`,
`arrays`, `agents`), what carries runs out (`engines`), and many runs as data: records,
read once from a folder (`records`, `reading`, `store`, `tidy`), with axes (`dataset`,
`measures`).
"""

__all__: list[str] = []
