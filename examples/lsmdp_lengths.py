"""How much does word length matter in a linearly solvable MDP?

Averages 256 permuted copies of the optimal solution on three state spaces and compares
word lengths at equal count, seed by seed. Ends within seconds.
"""

import numpy as np

from freeproj import lsmdp

N_SEEDS = 1000


def star_of_rings(n_rings: int = 3, size: int = 5) -> lsmdp.StateSpace:
    """Returns rings that hang on a common centre, as an example of one's own graph."""
    n_states = 1 + n_rings * size
    adjacency = np.zeros((n_states, n_states), dtype=int)
    for ring in range(n_rings):
        vertices = 1 + ring * size + np.arange(size)
        adjacency[vertices, np.roll(vertices, 1)] = 1
        adjacency[0, vertices[0]] = 1
    return lsmdp.graph(adjacency | adjacency.T, name="three rings on a centre")


def main() -> None:
    """Prints the change from ℓ = 1 for every space, metric and length."""
    print(f"Change from ℓ = 1 in %, {N_SEEDS} seeds, 95 % intervals by bootstrap")
    for space in (lsmdp.lattice(4, 4), lsmdp.binary_tree(3), star_of_rings()):
        comparison = lsmdp.compare_lengths(space, n_seeds=N_SEEDS)
        changes = lsmdp.paired_changes(comparison)
        print(f"\n{space.name}, goal {space.goal}")
        columns = [*(f"ℓ = {length}" for length in comparison.lengths), "z = const"]
        print(" " * 10 + "".join(f"{column:>22}" for column in columns[1:]))
        for metric, *rows in zip(lsmdp.METRICS, *changes, strict=True):
            cells = [
                f"{100 * value:6.2f} [{100 * low:5.2f}, {100 * high:5.2f}]"
                for value, low, high in zip(*rows, strict=True)
            ]
            print(f"{metric:<10}" + "".join(f"{cell:>22}" for cell in cells[1:]))


if __name__ == "__main__":
    main()
