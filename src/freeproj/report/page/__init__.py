"""The page: one self-contained HTML file. jinja2 only here."""

__all__: list[str] = []
