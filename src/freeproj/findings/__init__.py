"""What belongs to this paper: numbers, labels, baselines and claims. NumPy only."""

__all__: list[str] = []
