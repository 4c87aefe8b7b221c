"""Experiments: everything between settings and numbers."""

__all__: list[str] = []
