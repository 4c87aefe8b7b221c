"""Experiments: everything between settings and numbers.

Settings as text (`settings`) and in grids (`study`); a run on disk (`run`, `log`,
`arrays`, `agents`); engines that carry runs out (`engines`); and many runs as data:
records read once from a folder (`records`, `reading`, `store`, `tidy`), and datasets
with axes (`dataset`, `measures`).
"""

__all__: list[str] = []
