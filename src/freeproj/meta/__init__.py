"""A task behind a projection: episodes of trials (`episodes`, `tasks`)."""

__all__: list[str] = []
