"""Build figures, tables and the page from data."""

__all__: list[str] = []
