"""Pictures, tables and pages: numbers in, files for people out."""

__all__: list[str] = []
