"""What is this paper's own: its numbers, labels, baselines and claims. NumPy only."""

__all__: list[str] = []
