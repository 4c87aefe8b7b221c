"""How an agent learns and is tested."""

__all__: list[str] = []
