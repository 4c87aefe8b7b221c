"""The page: one self-contained HTML file. Only this package uses jinja2."""

__all__: list[str] = []
