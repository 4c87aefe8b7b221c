"""What stands on disk: files, arrays, the cache, and things by name."""

__all__: list[str] = []
