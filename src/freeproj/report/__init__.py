"""Figures, tables and the page: numbers go in, files for people come out."""

__all__: list[str] = []
